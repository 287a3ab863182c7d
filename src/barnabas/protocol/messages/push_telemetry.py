"""PushTelemetry: a client's metrics."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Bytes, Int8, Int16, Int32, Message, Uuid


class PushTelemetryRequest(Message, key=72, versions=(0, 0), flexible_since=0):
    client_instance_id: Uuid
    subscription_id: Int32
    terminating: Bool
    compression_type: Int8
    metrics: Bytes


class PushTelemetryResponse(Message, key=72, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16

"""GetTelemetrySubscriptions: which of its metrics a client is asked to push."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int8, Int16, Int32, Message, String, Uuid


class GetTelemetrySubscriptionsRequest(Message, key=71, versions=(0, 0), flexible_since=0):
    client_instance_id: Uuid


class GetTelemetrySubscriptionsResponse(Message, key=71, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    client_instance_id: Uuid
    subscription_id: Int32
    accepted_compression_types: list[Int8]
    push_interval_ms: Int32
    telemetry_max_bytes: Int32
    delta_temporality: Bool
    requested_metrics: list[String]

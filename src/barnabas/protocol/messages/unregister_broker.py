"""UnregisterBroker: forget a broker that is gone for good."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String


class UnregisterBrokerRequest(Message, key=64, versions=(0, 0), flexible_since=0):
    broker_id: Int32


class UnregisterBrokerResponse(Message, key=64, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None

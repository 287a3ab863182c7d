"""RequestHeader: what stands before every request: API, version, correlation id, client."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, field


class RequestHeader(Message, versions=(1, 2), flexible_since=2):
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: String | None = field(never_flexible=True)

"""ResponseHeader: what stands before every response: the correlation id of its request."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message


class ResponseHeader(Message, versions=(0, 1), flexible_since=1):
    correlation_id: Int32

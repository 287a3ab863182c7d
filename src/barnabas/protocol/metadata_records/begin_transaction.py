"""BeginTransactionRecord: the records up to the matching end take effect together."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String, field


class BeginTransactionRecord(Message, key=23, versions=(0, 0), flexible_since=0):
    name: String | None = field(default=None, tag=0)

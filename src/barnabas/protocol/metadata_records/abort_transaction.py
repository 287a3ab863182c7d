"""AbortTransactionRecord: the records since the matching begin never took effect."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String, field


class AbortTransactionRecord(Message, key=25, versions=(0, 0), flexible_since=0):
    reason: String | None = field(default=None, tag=0)

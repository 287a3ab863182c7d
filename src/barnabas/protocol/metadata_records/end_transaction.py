"""EndTransactionRecord: the records since the matching begin take effect."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message


class EndTransactionRecord(Message, key=24, versions=(0, 0), flexible_since=0):
    pass

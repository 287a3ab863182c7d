"""FenceBrokerRecord: a broker was fenced, in the words of older clusters."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message


class FenceBrokerRecord(Message, key=7, versions=(0, 0), flexible_since=0):
    id: Int32
    epoch: Int64

"""ProducerIdsRecord: a block of producer ids was given out."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message


class ProducerIdsRecord(Message, key=15, versions=(0, 0), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64 = -1
    next_producer_id: Int64

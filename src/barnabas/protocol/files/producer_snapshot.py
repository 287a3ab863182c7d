"""ProducerSnapshot: what a partition remembers of its producers at an offset: the `.snapshot` file."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Int64, Message, Struct, Uint32


class ProducerEntry(Struct):
    producer_id: Int64
    epoch: Int16
    last_sequence: Int32
    last_offset: Int64
    offset_delta: Int32
    timestamp: Int64
    coordinator_epoch: Int32
    current_txn_first_offset: Int64


class ProducerSnapshot(Message, versions=(1, 1)):
    crc: Uint32
    producer_entries: list[ProducerEntry]

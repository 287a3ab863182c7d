"""TransactionLog: a transactional id: its producer, its state, and the partitions that take part."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int16, Int32, Int64, Message, String, Struct, field


class TransactionLogKey(Message, key=0, versions=(0, 0)):
    transactional_id: String


class PartitionsSchema(Struct):
    topic: String
    partition_ids: list[Int32]


class TransactionLogValue(Message, key=0, versions=(0, 1), flexible_since=1):
    producer_id: Int64
    previous_producer_id: Int64 = field(since=1, default=-1, tag=0)
    next_producer_id: Int64 = field(since=1, default=-1, tag=1)
    producer_epoch: Int16
    next_producer_epoch: Int16 = field(since=1, default=-1, tag=3)
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Int16 = field(since=1, default=0, tag=2)

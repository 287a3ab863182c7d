"""ConsumerProtocolSubscription: what a classic consumer subscribes to and owns, inside JoinGroup."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int32, Message, String, Struct, field


class TopicPartition(Struct):
    topic: String
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message, versions=(0, 3)):
    topics: list[String]
    user_data: Bytes | None = None
    owned_partitions: list[TopicPartition] = field(since=1, default_factory=list, ignorable=True)
    generation_id: Int32 = field(since=2, default=-1, ignorable=True)
    rack_id: String | None = field(since=3, default=None, ignorable=True)

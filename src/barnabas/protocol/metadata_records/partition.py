"""PartitionRecord: a partition and its full state."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Message, Uuid, field


class PartitionRecord(Message, key=3, versions=(0, 2), flexible_since=0):
    partition_id: Int32 = -1
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(default=0, tag=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field(since=1, default_factory=list)
    eligible_leader_replicas: list[Int32] | None = field(since=2, default=None, tag=1)
    last_known_elr: list[Int32] | None = field(since=2, default=None, tag=2)

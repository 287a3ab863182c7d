"""PartitionChangeRecord: a partition's replicas, in-sync set, leader or directories changed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Message, Uuid, field


class PartitionChangeRecord(Message, key=5, versions=(0, 2), flexible_since=0):
    partition_id: Int32 = -1
    topic_id: Uuid
    isr: list[Int32] | None = field(default=None, tag=0)
    leader: Int32 = field(default=-2, tag=1)
    replicas: list[Int32] | None = field(default=None, tag=2)
    removing_replicas: list[Int32] | None = field(default=None, tag=3)
    adding_replicas: list[Int32] | None = field(default=None, tag=4)
    leader_recovery_state: Int8 = field(default=-1, tag=5)
    directories: list[Uuid] | None = field(since=1, default=None, tag=8)
    eligible_leader_replicas: list[Int32] | None = field(since=2, default=None, tag=6)
    last_known_elr: list[Int32] | None = field(since=2, default=None, tag=7)

"""What leader and follower have in common: a log, and the place in the partition's history at which they hold it.

A replica is made for one leader epoch and replaced at the next. Who holds on to one finds out by looking it up again.
"""

from __future__ import annotations

from barnabas.log.checkpoint import TopicPartition
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation
from barnabas.metadata.topics import Partition
from barnabas.protocol.errors import FencedLeaderEpoch, NotLeaderOrFollower
from barnabas.replication.errors import UnknownLeaderEpoch

ANY_EPOCH = -1


class Replica:
    """This node's copy of a partition in one leader epoch."""

    __slots__ = ("leader_epoch", "leader_id", "log", "name", "partition_epoch")

    # Whether this node leads the partition.
    is_leader = False

    def __init__(self, name: TopicPartition, log: PartitionLog, partition: Partition) -> None:
        self.name = name
        self.log = log
        self.leader_id = partition.leader
        self.leader_epoch = partition.leader_epoch
        self.partition_epoch = partition.partition_epoch

    def check_epoch(self, leader_epoch: int) -> None:
        """Refuse an asker whose view of the partition is older or newer than ours; -1 is of one that has none."""
        if leader_epoch in (ANY_EPOCH, self.leader_epoch):
            return
        described = f"{self.name} is in leader epoch {self.leader_epoch}, not {leader_epoch}"
        if leader_epoch < self.leader_epoch:
            raise FencedLeaderEpoch(described)
        raise UnknownLeaderEpoch(described)

    def check_leader(self) -> None:
        """Refuse what only the leader answers."""
        if not self.is_leader:
            raise NotLeaderOrFollower(f"{self.name} is led by broker {self.leader_id}")

    def end_offset(self, isolation: Isolation) -> int:
        """Where the log ends for a reader of this isolation."""
        if isolation is Isolation.HIGH_WATERMARK:
            return self.log.high_watermark
        if isolation is Isolation.LOG_END:
            return self.log.log_end_offset
        return self.log.last_stable_offset

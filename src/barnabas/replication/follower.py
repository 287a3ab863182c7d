"""A replica that another broker leads: it is read by consumers nearby and, once it fetches, follows its leader."""

from __future__ import annotations

from barnabas.metadata.topics import Partition
from barnabas.replication.replica import Replica


class Follower(Replica):
    """A copy that only its leader's records change."""

    __slots__ = ()

    def take_partition(self, partition: Partition) -> None:
        """Note what changed within this leader epoch."""
        self.partition_epoch = partition.partition_epoch

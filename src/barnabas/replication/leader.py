"""The leader of a partition: appends, and knows how far every in-sync replica has come.

The high watermark is the least log end of the in-sync replicas, and rests while they are fewer than
min.insync.replicas. A batch is acknowledged to whoever asked for all replicas once the high watermark has passed it.
"""

from __future__ import annotations

from barnabas.log.append import AppendInfo
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.partition_log import PartitionLog
from barnabas.metadata.topics import Partition
from barnabas.ports.disk import Buffer
from barnabas.protocol.errors import NotLeaderOrFollower
from barnabas.replication.errors import NotEnoughReplicas, OffsetNotAvailable, UnknownLeaderEpoch
from barnabas.replication.replica import ANY_EPOCH, Replica

# A follower that has not fetched in this leader epoch: how far its log goes is not known.
UNKNOWN_END = -1


class Leader(Replica):
    """`follower_ends` are the log ends of the other replicas, as their fetches told them."""

    __slots__ = (
        "_followers_in_sync",
        "_is_alone",
        "_min_isr",
        "epoch_start_offset",
        "follower_ends",
        "isr",
        "replicas",
    )

    is_leader = True

    def __init__(
        self, name: TopicPartition, log: PartitionLog, partition: Partition, *, min_insync_replicas: int
    ) -> None:
        super().__init__(name, log, partition)
        self.epoch_start_offset = log.log_end_offset
        # Followers may hold epochs that never reached this log. What this one is asked about must be known here even
        # while it has no batch of its own.
        log.leader_epochs.note(self.leader_epoch, self.epoch_start_offset)
        self.follower_ends: dict[int, int] = {}
        self.take_partition(partition, min_insync_replicas=min_insync_replicas)

    def take_partition(self, partition: Partition, *, min_insync_replicas: int) -> bool:
        """Note replicas and ISR, which may change within a leader epoch; whether the high watermark moved."""
        self.partition_epoch = partition.partition_epoch
        self.replicas = partition.replicas
        self.isr = partition.isr
        ends = self.follower_ends
        self.follower_ends = {
            replica: ends.get(replica, UNKNOWN_END) for replica in partition.replicas if replica != self.leader_id
        }
        self._followers_in_sync = [replica for replica in partition.isr if replica in self.follower_ends]
        return self.require_in_sync(min_insync_replicas)

    def require_in_sync(self, min_insync_replicas: int) -> bool:
        """Note how many must be in sync, which is never more than there are; whether the high watermark moved."""
        self._min_isr = min(min_insync_replicas, len(self.replicas))
        self._is_alone = not self._followers_in_sync and len(self.isr) >= self._min_isr
        return self.advance_high_watermark()

    @property
    def has_enough_in_sync(self) -> bool:
        return len(self.isr) >= self._min_isr

    def append(self, records: Buffer, now_ms: int, *, needs_all: bool) -> AppendInfo:
        """Write a producer's batch; with `needs_all` only where enough replicas are in sync to keep it."""
        if needs_all and len(self.isr) < self._min_isr:
            raise NotEnoughReplicas(f"{self.name} has {len(self.isr)} replicas in sync and needs {self._min_isr}")
        info = self.log.append_as_leader(records, self.leader_epoch, now_ms)
        if self._is_alone:
            self.log.increment_high_watermark(info.last_offset + 1)
        else:
            self.advance_high_watermark()
        return info

    def advance_high_watermark(self) -> bool:
        """Move it up to what all in-sync replicas have; false where it stays."""
        if len(self.isr) < self._min_isr:
            return False
        log = self.log
        offset = log.log_end_offset
        for replica in self._followers_in_sync:
            offset = min(offset, self.follower_ends[replica])
        return log.increment_high_watermark(offset)

    # Followers

    def check_follower(self, replica_id: int, leader_epoch: int) -> None:
        """Refuse a replica that the partition does not have, as far as this node knows."""
        if replica_id not in self.follower_ends:
            described = f"broker {replica_id} has no replica of {self.name} in partition epoch {self.partition_epoch}"
            # One that knows the epoch has been added since; one that tells none may know more than this node, or less.
            raise NotLeaderOrFollower(described) if leader_epoch == ANY_EPOCH else UnknownLeaderEpoch(described)

    def follower_fetched(self, replica_id: int, offset: int) -> bool:
        """Note that a follower's log ends where it fetches; whether the high watermark moved."""
        self.follower_ends[replica_id] = offset
        return self.advance_high_watermark()

    # Consumers

    def check_offsets_known(self) -> None:
        """Refuse to tell the end while the high watermark may lag the one of the leader before (KIP-207)."""
        if self.epoch_start_offset > self.log.high_watermark:
            raise OffsetNotAvailable(
                f"the high watermark of {self.name} has not reached offset {self.epoch_start_offset}, "
                f"where leader epoch {self.leader_epoch} begins"
            )

"""Reading what one fetch asks for: each partition within its own limit, all of them within the request's.

The first records found are given whole whatever the limits say, or a large batch would stall its reader forever. A
reading can be done again, when it had too little and something has happened since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from barnabas.broker.fetch_sessions import Answers, PartitionKey, records_bytes
from barnabas.broker.replicas import Replicas
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.read import Isolation, LogRead
from barnabas.protocol.errors import ApiError, ErrorCode, OffsetOutOfRange
from barnabas.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)
from barnabas.replication.leader import Leader
from barnabas.replication.replica import Replica

_NO_EPOCH: Final = -1
_UNKNOWN: Final = -1
# What most answers say in these fields; nobody changes them.
_NO_DIVERGENCE: Final = EpochEndOffset()
_NO_HINT: Final = LeaderIdAndEpoch()
_NO_SNAPSHOT: Final = SnapshotId()

# Of a leader, the rack, the listener and the fetch offset of a consumer: the replica that it had better ask.
SelectReplica = Callable[[Leader, str, str, int], int | None]


class FetchTerms(NamedTuple):
    """Who reads, how far, and how much at once. `is_for_leader` is what followers do not answer."""

    replica_id: int
    isolation: Isolation
    is_for_leader: bool
    min_bytes: int
    max_bytes: int
    rack_id: str
    listener: str
    select_replica: SelectReplica | None


class FetchReading:
    """`answers` are what was found last, by partition."""

    def __init__(
        self, replicas: Replicas, terms: FetchTerms, asked: Sequence[tuple[PartitionKey, FetchPartition]]
    ) -> None:
        self.answers: Answers = {}
        self.has_errors = False
        self._replicas = replicas
        self._terms = terms
        self._asked = asked
        # Each replica that was read, and where it ended for this reader then.
        self._seen: list[tuple[Replica, int]] = []
        self._found_bytes = 0
        self._is_urgent = False

    @property
    def names(self) -> list[TopicPartition]:
        """The partitions that were read, under which to wait for more."""
        return [replica.name for replica, _ in self._seen]

    @property
    def is_enough(self) -> bool:
        """Whether there is something that the reader should know at once."""
        return self.has_errors or self._is_urgent or self._found_bytes >= self._terms.min_bytes or not self._asked

    def has_become_enough(self) -> bool:
        """Read again if that can make a difference; whether it was worth it."""
        isolation = self._terms.isolation
        for replica, end_offset in self._seen:
            if replica.end_offset(isolation) != end_offset or not self._replicas.is_current(replica):
                break
        else:
            return False
        self.read()
        return self.is_enough

    def read(self, *, is_first: bool = False) -> None:
        """Read all partitions. The first time a follower is taken at its word of how far it has come."""
        self.answers = {}
        self._seen = []
        self._found_bytes = 0
        self.has_errors = self._is_urgent = False
        left_bytes = self._terms.max_bytes
        for key, asked in self._asked:
            try:
                answer = self._read_partition(key, asked, left_bytes, is_first=is_first)
            except ApiError as error:
                self.has_errors = True
                answer = failed_partition(asked.partition, error.code)
            self.answers[key] = answer
            size_bytes = records_bytes(answer)
            self._found_bytes += size_bytes
            left_bytes = max(0, left_bytes - size_bytes)

    def _read_partition(
        self, key: PartitionKey, asked: FetchPartition, left_bytes: int, *, is_first: bool
    ) -> PartitionData:
        terms = self._terms
        replica = self._replicas.find(*key)
        replica.check_epoch(asked.current_leader_epoch)
        if terms.is_for_leader:
            replica.check_leader()
        if terms.replica_id >= 0 and isinstance(replica, Leader):
            replica.check_follower(terms.replica_id, asked.current_leader_epoch)
        self._seen.append((replica, replica.end_offset(terms.isolation)))
        if terms.select_replica is not None and isinstance(replica, Leader):
            nearer = terms.select_replica(replica, terms.rack_id, terms.listener, asked.fetch_offset)
            if nearer is not None:
                self._is_urgent = True
                answer = _answer(replica, asked.partition, None)
                answer.preferred_read_replica = nearer
                return answer
        if asked.last_fetched_epoch != _NO_EPOCH:
            divergence = _find_divergence(replica, asked)
            if divergence is not None:
                self._is_urgent = True
                answer = _answer(replica, asked.partition, None)
                answer.diverging_epoch = divergence
                return answer
        read = self._replicas.read(
            replica,
            asked.fetch_offset,
            max(0, min(asked.partition_max_bytes, left_bytes)),
            isolation=terms.isolation,
            min_one_batch=self._found_bytes == 0,
        )
        # What follows is told of the log as it was before this fetch could move its high watermark.
        answer = _answer(replica, asked.partition, read)
        if is_first and terms.replica_id >= 0 and isinstance(replica, Leader):
            replica.follower_fetched(terms.replica_id, asked.fetch_offset)
            self._replicas.waiting_room.wake(replica.name)
        return answer


def _answer(replica: Replica, partition: int, read: LogRead | None) -> PartitionData:
    """What is told of a partition: its offsets, and the records that were read, unless they begin with half a batch."""
    log = replica.log
    aborted = None
    if read is not None and read.aborted is not None:
        aborted = [
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in read.aborted
        ]
    return PartitionData(
        partition_index=partition,
        error_code=0,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        diverging_epoch=_NO_DIVERGENCE,
        current_leader=_NO_HINT,
        snapshot_id=_NO_SNAPSHOT,
        aborted_transactions=aborted,
        records=b"" if read is None or read.is_first_batch_cut else read.region,
    )


def _find_divergence(replica: Replica, asked: FetchPartition) -> EpochEndOffset | None:
    """Where the reader's log and this one part, if the reader has more of an epoch than there is here (KIP-595)."""
    log = replica.log
    end = log.end_offset_for_epoch(asked.last_fetched_epoch)
    if end is None:
        raise OffsetOutOfRange(f"nothing is known of leader epoch {asked.last_fetched_epoch} of {replica.name}")
    if asked.fetch_offset < log.log_start_offset:
        raise OffsetOutOfRange(f"offset {asked.fetch_offset} of {replica.name} is before {log.log_start_offset}")
    if end.epoch < asked.last_fetched_epoch or end.end_offset < asked.fetch_offset:
        return EpochEndOffset(epoch=end.epoch, end_offset=end.end_offset)
    return None


def failed_partition(partition: int, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=partition,
        error_code=code,
        high_watermark=_UNKNOWN,
        aborted_transactions=None,
        records=b"",
    )

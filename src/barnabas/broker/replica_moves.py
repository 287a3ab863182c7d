"""Replicas that move from one log directory of this broker to another (KIP-113), as AlterReplicaLogDirs asks.

    COPYING --caught up--> ASSIGNING --the controller knows--> ASSIGNED --caught up--> FLUSHING --> FLUSHED
    FLUSHED --caught up--> the future log serves, and the one before it is deleted

A future log is filled from the current one, chunk by chunk, while that one goes on. The controller is told of the new
directory before the swap, and told back if there is none. A move goes on after a restart, for its future log is there;
it is given up by moving back. Nobody waits for a disk or the controller here: `step` does a piece of work, and `wake`
is told when there is another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from barnabas.broker.directory_assignments import ReplicaId
from barnabas.broker.errors import LogDirNotFound, ReplicaNotAvailable
from barnabas.broker.replicas import Replicas
from barnabas.controller.errors import InvalidReplicaAssignment, InvalidTopic
from barnabas.log.append import OffsetsOutOfOrderError, UnexpectedAppendOffsetError
from barnabas.log.checkpoint import RECOVERY_POINT_CHECKPOINT, TopicPartition
from barnabas.log.directories import LogDirectories
from barnabas.log.future_log import append_chunk, cut_to_agreed, note_latest_epoch, read_chunk
from barnabas.log.names import FUTURE_DIRECTORY, NAME_BYTES_MAX, moved_directory
from barnabas.log.partition_log import PartitionLog
from barnabas.protocol.errors import ApiError, KafkaStorageError, NotLeaderOrFollower
from barnabas.protocol.uuid import Uuid
from barnabas.replication.replica import Replica

LOG: Final = logging.getLogger(__name__)

CHUNK_BYTES: Final = 1024 * 1024
# After an error that may pass, such as a full disk.
RETRY_MS: Final = 1_000

Assign = Callable[[ReplicaId, Uuid, Callable[[], object] | None], object]
Flush = Callable[[PartitionLog, Callable[[OSError | None], object]], object]


class MoveState(Enum):
    COPYING = auto()
    ASSIGNING = auto()
    ASSIGNED = auto()
    FLUSHING = auto()
    FLUSHED = auto()


# Somebody else has to be done first.
_WAITING: Final = (MoveState.ASSIGNING, MoveState.FLUSHING)


class _Move:
    """One replica on its way from `current` to `future`."""

    def __init__(self, name: TopicPartition, topic_id: Uuid, current: PartitionLog, future: PartitionLog) -> None:
        self.name = name
        self.id = ReplicaId(topic_id, name.partition)
        self.current = current
        self.future = future
        self.state = MoveState.COPYING
        self.retry_ms = 0


class ReplicaMoves:
    """`assign` tells the controller where a replica is, and calls back when that is known; `flush` makes a log durable
    and calls back. Time is `Clock.now_ms`.
    """

    def __init__(
        self,
        replicas: Replicas,
        directories: LogDirectories,
        *,
        assign: Assign,
        flush: Flush,
        wake: Callable[[], object],
    ) -> None:
        self._replicas = replicas
        self._directories = directories
        self._assign = assign
        self._flush = flush
        self._wake = wake
        self._moves: dict[TopicPartition, _Move] = {}

    # Asking for moves

    def alter(self, name: TopicPartition, path: str, now_ms: int) -> None:
        """Move a replica to the log directory `path`; an ApiError says why not."""
        self._check_target(name, path)
        future = self._directories.future_logs.get(name)
        if future is not None and _parent(future) != path:
            self._give_up(name, now_ms)
        try:
            replica = self._replicas.find(name.topic, name.partition)
        except NotLeaderOrFollower as error:
            # It may be on its way to this broker, and is then made there.
            self._directories.preferred[name] = path
            raise ReplicaNotAvailable(str(error)) from error
        if _parent(replica.log) != path and name not in self._directories.future_logs:
            self._create_future(replica, path, now_ms)
            self.follow()

    def _check_target(self, name: TopicPartition, path: str) -> None:
        if len(moved_directory(*name, "0" * 32, FUTURE_DIRECTORY)) > NAME_BYTES_MAX:
            raise InvalidTopic(f"the name of {name} is too long for a directory beside its own")
        directories = self._directories
        if path in directories.failures:
            raise KafkaStorageError(f"log directory {path} is offline")
        if all(path != directory.path for directory in directories.online):
            raise LogDirNotFound(f"{path} is not in log.dirs")
        if path in directories.cordoned:
            raise InvalidReplicaAssignment(f"log directory {path} is cordoned")

    def _create_future(self, replica: Replica, path: str, now_ms: int) -> None:
        topic_id = self._directories.topic_ids.get(replica.name)
        try:
            # While a directory is offline, the future log may be there.
            self._directories.create(
                replica.name,
                replica.log.config,
                now_ms=now_ms,
                topic_id=topic_id,
                is_new=False,
                path=path,
                is_future=True,
            )
        finally:
            self._replicas.let_failed_go()
        LOG.info("replica moves", extra={"partition": str(replica.name), "from": _parent(replica.log), "to": path})

    def _give_up(self, name: TopicPartition, now_ms: int) -> None:
        try:
            self._directories.delete(name, now_ms=now_ms, is_future=True)
        finally:
            self._replicas.let_failed_go()
            self.follow()

    # Keeping up with what happens to the logs

    def is_handed_over(self, name: TopicPartition) -> bool:
        """Whether the controller is told of the directory that the partition is about to be in."""
        move = self._moves.get(name)
        return move is not None and move.state is not MoveState.COPYING

    def follow(self) -> None:
        """End the moves whose logs are gone, take up those whose future log is there, and forget deleted topics."""
        logs, future_logs = self._directories.logs, self._directories.future_logs
        for move in list(self._moves.values()):
            if logs.get(move.name) is not move.current or future_logs.get(move.name) is not move.future:
                self._end(move)
        for name, future in future_logs.items():
            current, topic_id = logs.get(name), self._directories.topic_ids.get(name)
            if name not in self._moves and current is not None and topic_id is not None:
                self._moves[name] = _Move(name, topic_id, current, future)
                if self._directories.cleaner is not None:
                    self._directories.cleaner.pause(name)
                self._wake()
        preferred, topics = self._directories.preferred, self._replicas.image.topics
        for name in [name for name in preferred if topics.by_name(name.topic) is None]:
            del preferred[name]

    def _end(self, move: _Move) -> None:
        """Forget a move; the controller is told where the replica still is."""
        del self._moves[move.name]
        if self._directories.cleaner is not None:
            self._directories.cleaner.resume(move.name)
        if move.state is not MoveState.COPYING and self._directories.logs.get(move.name) is move.current:
            self._assign(move.id, self._directories.directory_ids[_parent(move.current)], None)

    # Moving

    def due_ms(self, now_ms: int) -> int | None:
        """When there is a step to take; None where somebody else is to be done first."""
        moves = self._moves.values()
        return min((max(move.retry_ms, now_ms) for move in moves if move.state not in _WAITING), default=None)

    def step(self, now_ms: int) -> int:
        """Copy a chunk for the move whose turn it is; how many bytes."""
        self.follow()
        for move in self._moves.values():
            if move.state not in _WAITING and move.retry_ms <= now_ms:
                break
        else:
            return 0
        # Next time it is another's turn.
        self._moves[move.name] = self._moves.pop(move.name)
        try:
            return self._advance(move, now_ms)
        except (ApiError, OffsetsOutOfOrderError, UnexpectedAppendOffsetError) as error:
            LOG.warning("a move is held up", extra={"partition": str(move.name), "reason": str(error)})
            move.retry_ms = now_ms + RETRY_MS
            self._replicas.let_failed_go()
            self.follow()
            return 0

    def _advance(self, move: _Move, now_ms: int) -> int:
        current, future = move.current, move.future
        with self._directories.guard(_parent(future)):
            if cut_to_agreed(current, future, now_ms):
                # Its recovery point may be lower than it was written down as.
                self._directories.checkpoint(RECOVERY_POINT_CHECKPOINT)
        with self._directories.guard(_parent(current)):
            chunk = read_chunk(current, future, CHUNK_BYTES)
        with self._directories.guard(_parent(future)):
            append_chunk(current, future, chunk, now_ms)
        if future.log_end_offset == current.log_end_offset:
            self._caught_up(move, now_ms)
        return len(chunk)

    def _caught_up(self, move: _Move, now_ms: int) -> None:
        if move.state is MoveState.COPYING:
            move.state = MoveState.ASSIGNING
            directory = self._directories.directory_ids[_parent(move.future)]
            self._assign(move.id, directory, lambda: self._enter(move, MoveState.ASSIGNING, MoveState.ASSIGNED))
        elif move.state is MoveState.ASSIGNED:
            move.state = MoveState.FLUSHING
            self._flush(move.future, lambda _: self._enter(move, MoveState.FLUSHING, MoveState.FLUSHED))
        elif move.state is MoveState.FLUSHED:
            self._swap(move, now_ms)

    def _enter(self, move: _Move, before: MoveState, state: MoveState) -> None:
        """Somebody else is done."""
        self.follow()
        if self._moves.get(move.name) is move and move.state is before:
            move.state = state
            self._wake()

    def _swap(self, move: _Move, now_ms: int) -> None:
        """Let the future log serve. Whatever was durable in the current one is so in this one before."""
        replica = self._replicas.find(*move.name)
        with self._directories.guard(_parent(move.future)):
            note_latest_epoch(move.current, move.future)
            move.future.flush(now_ms)  # It was flushed a moment ago, but for what was appended since.
        replica.log = self._directories.promote_future(move.name, now_ms=now_ms)
        LOG.info("replica moved", extra={"partition": str(move.name), "to": _parent(replica.log)})
        self._end(move)
        self._replicas.let_failed_go()
        self._replicas.waiting_room.wake(move.name)


def _parent(log: PartitionLog) -> str:
    return log.directory.rpartition("/")[0]

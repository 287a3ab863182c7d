"""Fetch sessions (KIP-227): a fetcher names its partitions once, and from then on only what changes.

A session remembers what was asked of each partition and what was last told of it. An answer within a session leaves out
the partitions of which there is nothing to tell. Those that had records go to the end of the line, so that no partition
starves the others. Sessions are few: a newcomer takes the place of one that was not used for long, or of one that is
worth less, and otherwise does without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.broker.errors import FetchSessionIdNotFound, FetchSessionTopicIdError, InvalidFetchSessionEpoch
from barnabas.broker.replicas import TopicKey
from barnabas.ports.rng import Rng
from barnabas.protocol.messages.fetch import FetchPartition, PartitionData

NO_SESSION: Final = 0
# In a request: begin a session, or end the one that there is and begin none.
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EVICTION_MS: Final = 120_000
_INT_MAX: Final = 2**31 - 1

PartitionKey = tuple[TopicKey, int]
# What a fetch found, by partition and in the order in which it is answered.
Answers = dict[PartitionKey, PartitionData]


class _CachedPartition:
    """A partition of a session: what is asked of it, and what its fetcher was told last."""

    __slots__ = ("asked", "high_watermark", "log_start_offset")

    def __init__(self, asked: FetchPartition) -> None:
        self.asked = asked
        self.high_watermark = -1
        self.log_start_offset = -1

    def tell(self, answer: PartitionData) -> bool:
        """Whether there is anything to tell; if so it counts as told."""
        must_tell = (
            answer.error_code != 0
            or records_bytes(answer) > 0
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.preferred_read_replica >= 0
            or answer.diverging_epoch.epoch >= 0
        )
        # A partition that failed has no high watermark, so that the answer after it is told, whatever it is.
        self.high_watermark = answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return must_tell


class _Session:
    __slots__ = ("created_ms", "epoch", "has_topic_ids", "id", "is_privileged", "partitions", "used_ms")

    def __init__(self, session_id: int, *, is_privileged: bool, has_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.is_privileged = is_privileged
        self.has_topic_ids = has_topic_ids
        self.created_ms = self.used_ms = now_ms
        self.epoch = _epoch_after(INITIAL_EPOCH)
        self.partitions: dict[PartitionKey, _CachedPartition] = {}

    @property
    def worth(self) -> tuple[bool, int, int]:
        """Followers' sessions are worth more than consumers', and large ones more than small ones."""
        return self.is_privileged, len(self.partitions), self.id

    @property
    def has_proven_itself(self) -> bool:
        """Whether it was in use for so long that its size may be held against it."""
        return self.used_ms - self.created_ms > EVICTION_MS


class FetchContext:
    """One fetch: the partitions to read, and the way its answer goes out. This one is without a session."""

    def __init__(self, asked: Mapping[PartitionKey, FetchPartition]) -> None:
        self._asked = asked

    @property
    def partitions(self) -> Iterable[tuple[PartitionKey, FetchPartition]]:
        return self._asked.items()

    def answer(self, answers: Answers, now_ms: int) -> tuple[int, Answers]:  # noqa: ARG002 (for those with a session)
        """The id of the session, and of the answers those to be told."""
        return NO_SESSION, answers


class _BeginningContext(FetchContext):
    """A fetch that would begin a session. It does when it is answered, and all its partitions are told."""

    def __init__(
        self,
        sessions: FetchSessions,
        asked: Mapping[PartitionKey, FetchPartition],
        *,
        is_privileged: bool,
        has_topic_ids: bool,
    ) -> None:
        super().__init__(asked)
        self._sessions = sessions
        self._is_privileged = is_privileged
        self._has_topic_ids = has_topic_ids

    def answer(self, answers: Answers, now_ms: int) -> tuple[int, Answers]:
        session = self._sessions.create(
            len(answers), is_privileged=self._is_privileged, has_topic_ids=self._has_topic_ids, now_ms=now_ms
        )
        if session is None:
            return NO_SESSION, answers
        for key, answer in answers.items():
            cached = session.partitions[key] = _CachedPartition(self._asked[key])
            cached.tell(answer)
        return session.id, answers


class _IncrementalContext(FetchContext):
    """A fetch within a session."""

    def __init__(self, session: _Session) -> None:
        self._session = session
        self._epoch = session.epoch

    @property
    def partitions(self) -> Iterable[tuple[PartitionKey, FetchPartition]]:
        return [(key, cached.asked) for key, cached in self._session.partitions.items()]

    def answer(self, answers: Answers, now_ms: int) -> tuple[int, Answers]:  # noqa: ARG002 (for those that begin)
        session = self._session
        if session.epoch != self._epoch:
            raise InvalidFetchSessionEpoch(f"session {session.id} went on to epoch {session.epoch} in the meantime")
        told: Answers = {}
        partitions = session.partitions
        for key, answer in answers.items():
            cached = partitions.get(key)
            if cached is not None and cached.tell(answer):
                told[key] = answer
                if records_bytes(answer):
                    partitions[key] = partitions.pop(key)
        return session.id, told


class FetchSessions:
    """The sessions of a broker; `slots` is how many there may be."""

    def __init__(self, slots: int, rng: Rng) -> None:
        self._slots = slots
        self._rng = rng
        self._sessions: dict[int, _Session] = {}
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return sum(len(session.partitions) for session in self._sessions.values())

    def begin(
        self,
        session_id: int,
        epoch: int,
        asked: Mapping[PartitionKey, FetchPartition],
        forgotten: Iterable[PartitionKey],
        *,
        is_privileged: bool,
        has_topic_ids: bool,
        now_ms: int,
    ) -> FetchContext:
        """What a request with this session id and epoch fetches; an ApiError where the two do not fit."""
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if epoch == FINAL_EPOCH:
                return FetchContext(asked)
            return _BeginningContext(self, asked, is_privileged=is_privileged, has_topic_ids=has_topic_ids)
        session = self._sessions.get(session_id)
        if session is None:
            raise FetchSessionIdNotFound(f"there is no fetch session {session_id}")
        if session.epoch != epoch:
            raise InvalidFetchSessionEpoch(f"fetch session {session_id} is at epoch {session.epoch}, not {epoch}")
        if session.has_topic_ids != has_topic_ids:
            raise FetchSessionTopicIdError(f"fetch session {session_id} names its topics in the other way")
        for key, partition in asked.items():
            cached = session.partitions.get(key)
            if cached is None:
                session.partitions[key] = _CachedPartition(partition)
            else:
                cached.asked = partition
        for key in forgotten:
            session.partitions.pop(key, None)
        if not session.partitions:
            del self._sessions[session_id]
            return FetchContext(asked)
        session.used_ms = now_ms
        session.epoch = _epoch_after(session.epoch)
        return _IncrementalContext(session)

    def create(self, size: int, *, is_privileged: bool, has_topic_ids: bool, now_ms: int) -> _Session | None:
        """A session without partitions yet, that will have `size`; None where there is no room for it."""
        if len(self._sessions) >= self._slots and not self._evict(size, is_privileged=is_privileged, now_ms=now_ms):
            return None
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = self._rng.randrange(_INT_MAX)
        session = _Session(session_id, is_privileged=is_privileged, has_topic_ids=has_topic_ids, now_ms=now_ms)
        self._sessions[session_id] = session
        return session

    def _evict(self, size: int, *, is_privileged: bool, now_ms: int) -> bool:
        """Make room for a session of this size, if one is stale or worth less."""
        stalest = min(self._sessions.values(), key=lambda session: (session.used_ms, session.id), default=None)
        if stalest is None:
            return False
        victim = stalest
        if now_ms - stalest.used_ms <= EVICTION_MS:
            candidates = [
                session
                for session in self._sessions.values()
                if session.has_proven_itself or (is_privileged and not session.is_privileged)
            ]
            if not candidates:
                return False
            victim = min(candidates, key=lambda session: session.worth)
            if (is_privileged, size, 0) < victim.worth:
                return False
        del self._sessions[victim.id]
        self.evictions += 1
        return True


def records_bytes(answer: PartitionData) -> int:
    return 0 if answer.records is None else len(answer.records)


def _epoch_after(epoch: int) -> int:
    return 1 if epoch == _INT_MAX else epoch + 1

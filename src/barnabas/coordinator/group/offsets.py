"""The offsets that groups have committed, and those that wait for their transaction to end.

Of two commits for one partition the later record counts. So a transactional commit keeps the offset of its own record,
not of the marker that makes it count: compaction may take either, and the outcome must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.uuid import ZERO_UUID, Uuid
from barnabas.records.batch import NO_PRODUCER_ID

NO_EXPIRY: Final = -1


class CommittedOffset(NamedTuple):
    """`expire_timestamp_ms` is what old clients asked for; -1 leaves it to the broker's retention."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int
    topic_id: Uuid
    record_offset: int


ByPartition = dict[int, CommittedOffset]
ByTopic = dict[str, ByPartition]


class Place(NamedTuple):
    """A partition whose offset a group commits."""

    group_id: str
    topic: str
    partition: int


class Offsets:
    """Only replaying changes them."""

    def __init__(self) -> None:
        self._by_group: dict[str, ByTopic] = {}
        self._pending: dict[int, dict[Place, CommittedOffset]] = {}
        # The producers with a commit that waits, by what it is for.
        self._open: dict[str, dict[Place, set[int]]] = {}

    # Looking up

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """The committed offsets of a group, by topic and partition."""
        return self._by_group.get(group_id, {})

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        return self._by_group.get(group_id, {}).get(topic, {}).get(partition)

    def has_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether a transaction has committed an offset for it and has not ended."""
        places = self._open.get(group_id)
        return places is not None and Place(group_id, topic, partition) in places

    def pending_places(self, group_id: str) -> Iterator[Place]:
        """What open transactions have committed offsets for in a group."""
        return iter(self._open.get(group_id, ()))

    def places_of_topic(self, topic: str, topic_id: Uuid) -> set[Place]:
        """Where there are offsets, committed or pending, of a topic: of this id, or of old records that have none."""
        places = set()
        for group_id, topics in self._by_group.items():
            for partition, committed in topics.get(topic, {}).items():
                if committed.topic_id in (ZERO_UUID, topic_id):
                    places.add(Place(group_id, topic, partition))
        for waiting in self._pending.values():
            for place, committed in waiting.items():
                if place.topic == topic and committed.topic_id in (ZERO_UUID, topic_id):
                    places.add(place)
        return places

    # Replaying

    def replay(
        self, record_offset: int, producer_id: int, key: OffsetCommitKey, value: OffsetCommitValue | None
    ) -> None:
        place = Place(key.group, key.topic, key.partition)
        if value is None:
            self._remove(place)
            return
        committed = CommittedOffset(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            value.topic_id,
            record_offset,
        )
        if producer_id == NO_PRODUCER_ID:
            self._put(place, committed)
        else:
            self._pending.setdefault(producer_id, {})[place] = committed
            self._open.setdefault(place.group_id, {}).setdefault(place, set()).add(producer_id)

    def replay_end_of_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        for place, committed in self._pending.pop(producer_id, {}).items():
            self._close(place, producer_id)
            known = self.get(*place)
            if is_commit and (known is None or committed.record_offset > known.record_offset):
                self._put(place, committed)

    def _put(self, place: Place, committed: CommittedOffset) -> None:
        self._by_group.setdefault(place.group_id, {}).setdefault(place.topic, {})[place.partition] = committed

    def _remove(self, place: Place) -> None:
        topics = self._by_group.get(place.group_id)
        if topics is not None and place.topic in topics:
            topics[place.topic].pop(place.partition, None)
            if not topics[place.topic]:
                del topics[place.topic]
            if not topics:
                del self._by_group[place.group_id]
        # A deleted offset does not come back when a transaction ends that was open by then.
        for producer_id in tuple(self._open.get(place.group_id, {}).get(place, ())):
            waiting = self._pending[producer_id]
            del waiting[place]
            if not waiting:
                del self._pending[producer_id]
            self._close(place, producer_id)

    def _close(self, place: Place, producer_id: int) -> None:
        places = self._open[place.group_id]
        places[place].remove(producer_id)
        if not places[place]:
            del places[place]
        if not places:
            del self._open[place.group_id]

"""Topics and partitions: where replicas are, who leads, who is in sync, and how a record changes that.

A partition is a value; a change makes another one. Each change raises the partition epoch by one, and each naming of
a leader, even of the same one, raises the leader epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple

from barnabas.metadata.errors import ReplayError, UnwritableMetadataError
from barnabas.metadata.map_delta import MapDelta
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import ZERO_UUID, Uuid

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
NO_RECOVERY_CHANGE: Final = -1

# Ids that stand for no directory: not known since before directories had ids, not chosen yet, gone with its disk.
MIGRATING_DIRECTORY: Final = ZERO_UUID
UNASSIGNED_DIRECTORY: Final = Uuid(bytes(15) + b"\x01")
LOST_DIRECTORY: Final = Uuid(bytes(15) + b"\x02")


class LeaderRecoveryState(IntEnum):
    """RECOVERING after an unclean election, until the leader says that it has recovered."""

    RECOVERED = 0
    RECOVERING = 1


# A look-up here takes a fraction of the time of a call of the enumeration, and a snapshot makes it for every partition.
_RECOVERY_STATES: Final = {state.value: state for state in LeaderRecoveryState}


class Partition(NamedTuple):
    """A partition. `directories` are those of the replicas, in their order."""

    replicas: tuple[int, ...]
    directories: tuple[Uuid, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    leader_recovery_state: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def without_epochs(self) -> tuple[object, ...]:
        """What partitions that are alike but for how often they were changed have in common."""
        return self[:4] + self[6:]

    def with_epochs(self, leader_epoch: int, partition_epoch: int) -> Partition:
        """As `_replace`, for those who do it very often."""
        return Partition._make((*self[:4], leader_epoch, partition_epoch, *self[6:]))

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def preferred_leader(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    def directory(self, replica: int) -> Uuid:
        """Where a replica is; ValueError where it has none of this partition."""
        return self.directories[self.replicas.index(replica)]

    @property
    def has_elr(self) -> bool:
        return bool(self.eligible_leader_replicas or self.last_known_elr)

    def record(self, topic_id: Uuid, partition_id: int, *, is_elr_enabled: bool) -> PartitionRecord:
        """The record of the whole state. Eligible leader replicas are in it where that feature is enabled."""
        return PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=list(self.directories),
            eligible_leader_replicas=list(self.eligible_leader_replicas) or None if is_elr_enabled else None,
            last_known_elr=list(self.last_known_elr) or None if is_elr_enabled else None,
        )


class Topic(NamedTuple):
    name: str
    id: Uuid
    partitions: SortedMap[int, Partition]

    def record(self) -> TopicRecord:
        return TopicRecord(name=self.name, topic_id=self.id)

    def partition_record(self, partition_id: int, version: MetadataVersion, *, is_elr_enabled: bool) -> PartitionRecord:
        """The record of a partition, UnwritableMetadataError where that version has no place for all of it."""
        partition = self.partitions[partition_id]
        if is_elr_enabled and not version.has_eligible_leader_replicas and partition.has_elr:
            raise UnwritableMetadataError(
                f"the eligible leader replicas of {self.name}-{partition_id} cannot be written at "
                f"metadata.version {version}"
            )
        return partition.record(self.id, partition_id, is_elr_enabled=is_elr_enabled)


@dataclass(frozen=True, slots=True)
class TopicsImage:
    by_id: SortedMap[Uuid, Topic] = field(default_factory=SortedMap)
    ids: SortedMap[str, Uuid] = field(default_factory=SortedMap)

    def by_name(self, name: str) -> Topic | None:
        topic_id = self.ids.get(name)
        return None if topic_id is None else self.by_id[topic_id]

    def partition(self, topic_id: Uuid, partition_id: int) -> Partition | None:
        topic = self.by_id.get(topic_id)
        return None if topic is None else topic.partitions.get(partition_id)

    def records(self, version: MetadataVersion, *, is_elr_enabled: bool) -> Iterator[Message]:
        for topic in self.by_id.contents():
            yield topic.record()
            for partition_id in topic.partitions:
                yield topic.partition_record(partition_id, version, is_elr_enabled=is_elr_enabled)


class TopicDelta:
    """A topic that was created or changed; `base` is what it was before, without partitions if it is new."""

    __slots__ = ("base", "is_new", "partitions")

    def __init__(self, base: Topic, *, is_new: bool = False) -> None:
        self.base = base
        self.is_new = is_new
        self.partitions = MapDelta(base.partitions)

    def apply(self) -> Topic:
        return self.base._replace(partitions=self.partitions.apply())

    def clear_elr(self) -> None:
        for partition_id in [*self.base.partitions, *self.partitions.changes]:
            partition = self.partitions.get(partition_id)
            assert partition is not None, "partitions are not removed"
            if partition.has_elr:
                cleared = partition._replace(
                    eligible_leader_replicas=(), last_known_elr=(), partition_epoch=partition.partition_epoch + 1
                )
                self.partitions.put(partition_id, cleared)


class TopicsDelta:
    """`changed` are the topics created or changed and still there, `deleted` those of the image that are gone."""

    __slots__ = ("_ids", "_shared", "base", "changed", "deleted")

    def __init__(self, base: TopicsImage) -> None:
        self.base = base
        self.changed: dict[Uuid, TopicDelta] = {}
        self.deleted: dict[Uuid, Topic] = {}
        self._ids = MapDelta(base.ids)
        # Thousands of partitions have the same replicas and directories; one tuple of each kind is enough.
        self._shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    @classmethod
    def between(cls, base: TopicsImage, image: TopicsImage) -> TopicsDelta:
        delta = cls(base)
        for topic_id, topic in base.by_id.changes_to(image.by_id).items():
            was = base.by_id.get(topic_id)
            if topic is None:
                assert was is not None, "what is taken out was there"
                delta.deleted[topic_id] = was
            else:
                changed = TopicDelta(was or topic._replace(partitions=SortedMap()), is_new=was is None)
                changed.partitions = MapDelta.between(changed.base.partitions, topic.partitions)
                delta.changed[topic_id] = changed
        delta._ids = MapDelta.between(base.ids, image.ids)
        return delta

    def create_topic(self, record: TopicRecord) -> None:
        is_new = record.topic_id not in self.base.by_id
        self.changed[record.topic_id] = TopicDelta(Topic(record.name, record.topic_id, SortedMap()), is_new=is_new)
        self._ids.put(record.name, record.topic_id)

    def set_partition(self, record: PartitionRecord) -> None:
        share = self._share
        replicas = share(record.replicas)
        partition = Partition(
            replicas,
            self._directories(record.directories, replicas, record),
            share(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            _recovery_state(record),
            share(record.removing_replicas),
            share(record.adding_replicas),
            share(record.eligible_leader_replicas),
            share(record.last_known_elr),
        )
        self._topic(record.topic_id).partitions.put(record.partition_id, partition)

    def change_partition(self, record: PartitionChangeRecord) -> None:
        topic = self._topic(record.topic_id)
        was = topic.partitions.get(record.partition_id)
        if was is None:
            raise ReplayError(f"partition {record.partition_id} of topic {topic.base.name} is changed but not there")
        replicas, directories = was.replicas, was.directories
        if record.replicas is not None or record.directories is not None:
            replicas = self._or(record.replicas, replicas)
            named = directories if record.directories is None else record.directories
            directories = self._directories(named, replicas, record)
        is_leader_named = record.leader != NO_LEADER_CHANGE
        is_recovery_told = record.leader_recovery_state != NO_RECOVERY_CHANGE
        changed = Partition(
            replicas,
            directories,
            self._or(record.isr, was.isr),
            record.leader if is_leader_named else was.leader,
            was.leader_epoch + is_leader_named,
            was.partition_epoch + 1,
            _recovery_state(record) if is_recovery_told else was.leader_recovery_state,
            self._or(record.removing_replicas, was.removing_replicas),
            self._or(record.adding_replicas, was.adding_replicas),
            self._or(record.eligible_leader_replicas, was.eligible_leader_replicas),
            self._or(record.last_known_elr, was.last_known_elr),
        )
        topic.partitions.put(record.partition_id, changed)

    def clear_elr(self, record: ClearElrRecord) -> None:
        """Of one topic or, without a name, of all."""
        if record.topic_name:
            topic_id = self._ids.get(record.topic_name)
            if topic_id is None:
                raise ReplayError(f"the eligible leader replicas of {record.topic_name} are cleared: no such topic")
            self._topic(topic_id).clear_elr()
            return
        for topic_id in {**dict.fromkeys(self.base.by_id), **self.changed}:
            if topic_id in self.changed or topic_id not in self.deleted:
                self._topic(topic_id).clear_elr()

    def remove_topic(self, record: RemoveTopicRecord) -> str:
        """The name of the topic that is gone."""
        name = self._topic(record.topic_id).base.name
        del self.changed[record.topic_id]
        if record.topic_id in self.base.by_id:
            self.deleted[record.topic_id] = self.base.by_id[record.topic_id]
        self._ids.remove(name)
        return name

    def apply(self) -> TopicsImage:
        if not self.changed and not self.deleted:
            return self.base
        topics: dict[Uuid, Topic | None] = dict.fromkeys(self.deleted)
        topics |= {topic_id: topic.apply() for topic_id, topic in self.changed.items()}
        return TopicsImage(self.base.by_id.updated(topics), self._ids.apply())

    def _topic(self, topic_id: Uuid) -> TopicDelta:
        topic = self.changed.get(topic_id)
        if topic is None:
            base = None if topic_id in self.deleted else self.base.by_id.get(topic_id)
            if base is None:
                raise ReplayError(f"topic {topic_id} is changed but not there")
            topic = self.changed[topic_id] = TopicDelta(base)
        return topic

    def _share(self, members: list[int] | None) -> tuple[int, ...]:
        if not members:
            return ()
        key = tuple(members)
        return self._shared.setdefault(key, key)

    def _or(self, members: list[int] | None, otherwise: tuple[int, ...]) -> tuple[int, ...]:
        return otherwise if members is None else self._share(members)

    def _directories(
        self,
        directories: list[Uuid] | tuple[Uuid, ...],
        replicas: tuple[int, ...],
        record: PartitionRecord | PartitionChangeRecord,
    ) -> tuple[Uuid, ...]:
        """One for each replica; where none is known, all are as before directories had ids."""
        if all(directory == MIGRATING_DIRECTORY for directory in directories):
            directories = (MIGRATING_DIRECTORY,) * len(replicas)
        if len(directories) != len(replicas):
            raise ReplayError(f"not as many directories as replicas: {record}")
        key = tuple(directories)
        return self._shared.setdefault(key, key)


def _recovery_state(record: PartitionRecord | PartitionChangeRecord) -> LeaderRecoveryState:
    state = _RECOVERY_STATES.get(record.leader_recovery_state)
    if state is None:
        raise ReplayError(f"a leader recovery state that is not known: {record}")
    return state

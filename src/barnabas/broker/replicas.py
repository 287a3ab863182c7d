"""Every partition that this broker hosts: found by name or by id, and kept in step with the cluster's metadata.

After `apply` the hosted replicas are those that the image assigns to this broker, each a leader or a follower of the
image's leader epoch. A replica whose log directory is offline is known and refused. What happens to a partition wakes
those who wait under its name. Nothing here but the disk behind the logs reaches the outside; time is handed in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from errno import ENOSPC
from typing import Final

from barnabas.broker.topic_configs import TopicConfigs
from barnabas.broker.waiting_room import WaitingRoom
from barnabas.controller.errors import UnknownTopicId, UnknownTopicOrPartition
from barnabas.log.append import AppendInfo
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.directories import LogDirectories
from barnabas.log.log_directory import NewLog
from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation, LogRead, TimestampedOffset
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.metadata.topics import NO_LEADER, UNASSIGNED_DIRECTORY, Partition, Topic
from barnabas.ports.disk import Buffer
from barnabas.protocol.errors import ApiError, InconsistentTopicId, KafkaStorageError, NotLeaderOrFollower
from barnabas.protocol.uuid import Uuid
from barnabas.records.batch import NO_LEADER_EPOCH
from barnabas.replication.follower import Follower
from barnabas.replication.leader import Leader
from barnabas.replication.replica import Replica

LOG: Final = logging.getLogger(__name__)

# A topic as requests name it: up to some version by name, from then on by id.
TopicKey = str | Uuid
StorageFailed = Callable[[str, OSError], None]
# Flushes a log whose last append must not be acknowledged before, and calls back when that is done or has failed.
SettleFlush = Callable[[PartitionLog, Callable[[OSError | None], object]], object]


class HostedTopic:
    """The replicas of a topic that are here, by partition; None stands for one whose log directory is offline."""

    __slots__ = ("id", "name", "replicas")

    def __init__(self, name: str, topic_id: Uuid) -> None:
        self.name = name
        self.id = topic_id
        self.replicas: dict[int, Replica | None] = {}


class Replicas:
    """`image` is the metadata that the hosted replicas agree with.

    `storage_failed` is told of each log directory that has gone offline, with what its disk said. `settle_flush` makes
    a log durable where flush.messages wants that before an append is acknowledged.
    """

    def __init__(
        self,
        node_id: int,
        directories: LogDirectories,
        configs: TopicConfigs,
        waiting_room: WaitingRoom,
        storage_failed: StorageFailed,
        settle_flush: SettleFlush,
    ) -> None:
        self.image: MetadataImage = EMPTY_IMAGE
        self.waiting_room = waiting_room
        self._node_id = node_id
        self._directories = directories
        self._configs = configs
        self._storage_failed = storage_failed
        self._settle_flush = settle_flush
        self._topics: dict[TopicKey, HostedTopic] = {}
        self._failures_told = set(directories.failures)
        self._checkpointed: dict[TopicPartition, int] = {}
        for directory in directories.online:
            with suppress(KafkaStorageError), directories.guard(directory.path):
                self._checkpointed |= directories.read_high_watermarks(directory)

    # Looking up

    def find(self, topic: TopicKey, partition: int) -> Replica:
        """The replica of a partition; an ApiError says why there is none."""
        hosted = self._topics.get(topic)
        if hosted is not None:
            replica = hosted.replicas.get(partition)
            if replica is not None:
                return replica
        raise self._absence(topic, partition)

    def find_leader(self, topic: TopicKey, partition: int) -> Leader:
        """The replica of a partition that is led here; an ApiError says why there is none."""
        hosted = self._topics.get(topic)
        if hosted is not None:
            replica = hosted.replicas.get(partition)
            if isinstance(replica, Leader):
                return replica
            if replica is not None:
                raise NotLeaderOrFollower(f"{replica.name} is led by broker {replica.leader_id}")
        raise self._absence(topic, partition)

    def current_leader(self, key: TopicKey, partition: int) -> tuple[int, int]:
        """Who leads a partition, and in which leader epoch; -1 where that is not known."""
        topic = self._topic(key)
        known = None if topic is None else topic.partitions.get(partition)
        return (NO_LEADER, NO_LEADER_EPOCH) if known is None else (known.leader, known.leader_epoch)

    def is_current(self, replica: Replica) -> bool:
        """Whether what was found earlier still holds: no other leader epoch has come, the log is there."""
        hosted = self._topics.get(replica.name.topic)
        return hosted is not None and hosted.replicas.get(replica.name.partition) is replica

    def _absence(self, key: TopicKey, partition: int) -> ApiError:
        topic = self._topic(key)
        if topic is None:
            if isinstance(key, Uuid):
                return UnknownTopicId(f"there is no topic with id {key}")
            return UnknownTopicOrPartition(f"there is no topic {key}")
        if topic.partitions.get(partition) is None:
            return UnknownTopicOrPartition(f"topic {topic.name} has no partition {partition}")
        hosted = self._topics.get(key)
        if hosted is not None and partition in hosted.replicas:
            return KafkaStorageError(f"the log directory of {topic.name}-{partition} is offline")
        return NotLeaderOrFollower(f"broker {self._node_id} has no replica of {topic.name}-{partition}")

    def _topic(self, key: TopicKey) -> Topic | None:
        topics = self.image.topics
        return topics.by_id.get(key) if isinstance(key, Uuid) else topics.by_name(key)

    # Appending and reading

    def append(self, leader: Leader, records: Buffer, now_ms: int, *, needs_all: bool) -> AppendInfo:
        """Append a producer's batch and wake who waits for it."""
        try:
            info = leader.append(records, now_ms, needs_all=needs_all)
        except OSError as error:
            raise self._fail(leader.log, error) from error
        if leader.log.is_flush_wanted:
            self._settle_flush(leader.log, lambda _: self.waiting_room.wake(leader.name))
        self.waiting_room.wake(leader.name)
        return info

    def read(
        self, replica: Replica, offset: int, max_bytes: int, *, isolation: Isolation, min_one_batch: bool
    ) -> LogRead:
        try:
            return replica.log.read(offset, max_bytes, isolation=isolation, min_one_batch=min_one_batch)
        except OSError as error:
            raise self._fail(replica.log, error) from error

    def offset_for_timestamp(self, replica: Replica, timestamp: int) -> TimestampedOffset | None:
        try:
            return replica.log.offset_for_timestamp(timestamp)
        except OSError as error:
            raise self._fail(replica.log, error) from error

    # Following the metadata

    def apply(self, delta: MetadataDelta, image: MetadataImage, now_ms: int) -> None:
        """Take in one published step of the metadata."""
        self.image = image
        changed_topics = self._configs.apply(delta, image)
        # What is gone goes first: a topic that was made anew has the name of the old one.
        for topic in delta.topics.deleted.values():
            self._drop_topic(topic, now_ms)
        self._make_logs(delta, now_ms)
        for topic_id, change in delta.topics.changed.items():
            topic = image.topics.by_id[topic_id]
            for index in change.partitions.changes:
                self._take_partition(topic, index, topic.partitions[index], now_ms)
        self._take_configs(changed_topics)

    def _make_logs(self, delta: MetadataDelta, now_ms: int) -> None:
        """Make the logs of new partitions all at once: one by one they would wait for the disk one by one."""
        wanted = []
        for topic_id, change in delta.topics.changed.items():
            topic = self.image.topics.by_id[topic_id]
            for index in change.partitions.changes:
                name, partition = TopicPartition(topic.name, index), topic.partitions[index]
                if self._node_id in partition.replicas and name not in self._directories.logs:
                    path, is_new = self._place(partition)
                    if is_new:
                        wanted.append(NewLog(name, self._configs.log_config_of(topic.name), topic_id, path))
        if len(wanted) > 1:
            self._directories.create_all(wanted, now_ms=now_ms)

    def _place(self, partition: Partition) -> tuple[str | None, bool]:
        """The directory that a partition is assigned to, where it is ours; and whether its log cannot be elsewhere."""
        assigned = partition.directory(self._node_id)
        path = next((path for path, id_ in self._directories.directory_ids.items() if id_ == assigned), None)
        return path, path is not None or assigned == UNASSIGNED_DIRECTORY

    def _drop_topic(self, topic: Topic, now_ms: int) -> None:
        hosted = self._topics.get(topic.id)
        if hosted is not None:
            for index in list(hosted.replicas):
                self._drop(hosted, index, now_ms)

    def _drop(self, hosted: HostedTopic, index: int, now_ms: int) -> None:
        """End a replica's service; its log is removed later."""
        replica = hosted.replicas.pop(index)
        if not hosted.replicas:
            del self._topics[hosted.id]
            if self._topics.get(hosted.name) is hosted:
                del self._topics[hosted.name]
        name = TopicPartition(hosted.name, index)
        try:
            if replica is not None:
                self._directories.delete(name, now_ms=now_ms)
            if name in self._directories.future_logs:
                self._directories.delete(name, now_ms=now_ms, is_future=True)
        except KafkaStorageError as error:
            LOG.warning("a replica's log could not be deleted", extra={"partition": str(name), "error": str(error)})
            self.let_failed_go()
        self.waiting_room.wake(name)

    def _take_partition(self, topic: Topic, index: int, partition: Partition, now_ms: int) -> None:
        """Lead, follow or drop a partition, as the image says."""
        hosted = self._topics.get(topic.id)
        current = None if hosted is None else hosted.replicas.get(index)
        if self._node_id not in partition.replicas:
            if hosted is not None and index in hosted.replicas:
                self._drop(hosted, index, now_ms)
            return
        if current is not None and current.leader_epoch == partition.leader_epoch:
            self._change_within_epoch(current, topic, partition)
            return
        if hosted is None:
            hosted = HostedTopic(topic.name, topic.id)
            self._topics[topic.id] = self._topics[topic.name] = hosted
        name = TopicPartition(topic.name, index)
        try:
            log = self._open_log(name, topic.id, partition, now_ms) if current is None else current.log
            hosted.replicas[index] = self._make_replica(name, log, partition)
        except KafkaStorageError as error:
            LOG.error("a replica cannot be hosted", extra={"partition": str(name), "error": str(error)})
            hosted.replicas[index] = None
            self.let_failed_go()
        self.waiting_room.wake(name)

    def _change_within_epoch(self, current: Replica, topic: Topic, partition: Partition) -> None:
        if partition.partition_epoch < current.partition_epoch:
            return
        if isinstance(current, Leader):
            current.take_partition(partition, min_insync_replicas=self._configs.of(topic.name).min_insync_replicas)
            # Fewer replicas to wait for may be all that somebody waits for.
            self.waiting_room.wake(current.name)
        elif isinstance(current, Follower):
            current.take_partition(partition)

    def _make_replica(self, name: TopicPartition, log: PartitionLog, partition: Partition) -> Replica:
        if partition.leader != self._node_id:
            return Follower(name, log, partition)
        return Leader(name, log, partition, min_insync_replicas=self._configs.of(name.topic).min_insync_replicas)

    def _open_log(self, name: TopicPartition, topic_id: Uuid, partition: Partition, now_ms: int) -> PartitionLog:
        """The log of a replica that was not hosted so far, made where there is none."""
        directories = self._directories
        path, is_new = self._place(partition)
        config = self._configs.log_config_of(name.topic)
        try:
            log = directories.create(name, config, now_ms=now_ms, topic_id=topic_id, is_new=is_new, path=path)
        except InconsistentTopicId as error:
            # It is of a topic that is gone and had the same name. Nobody said that its records may be deleted.
            aside = directories.set_aside(name)
            LOG.warning("a log of another topic is set aside", extra={"path": aside, "reason": str(error)})
            self._checkpointed.pop(name, None)
            log = directories.create(name, config, now_ms=now_ms, topic_id=topic_id, is_new=is_new, path=path)
        high_watermark = self._checkpointed.pop(name, None)
        if high_watermark is not None:
            log.update_high_watermark(high_watermark)
        return log

    def _take_configs(self, changed_topics: set[str] | None) -> None:
        """Give logs and leaders the settings that have changed: those of some topics, or of all where None."""
        if changed_topics is None:
            hosted_topics = set(self._topics.values())
        else:
            hosted_topics = {self._topics[name] for name in changed_topics if name in self._topics}
        for hosted in hosted_topics:
            config = self._configs.of(hosted.name)
            for replica in hosted.replicas.values():
                if replica is None:
                    continue
                replica.log.config = config.log
                future = self._directories.future_logs.get(replica.name)
                if future is not None:
                    future.config = config.log
                if isinstance(replica, Leader) and replica.require_in_sync(config.min_insync_replicas):
                    self.waiting_room.wake(replica.name)

    # Failing disks

    def _fail(self, log: PartitionLog, error: OSError) -> KafkaStorageError:
        """What to answer to an error of the disk, which takes the log's directory offline unless it is just full."""
        path = log.directory.rpartition("/")[0]
        if error.errno != ENOSPC:
            self._directories.take_offline(path, error)
            self.let_failed_go()
        return KafkaStorageError(f"{path}: {error}")

    def let_failed_go(self) -> None:
        """Stop serving from log directories that have gone offline, whoever found that out."""
        failures = self._directories.failures
        failed = [path for path in failures if path not in self._failures_told]
        if not failed:
            return
        self._failures_told.update(failed)
        woken = []
        logs = self._directories.logs
        for hosted in set(self._topics.values()):
            for index, replica in hosted.replicas.items():
                if replica is not None and logs.get(replica.name) is not replica.log:
                    hosted.replicas[index] = None
                    woken.append(replica.name)
        for path in failed:
            self._storage_failed(path, failures[path])
        for name in woken:
            self.waiting_room.wake(name)

"""What the controller is to be told of where this broker's replicas are (KIP-858).

It is told of every replica that lies elsewhere than the metadata says. What is told last of a replica is what holds:
one request is under way at a time, and what was refused in it is told again unless something newer is to be said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.log.checkpoint import TopicPartition
from barnabas.log.directories import LogDirectories
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.protocol.uuid import Uuid

ASSIGNMENTS_PER_REQUEST: Final = 2250


class ReplicaId(NamedTuple):
    """A replica of this broker."""

    topic_id: Uuid
    partition: int


class _Assignment(NamedTuple):
    directory: Uuid
    accepted: Callable[[], object] | None


class DirectoryAssignments:
    """`is_handed_over` says of a partition that the controller hears from elsewhere where it is about to be."""

    def __init__(
        self, node_id: int, directories: LogDirectories, is_handed_over: Callable[[TopicPartition], bool]
    ) -> None:
        self._node_id = node_id
        self._directories = directories
        self._is_handed_over = is_handed_over
        self._ready: dict[ReplicaId, _Assignment] = {}
        self._sent: dict[ReplicaId, _Assignment] = {}

    def follow(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in one published step of the metadata, when the replicas here agree with it."""
        ids = self._directories.directory_ids
        for topic_id, change in delta.topics.changed.items():
            topic = image.topics.by_id[topic_id]
            for index in change.partitions.changes:
                partition = topic.partitions[index]
                name = TopicPartition(topic.name, index)
                log = self._directories.logs.get(name)
                if log is None or self._node_id not in partition.replicas or self._is_handed_over(name):
                    continue
                directory = ids.get(log.directory.rpartition("/")[0])
                if directory is not None and directory != partition.directory(self._node_id):
                    self.assign(ReplicaId(topic_id, index), directory)

    def assign(self, replica: ReplicaId, directory: Uuid, accepted: Callable[[], object] | None = None) -> None:
        """Let the controller know that a replica is there; `accepted` is called when it does, unless told otherwise."""
        self._ready.pop(replica, None)
        self._ready[replica] = _Assignment(directory, accepted)

    @property
    def is_waiting(self) -> bool:
        """Whether there is something to tell and nothing is being told."""
        return bool(self._ready) and not self._sent

    def take_request(self, image: MetadataImage, broker_epoch: int) -> AssignReplicasToDirsRequest | None:
        """The next request, to be answered before another is taken; None where nothing is left to tell."""
        assert not self._sent, "one request is under way at a time"
        while self._ready and len(self._sent) < ASSIGNMENTS_PER_REQUEST:
            replica = next(iter(self._ready))
            assignment = self._ready.pop(replica)
            partition = image.topics.partition(*replica)
            if partition is not None and self._node_id in partition.replicas:
                self._sent[replica] = assignment
        if not self._sent:
            return None
        by_directory: dict[Uuid, dict[Uuid, RequestTopicData]] = {}
        for replica, assignment in self._sent.items():
            topics = by_directory.setdefault(assignment.directory, {})
            topic = topics.setdefault(replica.topic_id, RequestTopicData(topic_id=replica.topic_id, partitions=[]))
            topic.partitions.append(RequestPartitionData(partition_index=replica.partition))
        return AssignReplicasToDirsRequest(
            broker_id=self._node_id,
            broker_epoch=broker_epoch,
            directories=[
                RequestDirectoryData(id=directory, topics=list(topics.values()))
                for directory, topics in by_directory.items()
            ],
        )

    def answered(self, response: AssignReplicasToDirsResponse) -> bool:
        """Take in the answer; false where something has to be told again."""
        if response.error_code != ErrorCode.NONE:
            self.failed()
            return False
        sent, self._sent = self._sent, {}
        for directory in response.directories:
            for topic in directory.topics:
                for partition in topic.partitions:
                    replica = ReplicaId(topic.topic_id, partition.partition_index)
                    if partition.error_code == ErrorCode.NONE and replica in sent:
                        accepted = sent.pop(replica).accepted
                        if accepted is not None and replica not in self._ready:
                            accepted()
        self._ready = {**sent, **self._ready}
        return not sent

    def failed(self) -> None:
        """No answer will come: tell it again."""
        self._ready = {**self._sent, **self._ready}
        self._sent = {}

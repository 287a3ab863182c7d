"""DescribeTopicPartitions: topics with their partitions, page by page, in the order of their names (KIP-966).

v0. A page ends at the request's limit or at max.request.partition.size.limit, whichever is less, and its cursor says
where the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.internal_topics import INTERNAL_TOPICS
from barnabas.broker.nodes import alive_nodes, offline_replicas
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import InvalidRequest, InvalidTopic
from barnabas.controller.topic_names import check_topic_name
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import NO_LEADER, Partition, Topic
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from barnabas.protocol.uuid import ZERO_UUID, Uuid
from barnabas.security.acls import ResourceType
from barnabas.security.authorizer import UNRESTRICTED

VERSIONS: Final = APIS[ApiKey.DESCRIBE_TOPIC_PARTITIONS].versions


class DescribeTopicPartitions:
    """The handler. `partitions_max` is max.request.partition.size.limit."""

    def __init__(self, image: Callable[[], MetadataImage], partitions_max: int) -> None:
        self._image = image
        self._partitions_max = partitions_max

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.DESCRIBE_TOPIC_PARTITIONS, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: DescribeTopicPartitionsRequest, call: Call) -> DescribeTopicPartitionsResponse:
        image = self._image()
        names = _names(request, image)
        page = _Page(image, call.client.listener, max(1, min(self._partitions_max, request.response_partition_limit)))
        for name in names:
            if page.room == 0:
                page.next_cursor = ResponseCursor(topic_name=name, partition_index=0)
                break
            first = request.cursor.partition_index if request.cursor and request.cursor.topic_name == name else 0
            topic = image.topics.by_name(name)
            if topic is not None:
                page.add(topic, first)
                if page.next_cursor is not None:
                    break
            elif request.topics:
                page.add_missing(name)
        return DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=page.topics, next_cursor=page.next_cursor)


def _names(request: DescribeTopicPartitionsRequest, image: MetadataImage) -> list[str]:
    """The topics from the cursor on. What is named beside a cursor must have its topic in it."""
    cursor = request.cursor
    first = "" if cursor is None else cursor.topic_name
    asked = {topic.name for topic in request.topics}
    if cursor is not None and asked and cursor.topic_name not in asked:
        raise InvalidRequest(f"the topic {cursor.topic_name} of the cursor is not among those that are asked for")
    if cursor is not None and cursor.partition_index < 0:
        raise InvalidRequest(f"there is no partition {cursor.partition_index} to begin with")
    return sorted(name for name in (asked or image.topics.ids) if name >= first)


class _Page:
    """What is told at once; `room` is for how many partitions there is a place."""

    def __init__(self, image: MetadataImage, listener: str, room: int) -> None:
        self.room = room
        self.topics: list[DescribeTopicPartitionsResponseTopic] = []
        self.next_cursor: ResponseCursor | None = None
        self._image = image
        self._listener = listener
        self._alive = {node.node_id for node in alive_nodes(image, listener)}

    def add(self, topic: Topic, first: int) -> None:
        indexes = [index for index in topic.partitions if index >= first]
        told = indexes[: self.room]
        partitions = [self._partition(index, topic.partitions[index]) for index in told]
        self._add(topic.name, ErrorCode.NONE, topic.id, partitions)
        self.room -= len(told)
        if len(told) < len(indexes):
            self.next_cursor = ResponseCursor(topic_name=topic.name, partition_index=indexes[len(told)])

    def add_missing(self, name: str) -> None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        try:
            check_topic_name(name)
        except InvalidTopic as error:
            code = error.code
        self._add(name, code, ZERO_UUID, [])

    def _add(
        self, name: str, code: ErrorCode, topic_id: Uuid, partitions: list[DescribeTopicPartitionsResponsePartition]
    ) -> None:
        self.topics.append(
            DescribeTopicPartitionsResponseTopic(
                error_code=code,
                name=name,
                topic_id=topic_id,
                is_internal=name in INTERNAL_TOPICS,
                partitions=partitions,
                topic_authorized_operations=UNRESTRICTED.operations(ResourceType.TOPIC, name),
            )
        )

    def _partition(self, index: int, partition: Partition) -> DescribeTopicPartitionsResponsePartition:
        leader = self._image.cluster.brokers.get(partition.leader)
        is_reachable = leader is not None and self._listener in leader.endpoints
        return DescribeTopicPartitionsResponsePartition(
            error_code=0,
            partition_index=index,
            leader_id=partition.leader if is_reachable else NO_LEADER,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            eligible_leader_replicas=list(partition.eligible_leader_replicas),
            last_known_elr=list(partition.last_known_elr),
            offline_replicas=offline_replicas(self._image, partition, self._alive),
        )


def refuse(request: DescribeTopicPartitionsRequest, code: ErrorCode) -> DescribeTopicPartitionsResponse:
    """The response that every topic failed with this code."""
    return DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[
            DescribeTopicPartitionsResponseTopic(error_code=code, name=topic.name, topic_id=ZERO_UUID, partitions=[])
            for topic in request.topics
        ],
    )

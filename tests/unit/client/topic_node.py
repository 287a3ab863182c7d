"""A scripted node that knows topics: it lists and describes them as a broker would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from unit.client.scripted_node import Script, ScriptedNode


@dataclass(frozen=True)
class Partition:
    leader: int = 1
    replicas: Sequence[int] = (1,)
    isr: Sequence[int] = (1,)
    elr: Sequence[int] = ()


@dataclass(frozen=True)
class Topic:
    partitions: Sequence[Partition] = field(default_factory=lambda: [Partition()])
    topic_id: Uuid = Uuid(bytes(range(16)))  # noqa: RUF009 -- an id does not change


class TopicNode(ScriptedNode):
    """Describes page by page, or, asked to be old, only in Metadata."""

    def __init__(
        self,
        topics: Mapping[str, Topic],
        answers: Mapping[type[Message], Script] | None = None,
        *,
        is_old: bool = False,
        node_id: int = 1,
    ) -> None:
        self.topics = dict(topics)
        versions = {ApiKey.DESCRIBE_TOPIC_PARTITIONS: range(0)} if is_old else {}
        known: dict[type[Message], Script] = {
            MetadataRequest: self._topic_metadata,
            DescribeTopicPartitionsRequest: self._describe,
        }
        super().__init__(known | dict(answers or {}), versions=versions, node_id=node_id)

    def _topic_metadata(self, request: MetadataRequest) -> MetadataResponse:
        answer = self._metadata(request)
        if request.topics is None:
            answer.topics = [self._metadata_topic(name) for name in self.topics]
        else:
            by_id = {topic.topic_id: name for name, topic in self.topics.items()}
            answer.topics = [self._metadata_topic(each.name or by_id.get(each.topic_id, "")) for each in request.topics]
        return answer

    def _metadata_topic(self, name: str) -> MetadataResponseTopic:
        topic = self.topics.get(name)
        if topic is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name, topic_id=Uuid(bytes(16)), partitions=[]
            )
        return MetadataResponseTopic(
            error_code=ErrorCode.NONE,
            name=name,
            topic_id=topic.topic_id,
            is_internal=name.startswith("__"),
            partitions=[
                MetadataResponsePartition(
                    error_code=ErrorCode.NONE,
                    partition_index=index,
                    leader_id=each.leader,
                    replica_nodes=list(each.replicas),
                    isr_nodes=list(each.isr),
                )
                for index, each in enumerate(topic.partitions)
            ],
        )

    def _describe(self, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
        first = (request.cursor.topic_name, request.cursor.partition_index) if request.cursor else ("", 0)
        left = request.response_partition_limit
        answer = DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[])
        for name in sorted(each.name for each in request.topics if each.name >= first[0]):
            topic = self.topics.get(name)
            start = first[1] if name == first[0] else 0
            if topic is not None and left == 0:
                answer.next_cursor = ResponseCursor(topic_name=name, partition_index=start)
                break
            shown = [] if topic is None else list(enumerate(topic.partitions))[start : start + left]
            answer.topics.append(
                DescribeTopicPartitionsResponseTopic(
                    error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else ErrorCode.NONE,
                    name=name,
                    topic_id=Uuid(bytes(16)) if topic is None else topic.topic_id,
                    partitions=[
                        DescribeTopicPartitionsResponsePartition(
                            error_code=ErrorCode.NONE,
                            partition_index=index,
                            leader_id=each.leader,
                            replica_nodes=list(each.replicas),
                            isr_nodes=list(each.isr),
                            eligible_leader_replicas=list(each.elr),
                            last_known_elr=[],
                            offline_replicas=[],
                        )
                        for index, each in shown
                    ],
                )
            )
            left -= len(shown)
            if topic is not None and start + len(shown) < len(topic.partitions):
                answer.next_cursor = ResponseCursor(topic_name=name, partition_index=start + len(shown))
                break
        return answer

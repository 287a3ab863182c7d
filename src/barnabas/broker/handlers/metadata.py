"""Metadata: the brokers and topics of the cluster, as clients of the listener that is asked may reach them.

v0-v13: in 0 no topics stand for all, from 1 on null does; 4 may forbid that topics are made on demand, 5 has offline
replicas, 6 LISTENER_NOT_FOUND, 7 leader epochs, 8 what the asker may do, 12 topics by id. Version 0 leaves brokers that
are not alive out of replicas and ISR, and says so with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.internal_topics import INTERNAL_TOPICS
from barnabas.broker.nodes import Node, alive_nodes, offline_replicas
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import InvalidRequest, InvalidTopic
from barnabas.controller.topic_names import check_topic_name
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Partition, Topic
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.uuid import ZERO_UUID, Uuid
from barnabas.security.acls import CLUSTER_NAME, ResourceType
from barnabas.security.authorizer import UNRESTRICTED

VERSIONS: Final = APIS[ApiKey.METADATA].versions
LISTENER_ERRORS_SINCE: Final = 6
OPERATIONS_SINCE: Final = 8
CLUSTER_OPERATIONS_UNTIL: Final = 10
TOPIC_IDS_SINCE: Final = 12
NO_CONTROLLER: Final = -1
NO_LEADER: Final = -1

# Has topics made that a client asked for, in the background; what to answer for each of them now.
CreateTopics = Callable[[list[str], Call], Mapping[str, ErrorCode]]


class Metadata:
    """The handler. `create_topics` is None where auto.create.topics.enable is false."""

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        *,
        node_id: int,
        cluster_id: str,
        create_topics: CreateTopics | None = None,
    ) -> None:
        self._image = image
        self._node_id = node_id
        self._cluster_id = cluster_id
        self._create_topics = create_topics
        self._views: dict[tuple[str, int], _View] = {}

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.METADATA, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: MetadataRequest, call: Call) -> MetadataResponse:
        image = self._image()
        nodes = alive_nodes(image, call.client.listener)
        view = self._view(image, nodes, request, call)
        if is_for_all(request, call.version):
            topics = [view.describe(topic) for topic in image.topics.by_id.contents()]
        else:
            topics = self._describe_asked(request, call, view)
        cluster_operations = None
        if call.version >= OPERATIONS_SINCE:
            if request.include_cluster_authorized_operations and call.version <= CLUSTER_OPERATIONS_UNTIL:
                cluster_operations = UNRESTRICTED.operations(ResourceType.CLUSTER, CLUSTER_NAME)
            if request.include_topic_authorized_operations:
                for answer in topics:
                    answer.topic_authorized_operations = UNRESTRICTED.operations(ResourceType.TOPIC, answer.name or "")
        response = MetadataResponse(
            brokers=[MetadataResponseBroker(**node._asdict()) for node in nodes],
            cluster_id=self._cluster_id,
            controller_id=self._controller_id(nodes),
            topics=topics,
        )
        if cluster_operations is not None:
            response.cluster_authorized_operations = cluster_operations
        return response

    def _view(self, image: MetadataImage, nodes: list[Node], request: MetadataRequest, call: Call) -> _View:
        """What clients of this listener and version see; what was described for others before is described already."""
        if request.include_topic_authorized_operations:
            # These answers are for one asker.
            return _View(image, nodes, call.client.listener, call.version)
        manner = (call.client.listener, _manner(call.version))
        view = self._views.get(manner)
        if view is None or view.image.cluster is not image.cluster:
            view = self._views[manner] = _View(image, nodes, call.client.listener, call.version)
        view.follow(image)
        return view

    def _controller_id(self, nodes: list[Node]) -> int:
        """A broker to send to what is for the controller: each passes it on, so each names itself."""
        ids = [node.node_id for node in nodes]
        if self._node_id in ids:
            return self._node_id
        return ids[0] if ids else NO_CONTROLLER

    def _describe_asked(self, request: MetadataRequest, call: Call, view: _View) -> list[MetadataResponseTopic]:
        asked = request.topics or []
        for topic in asked:
            if call.version < TOPIC_IDS_SINCE and (topic.name is None or topic.topic_id != ZERO_UUID):
                raise InvalidRequest(f"version {call.version} of Metadata asks for topics by name")
        ids = dict.fromkeys(topic.topic_id for topic in asked if topic.topic_id != ZERO_UUID)
        if ids:
            return [view.describe_id(topic_id) for topic_id in ids]
        names = dict.fromkeys(topic.name for topic in asked if topic.name is not None)
        found = {name: view.image.topics.by_name(name) for name in names}
        answers = [view.describe(known) for known in found.values() if known is not None]
        missing = [name for name, known in found.items() if known is None]
        if missing:
            answers += self._answer_missing(missing, request, call)
        return answers

    def _answer_missing(
        self, names: list[str], request: MetadataRequest, call: Call
    ) -> Iterable[MetadataResponseTopic]:
        """Have topics made that are not there, if this is wanted; the client asks again to see them."""
        if self._create_topics is not None and request.allow_auto_topic_creation:
            codes = self._create_topics(names, call)
        else:
            codes = {name: _missing_code(name) for name in names}
        for name in names:
            yield MetadataResponseTopic(
                error_code=codes[name], name=name, is_internal=name in INTERNAL_TOPICS, partitions=[]
            )


class _View:
    """The topics of an image as clients of a listener see them, each described once for as long as it stays as it is.

    It is good for one state of the brokers. A cluster of thousands of partitions is asked for far more often than it
    changes, and most changes are to a few of its topics.
    """

    def __init__(self, image: MetadataImage, nodes: list[Node], listener: str, version: int) -> None:
        self.image = image
        self._alive = {node.node_id for node in nodes}
        self._listener = listener
        self._has_only_alive = version == 0
        self._no_listener = (
            ErrorCode.LISTENER_NOT_FOUND if version >= LISTENER_ERRORS_SINCE else ErrorCode.LEADER_NOT_AVAILABLE
        )
        self._described: dict[Uuid, tuple[Topic, MetadataResponseTopic]] = {}

    def follow(self, image: MetadataImage) -> None:
        """Look at a later image with the same brokers."""
        assert image.cluster is self.image.cluster, "what is described holds for these brokers only"
        self.image = image
        if len(self._described) > len(image.topics.by_id):
            self._described.clear()

    def describe_id(self, topic_id: Uuid) -> MetadataResponseTopic:
        topic = self.image.topics.by_id.get(topic_id)
        if topic is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id, partitions=[]
            )
        return self.describe(topic)

    def describe(self, topic: Topic) -> MetadataResponseTopic:
        known = self._described.get(topic.id)
        if known is not None and known[0] is topic:
            return known[1]
        answer = self._describe(topic)
        self._described[topic.id] = topic, answer
        return answer

    def _describe(self, topic: Topic) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            error_code=0,
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=[self._describe_partition(index, each) for index, each in topic.partitions.entries()],
        )

    def _describe_partition(self, index: int, partition: Partition) -> MetadataResponsePartition:
        replicas, isr = list(partition.replicas), list(partition.isr)
        if self._has_only_alive:
            replicas = [replica for replica in replicas if replica in self._alive]
            isr = [replica for replica in isr if replica in self._alive]
        error, leader = self._leader(partition)
        is_cut = len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr)
        if error is ErrorCode.NONE and is_cut:
            error = ErrorCode.REPLICA_NOT_AVAILABLE
        return MetadataResponsePartition(
            error_code=error,
            partition_index=index,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=offline_replicas(self.image, partition, self._alive),
        )

    def _leader(self, partition: Partition) -> tuple[ErrorCode, int]:
        """The leader, also one that is fenced: what counts is whether there is an address of it."""
        broker = self.image.cluster.brokers.get(partition.leader)
        if broker is None:
            return ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
        if self._listener not in broker.endpoints:
            return self._no_listener, NO_LEADER
        return ErrorCode.NONE, partition.leader


def _manner(version: int) -> int:
    """The first of the versions in which topics are described alike."""
    if version >= LISTENER_ERRORS_SINCE:
        return LISTENER_ERRORS_SINCE
    return min(version, 1)


def is_for_all(request: MetadataRequest, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def _missing_code(name: str) -> ErrorCode:
    try:
        check_topic_name(name)
    except InvalidTopic as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def refuse(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    """The response that every topic failed with this code, said on top where the version has a place there."""
    return MetadataResponse(
        brokers=[],
        topics=[
            MetadataResponseTopic(error_code=code, name=topic.name or "", topic_id=topic.topic_id, partitions=[])
            for topic in request.topics or []
        ],
        error_code=code,
    )

"""What classic consumers put into JoinGroup and are given by SyncGroup: subscriptions and assignments, by topic names.

Both begin with their version. A version that is not known yet is read as the newest one that is, since every version
only adds to the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Any, Final

from barnabas.coordinator.group.assignors.spec import Assignment
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.codec import decoder, encode
from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.protocol.uuid import Uuid

_VERSION: Final = Struct(">h")


class MalformedEmbeddedProtocol(ValueError):  # noqa: N818 (named for what is wrong)
    """Bytes that are no subscription or assignment of a consumer."""


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    subscription: ConsumerProtocolSubscription = _read(ConsumerProtocolSubscription, data)
    return subscription


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    assignment: ConsumerProtocolAssignment = _read(ConsumerProtocolAssignment, data)
    return assignment


def write_assignment(assignment: Assignment, like: bytes, image: MetadataImage) -> bytes:
    """An assignment in the version of the subscription that it answers; topics that are gone are left out."""
    topics = []
    for topic_id, partitions in assignment.items():
        topic = image.topics.by_id.get(topic_id)
        if topic is not None:
            topics.append(TopicPartition(topic=topic.name, partitions=sorted(partitions)))
    version = _known_version(ConsumerProtocolAssignment, like)
    return _VERSION.pack(version) + encode(ConsumerProtocolAssignment(assigned_partitions=topics), version)


def by_topic_id(topics: Iterable[Any], image: MetadataImage) -> Mapping[Uuid, frozenset[int]]:
    """Partitions by the ids of their topics, without those of topics that are gone."""
    found = {}
    for topic in topics:
        topic_id = image.topics.ids.get(topic.topic)
        if topic_id is not None:
            found[topic_id] = frozenset(topic.partitions)
    return found


def _read(message: type[Message], data: bytes) -> Any:
    version = _known_version(message, data)
    try:
        return decoder(message, version)(memoryview(data), _VERSION.size)[0]
    except (ProtocolError, StructError, IndexError) as error:
        raise MalformedEmbeddedProtocol(str(error)) from None


def _known_version(message: type[Message], data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise MalformedEmbeddedProtocol(f"{len(data)} bytes have no version")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise MalformedEmbeddedProtocol(f"no version {version}")
    return min(version, message.valid_versions.stop - 1)

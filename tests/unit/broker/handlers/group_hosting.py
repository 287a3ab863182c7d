"""A broker of the tests with a group coordinator, in virtual time; members of groups in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from barnabas.broker.handlers.coordinators import GROUPS_TOPIC
from barnabas.broker.handlers.groups import Groups
from barnabas.broker.handlers.groups_offsets import GroupOffsets
from barnabas.config.server_config import parse_server_config
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import Provenance
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.protocol.schema import Message
from barnabas.runtime.coordinator.groups import group_coordinator
from barnabas.sim.disk import SimDisk
from barnabas.sim.virtual_loop import VirtualClock, VirtualLoop
from barnabas.sim.world import World
from unit.broker.handlers.asking import serve
from unit.broker.hosting import NODE, Awaited, Hosting, topic_id

SETTINGS = {
    "process.roles": "broker",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "group.initial.rebalance.delay.ms": "0",
}


class GroupHosting(Hosting):
    """`world` is what its timers go by. The groups' topic is there from the start, in one partition."""

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        disk: SimDisk | None = None,
        replicas: Sequence[int] = (NODE,),
        partitions: int = 1,
    ) -> None:
        # Indexes of the usual size would fill the memory of a simulated disk with zeros.
        super().__init__(disk=disk, static_configs={"log.index.size.max.bytes": "4096"})
        self.world = World(1)
        self.clock = VirtualClock(self.world)
        loop = VirtualLoop(self.world, self.clock, crashed=lambda: None)  # type: ignore[abstract]  # Our code calls no more of it.
        config = parse_server_config({**SETTINGS, **(settings or {})})
        self.groups = group_coordinator(self.replicas, lambda: config, loop=loop, clock=self.clock, rng=Random(3))
        serve(self, Groups(self.groups), GroupOffsets(self.groups, lambda: self.image))
        self.create(GROUPS_TOPIC, replicas=replicas, partitions=partitions, configs={"cleanup.policy": "compact"})
        self.pass_time(0)

    def apply(self, *records: Message) -> None:
        delta = MetadataDelta(self.image)
        for record in records:
            delta.replay(record)
        image = delta.apply(Provenance())
        self.replicas.apply(delta, image, self.now_ms)
        self.groups.apply(delta, image)

    def pass_time(self, ms: int) -> None:
        """Let timers fire and requests run out of time, on either clock."""
        self.world.run(ms)
        self.now_ms += ms
        self.waiting_room.expire(self.clock.elapsed_ms())

    def told(self, outcome: Any) -> Any:
        """An answer that must be there by now."""
        if isinstance(outcome, Awaited):
            assert outcome.is_there, "the answer is still to come"
            return outcome.answer()
        return outcome

    # Members

    def join(self, member_id: str = "", version: int = 9, **fields: Any) -> Any:
        return self.ask(join_request(member_id, **fields), version)

    def join_alone(self, version: int = 9, **fields: Any) -> Any:
        """Become the only member of a group, whatever that takes in this version."""
        outcome = self.join(version=version, **fields)
        if version >= 4 and fields.get("group_instance_id") is None:
            outcome = self.join(self.told(outcome).member_id, version, **fields)
        self.pass_time(0)
        return self.told(outcome)

    def sync(self, joined: Any, assignments: Mapping[str, bytes], version: int = 5, group_id: str = "g") -> Any:
        return self.ask(
            SyncGroupRequest(
                group_id=group_id,
                generation_id=joined.generation_id,
                member_id=joined.member_id,
                protocol_type="consumer" if version >= 5 else None,
                protocol_name=(joined.protocol_name or "range") if version >= 5 else None,
                assignments=[
                    SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                    for member_id, assignment in assignments.items()
                ],
            ),
            version,
        )


def subscription(*topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics), user_data=None)
    return b"\0\0" + bytes(encode(body, 0))


def join_request(
    member_id: str = "",
    *,
    group_id: str = "g",
    protocols: Sequence[str] = ("range",),
    topics: Sequence[str] = ("t",),
    protocol_type: str = "consumer",
    session_timeout_ms: int = 10_000,
    rebalance_timeout_ms: int = 20_000,
    group_instance_id: str | None = None,
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=group_instance_id,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=subscription(*topics)) for name in protocols],
    )


def commit_request(
    offset: int,
    *,
    group_id: str = "g",
    topic: str = "t",
    partition: int = 0,
    generation: int = -1,
    member_id: str = "",
    leader_epoch: int = -1,
    metadata: str | None = None,
) -> OffsetCommitRequest:
    """A commit that names its topic in both ways, of which each version takes its own."""
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                topic_id=topic_id(topic),
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=leader_epoch,
                        committed_metadata=metadata,
                    )
                ],
            )
        ],
    )


def fetch_request(
    version: int,
    group_id: str = "g",
    topic: str | None = "t",
    partitions: Sequence[int] = (0,),
    *,
    require_stable: bool = False,
) -> OffsetFetchRequest:
    """A question for some partitions of a topic, or, without one, for all offsets of the group."""
    stable = version >= 7 and require_stable
    if version < 8:
        topics = None if topic is None else [OffsetFetchRequestTopic(name=topic, partition_indexes=list(partitions))]
        return OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=stable)
    named = None
    if topic is not None:
        named = [OffsetFetchRequestTopics(name=topic, topic_id=topic_id(topic), partition_indexes=list(partitions))]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=named)], require_stable=stable)


def fetched_offsets(answer: Any, version: int) -> dict[tuple[Any, int], tuple[int, int]]:
    """Offset and error by topic, as named in this version, and partition."""
    topics = answer.topics if version < 8 else answer.groups[0].topics
    return {
        (topic.topic_id if version >= 10 else topic.name, partition.partition_index): (
            partition.committed_offset,
            partition.error_code,
        )
        for topic in topics
        for partition in topic.partitions
    }

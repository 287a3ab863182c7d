"""Classic consumers in a consumer group, and groups of them alone, in few words."""

from __future__ import annotations

from typing import Any

from barnabas.coordinator.group.consumer.embedded import read_assignment, write_assignment
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from unit.coordinator.group.consumer.coordinated import GROUP, Coordinated, topic_id

SESSION_MS = 10_000
REBALANCE_MS = 30_000


class ClassicConsumer:
    """A cooperative consumer: it says what it owns when it joins, and gives up what it is not assigned."""

    def __init__(
        self,
        coordinated: Coordinated,
        *topics: str,
        protocols: tuple[str, ...] = ("range", "sticky"),
        instance: str | None = None,
        protocol_type: str = "consumer",
    ) -> None:
        self.member_id = ""
        self.generation = -1
        self.topics = topics
        self.protocols = protocols
        self.instance = instance
        self.protocol_type = protocol_type
        self.protocol_name: str | None = None
        self.reads: dict[str, list[int]] = {}
        self._coordinated = coordinated

    def subscription(self) -> bytes:
        owned = [TopicPartition(topic=topic, partitions=numbers) for topic, numbers in self.reads.items()]
        message = ConsumerProtocolSubscription(topics=list(self.topics), owned_partitions=owned)
        return b"\0\x01" + bytes(encode(message, 1))

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=self.subscription()) for name in self.protocols],
        )

    def join(self) -> Any:
        """Join at once, as one can a group that the coordinator assigns for."""
        answer = self._coordinated.ask(self.join_request())
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            answer = self._coordinated.ask(self.join_request())
        assert answer.error_code == ErrorCode.NONE, answer
        self.take(answer)
        return answer

    def take(self, answer: Any) -> None:
        self.member_id = answer.member_id
        self.generation = answer.generation_id
        self.protocol_name = answer.protocol_name

    def refused_join(self) -> ErrorCode:
        answer = self._coordinated.ask(self.join_request())
        assert answer.error_code != ErrorCode.NONE, answer
        return ErrorCode(answer.error_code)

    def sync_request(self, assignments: dict[str, bytes] | None = None) -> SyncGroupRequest:
        return SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type="consumer",
            protocol_name=self.protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in (assignments or {}).items()
            ],
        )

    def sync(self) -> None:
        answer = self._coordinated.ask(self.sync_request())
        assert answer.error_code == ErrorCode.NONE, answer
        topics = read_assignment(answer.assignment).assigned_partitions
        self.reads = {topic.topic: topic.partitions for topic in topics}

    def join_and_sync(self) -> None:
        self.join()
        self.sync()

    def beat(self) -> ErrorCode:
        answer = self._coordinated.ask(
            HeartbeatRequest(
                group_id=GROUP,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance,
            )
        )
        return ErrorCode(answer.error_code)

    def follow(self) -> None:
        """Send a heartbeat, and rebalance if that says so."""
        if self.beat() == ErrorCode.REBALANCE_IN_PROGRESS:
            self.join_and_sync()

    def leave(self) -> ErrorCode:
        answer = self._coordinated.ask(
            LeaveGroupRequest(
                group_id=GROUP, members=[MemberIdentity(member_id=self.member_id, group_instance_id=self.instance)]
            )
        )
        return ErrorCode(answer.members[0].error_code)

    @property
    def partitions(self) -> list[str]:
        return sorted(f"{topic}-{number}" for topic, numbers in self.reads.items() for number in numbers)


def form_classic_group(coordinated: Coordinated, *consumers: ClassicConsumer) -> None:
    """Let these be a classic group in which the first one leads and owns topic `a`."""
    asked = []
    for consumer in consumers:
        answer = coordinated.send(consumer.join_request())
        if consumer.instance is None:
            consumer.member_id = coordinated.answer(answer).member_id
            answer = coordinated.send(consumer.join_request())
        asked.append(answer)
    # The first rebalance waits for more members, and again for each.
    coordinated.advance(3_000 * (len(consumers) + 1))
    for consumer, answer in zip(consumers, asked, strict=True):
        consumer.take(coordinated.answer(answer))
    leader, *others = consumers
    followers = [coordinated.send(consumer.sync_request()) for consumer in others]
    everything = write_assignment({topic_id("a"): frozenset((0, 1))}, leader.subscription(), coordinated.image)
    coordinated.answer(coordinated.send(leader.sync_request({leader.member_id: everything})))
    leader.reads = {"a": [0, 1]}
    for answer in followers:
        coordinated.answer(answer)

"""A shard of the group coordinator in a test's hands: what it decides is carried out at once, on a clock of the test's.

Records are written and read back as bytes before they are replayed, and the shard can be loaded again from them.
"""

from __future__ import annotations

from random import Random
from typing import Any

from barnabas.coordinator.decision import CoordinatorRecord, Decision, SetTimer, TimerKey, Token
from barnabas.coordinator.events import (
    AppendFailed,
    Event,
    Loaded,
    MetadataChanged,
    RequestContext,
    RequestReceived,
    TimerFired,
)
from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.shard import GroupShard
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, Provenance
from barnabas.protocol.codec import decode, encode
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
)
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

GROUP = "g"
START_MS = 1_000_000

Assigned = dict[Uuid, set[int]]


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16, b"."))


class Coordinated:
    """`fails` makes the next appends fail."""

    def __init__(self, topics: dict[str, int] | None = None, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings()
        self.now_ms = START_MS
        self.log: list[CoordinatorRecord] = []
        self.image = EMPTY_IMAGE
        self.fails = False
        self.context = RequestContext(1, "client", "/127.0.0.1")
        self._answers: dict[Token, Any] = {}
        self._asked = 0
        self._change(*_topic_records(topics or {}))
        self.load()

    # The shard

    def load(self) -> None:
        """Begin anew with what the log says, as another broker does that takes the partition over."""
        self.shard = GroupShard(lambda: self.settings, Random(1))
        self.timers: dict[TimerKey, int] = {}
        for offset, record in enumerate(self.log):
            self.shard.replay(offset, -1, record.key, record.value)
        self._step(Loaded(self.image))

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The answer to a request; it has to come at once."""
        answer = self.send(request, version)
        assert answer in self._answers, f"no answer to {request}"
        return self.answer(answer)

    def send(self, request: Message, version: int | None = None) -> int:
        """Ask for something whose answer may come later."""
        if version is None:
            version = request.valid_versions[-1]
        self._asked += 1
        self._step(RequestReceived(self._asked, request, self.context._replace(version=version)))
        return self._asked

    def answer(self, asked: int) -> Any:
        return self._answers.pop(asked)

    def advance(self, delay_ms: int) -> None:
        """Let time pass, with the timers that fall due on the way."""
        end_ms = self.now_ms + delay_ms
        while self.timers and min(self.timers.values()) <= end_ms:
            key = min(self.timers, key=lambda key: (self.timers[key], key))
            self.now_ms = max(self.now_ms, self.timers.pop(key))
            self._step(TimerFired(key))
        self.now_ms = end_ms

    def _step(self, event: Event) -> None:
        decision = self.shard.step(event, self.now_ms)
        if decision.records and self.fails:
            for response in decision.responses:
                self._answers[response.token] = ErrorCode.NOT_ENOUGH_REPLICAS
            self._step(AppendFailed(decision.records, ErrorCode.COORDINATOR_NOT_AVAILABLE))
            return
        self._carry_out(decision)

    def _carry_out(self, decision: Decision) -> None:
        for record in decision.records:
            key = _through_bytes(record.key, 0)
            value = None if record.value is None else _through_bytes(record.value, record.value_version)
            self.shard.replay(len(self.log), -1, key, value)
            self.log.append(CoordinatorRecord(key, value, record.value_version))
        for timer in decision.timers:
            if isinstance(timer, SetTimer):
                self.timers[timer.key] = self.now_ms + timer.delay_ms
            else:
                self.timers.pop(timer.key, None)
        for response in decision.responses:
            assert response.token not in self._answers, "an answer is given once"
            self._answers[response.token] = response.response

    # The cluster

    def create_topics(self, **topics: int) -> None:
        self._tell(*_topic_records(topics))

    def delete_topic(self, name: str) -> None:
        self._tell(RemoveTopicRecord(topic_id=topic_id(name)))

    def configure_group(self, **configs: str) -> None:
        self._tell(
            *(
                ConfigRecord(resource_type=32, resource_name=GROUP, name=name.replace("_", "."), value=value)
                for name, value in configs.items()
            )
        )

    def _tell(self, *changes: Message) -> None:
        self._step(MetadataChanged(self._change(*changes), self.image))

    def _change(self, *changes: Message) -> MetadataDelta:
        delta = MetadataDelta(self.image)
        for change in changes:
            delta.replay(change)
        self.image = delta.apply(Provenance(self.image.provenance.last_contained_offset + len(changes), 1, 0))
        return delta

    # Its groups

    @property
    def group(self) -> ConsumerGroup:
        group = self.shard.state.groups.get(GROUP)
        assert isinstance(group, ConsumerGroup), f"{group} is no consumer group"
        return group

    def member(self, member_id: str, *topics: str, **more: Any) -> Consumer:
        """A consumer of the newer protocol that has not joined yet."""
        return Consumer(self, member_id, topics, **more)


class Consumer:
    """A member as a well-behaved client is one: it gives up what it is told to, and says what it reads."""

    def __init__(
        self,
        coordinated: Coordinated,
        member_id: str,
        topics: tuple[str, ...] = (),
        *,
        pattern: str | None = None,
        instance: str | None = None,
        assignor: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.epoch = 0
        self.topics: list[str] | None = list(topics)
        self.pattern = pattern
        self.instance = instance
        self.assignor = assignor
        self.reads: Assigned = {}
        self._coordinated = coordinated
        self._assigned: Assigned = {}

    def request(self, epoch: int | None = None, *, is_full: bool | None = None) -> ConsumerGroupHeartbeatRequest:
        epoch = self.epoch if epoch is None else epoch
        is_full = epoch == 0 if is_full is None else is_full
        reads = [
            RequestTopicPartitions(topic_id=topic, partitions=sorted(partitions))
            for topic, partitions in self.reads.items()
            if partitions
        ]
        return ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self.instance,
            rebalance_timeout_ms=60_000 if is_full else -1,
            subscribed_topic_names=self.topics if is_full else None,
            subscribed_topic_regex=self.pattern if is_full else None,
            server_assignor=self.assignor if is_full else None,
            topic_partitions=reads if epoch >= 0 else None,
        )

    def beat(self, *, is_full: bool | None = None) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat, which has to be accepted, and begin and stop to read as it says."""
        response: ConsumerGroupHeartbeatResponse = self._coordinated.ask(self.request(is_full=is_full))
        assert response.error_code == ErrorCode.NONE, response
        self.take(response)
        return response

    def take(self, response: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch = response.member_epoch
        if response.assignment is not None:
            self._assigned = {topic.topic_id: set(topic.partitions) for topic in response.assignment.topic_partitions}
            self.reads = {topic: set(partitions) for topic, partitions in self._assigned.items()}

    def refused(self, epoch: int | None = None, *, is_full: bool | None = None) -> ErrorCode:
        """The code by which a heartbeat is refused."""
        response = self._coordinated.ask(self.request(epoch, is_full=is_full))
        assert response.error_code != ErrorCode.NONE, response
        assert response.error_message, "a refusal says why"
        return ErrorCode(response.error_code)

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
        response: ConsumerGroupHeartbeatResponse = self._coordinated.ask(self.request(epoch))
        assert response.error_code == ErrorCode.NONE, response
        assert response.member_epoch == epoch
        return response

    @property
    def partitions(self) -> list[str]:
        """What it reads, as `topic-number`."""
        return sorted(
            f"{topic.rstrip(b'.').decode()}-{number}" for topic, numbers in self.reads.items() for number in numbers
        )


def _topic_records(topics: dict[str, int]) -> list[Message]:
    created: list[Message] = []
    for name, count in topics.items():
        created.append(TopicRecord(name=name, topic_id=topic_id(name)))
        created += [
            PartitionRecord(
                partition_id=number,
                topic_id=topic_id(name),
                replicas=[1],
                isr=[1],
                removing_replicas=[],
                adding_replicas=[],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
                directories=[Uuid(bytes(15) + b"\x01")],
            )
            for number in range(count)
        ]
    return created


def _through_bytes(message: Message, version: int) -> Message:
    return decode(type(message), version, encode(message, version))


def settle(coordinated: Coordinated, *members: Consumer) -> None:
    """Let everybody send heartbeats until all of them own what they are to own."""
    for _ in range(20):
        coordinated.advance(1_500)
        for member in members:
            member.beat()
        # Patterns are looked up right behind a heartbeat.
        coordinated.advance(0)
        if coordinated.group.state_name == "Stable":
            return
    raise AssertionError(f"{coordinated.group.state_name} after many heartbeats")

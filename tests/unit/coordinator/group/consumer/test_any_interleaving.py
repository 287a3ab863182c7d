"""Whatever members do, lose and miss, and whatever becomes of the coordinator, no partition is read by two of them.

Members come, go, change their minds, are slow to stop reading, miss answers and fall silent; the coordinator moves,
and cannot write for a while. When all of that is over, every partition has one reader, and all members agree.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.protocol.errors import ErrorCode
from unit.coordinator.group.consumer.coordinated import GROUP, Consumer, Coordinated, settle, topic_id

TOPICS = {"a": 3, "b": 2}
HAS_TO_REJOIN = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)

subscriptions = st.sampled_from([("a",), ("b",), ("a", "b"), ()])
indexes = st.integers(0, 20)


class SlowConsumer(Consumer):
    """Stops to read what it was told to give up only when it gets round to it."""

    is_unsure = False

    def take(self, response: Any) -> None:
        reads = self.reads
        super().take(response)
        if response.assignment is not None:
            for topic, partitions in reads.items():
                self.reads.setdefault(topic, set()).update(partitions)

    def stop_reading(self) -> None:
        self.reads = {topic: set(partitions) for topic, partitions in self._assigned.items()}

    def begin_again(self) -> None:
        self.epoch = 0
        self.reads = {}
        self._assigned = {}


class Interleaving(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.coordinated = Coordinated(dict(TOPICS))
        self.consumers: list[SlowConsumer] = []
        self.made = 0

    # Members

    @precondition(lambda self: len(self.consumers) < 4)
    @rule(topics=subscriptions, instance=st.sampled_from([None, None, "i", "j"]))
    def arrive(self, topics: tuple[str, ...], instance: str | None) -> None:
        self.made += 1
        consumer = SlowConsumer(self.coordinated, f"m-{self.made}", topics, instance=instance)
        self.consumers.append(consumer)
        self._beat(consumer)

    @precondition(lambda self: self.consumers)
    @rule(index=indexes)
    def beat(self, index: int) -> None:
        self._beat(self._pick(index))

    @precondition(lambda self: self.consumers)
    @rule(index=indexes)
    def stop_reading(self, index: int) -> None:
        self._pick(index).stop_reading()

    @precondition(lambda self: self.consumers)
    @rule(index=indexes)
    def miss_an_answer(self, index: int) -> None:
        consumer = self._pick(index)
        self.coordinated.ask(consumer.request())
        consumer.is_unsure = True

    @precondition(lambda self: self.consumers)
    @rule(index=indexes, topics=subscriptions)
    def subscribe_to_something_else(self, index: int, topics: tuple[str, ...]) -> None:
        consumer = self._pick(index)
        consumer.topics = list(topics)
        consumer.is_unsure = True
        self._beat(consumer)

    @precondition(lambda self: self.consumers)
    @rule(index=indexes, comes_back=st.booleans())
    def leave(self, index: int, comes_back: bool) -> None:
        consumer = self._pick(index)
        self.coordinated.ask(consumer.request(-2 if comes_back and consumer.instance else -1))
        self.consumers.remove(consumer)

    @precondition(lambda self: self.consumers)
    @rule(index=indexes)
    def die(self, index: int) -> None:
        self.consumers.remove(self._pick(index))

    def _pick(self, index: int) -> SlowConsumer:
        return self.consumers[index % len(self.consumers)]

    def _beat(self, consumer: SlowConsumer) -> None:
        response = self.coordinated.ask(consumer.request(is_full=consumer.is_unsure or consumer.epoch == 0))
        if isinstance(response, ErrorCode):
            consumer.is_unsure = True
        elif response.error_code == ErrorCode.NONE:
            consumer.is_unsure = False
            consumer.take(response)
        elif response.error_code in HAS_TO_REJOIN:
            consumer.begin_again()
        else:
            # Another has its instance.
            assert response.error_code in (ErrorCode.UNRELEASED_INSTANCE_ID, ErrorCode.FENCED_INSTANCE_ID), response
            self.consumers.remove(consumer)

    # The coordinator

    @rule(delay_ms=st.sampled_from([100, 2_000, 30_000, 50_000]))
    def pass_time(self, delay_ms: int) -> None:
        self.coordinated.advance(delay_ms)

    @rule(fails=st.booleans())
    def fill_or_empty_the_disk(self, fails: bool) -> None:
        self.coordinated.fails = fails

    @rule()
    def move(self) -> None:
        before = self._known()
        self.coordinated.load()
        assert self._known() == before, "what is loaded is what was there"

    def _known(self) -> object:
        group = self._group()
        if group is None:
            return None
        return group.members, group.target, group.epoch, group.assignment_epoch, group.metadata_hash, group.static_ids

    def _group(self) -> ConsumerGroup | None:
        group = self.coordinated.shard.state.groups.get(GROUP)
        return group if isinstance(group, ConsumerGroup) else None

    # What holds at all times

    @invariant()
    def nobody_reads_what_another_reads(self) -> None:
        group = self._group()
        # One that was fenced reads on until it learns of it; that is what its epoch is for.
        members = {} if group is None else group.members
        reading = [
            (topic, partition, consumer.member_id)
            for consumer in self.consumers
            if consumer.member_id in members and consumer.epoch > 0
            for topic, partitions in consumer.reads.items()
            for partition in partitions
        ]
        assert len({(topic, partition) for topic, partition, _ in reading}) == len(reading), reading

    @invariant()
    def nobody_owns_what_another_owns(self) -> None:
        group = self._group()
        owned = [
            (topic, partition)
            for member in ({} if group is None else group.members).values()
            for owned in (member.assigned, member.pending_revocation)
            for topic, partitions in owned.items()
            for partition in partitions
        ]
        assert len(set(owned)) == len(owned)

    def teardown(self) -> None:
        self.coordinated.fails = False
        # Whoever is gone is found out.
        self.coordinated.advance(500)
        for _ in range(3):
            self.coordinated.advance(20_000)
            for consumer in list(self.consumers):
                self._beat(consumer)
                consumer.stop_reading()
        if self.consumers:
            for consumer in self.consumers:
                consumer.is_unsure = False
                self._beat(consumer)
            settle(self.coordinated, *map(_Prompt, self.consumers))
            reads = [each.reads.items() for each in self.consumers]
            owned = sorted((topic, number) for read in reads for topic, numbers in read for number in numbers)
            subscribed = {name for consumer in self.consumers for name in consumer.topics or ()}
            assert owned == sorted((topic_id(name), number) for name in subscribed for number in range(TOPICS[name]))
            assert len(self.coordinated.group.members) == len(self.consumers)


class _Prompt(Consumer):
    """A consumer that does as it is told from now on."""

    def __init__(self, slow: SlowConsumer) -> None:
        self._slow = slow

    def beat(self, *, is_full: bool | None = None) -> Any:
        self._slow.stop_reading()
        answer = self._slow.beat(is_full=is_full)
        self._slow.stop_reading()
        return answer


TestInterleaving = Interleaving.TestCase
TestInterleaving.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

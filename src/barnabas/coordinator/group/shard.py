"""A shard of the group coordinator: the groups of one partition of `__consumer_offsets`.

It puts together what each kind of group brings: a request goes to the table of the group's own kind where that has it,
else to the one table that has it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.coordinator.decision import Decision
from barnabas.coordinator.events import AppendFailed, Event, Loaded, MetadataChanged, RequestReceived, TimerFired
from barnabas.coordinator.group import administration, offset_operations
from barnabas.coordinator.group.classic import members as classic_members
from barnabas.coordinator.group.classic import rebalancing as classic_rebalancing
from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.consumer import leaving as consumer_leaving
from barnabas.coordinator.group.consumer import replaying as consumer_replaying
from barnabas.coordinator.group.consumer import subscribing as consumer_subscribing
from barnabas.coordinator.group.consumer import tables as consumer_tables
from barnabas.coordinator.group.consumer.group import ConsumerGroup
from barnabas.coordinator.group.groups import GroupType
from barnabas.coordinator.group.refusals import REFUSALS, refusal
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.state import GroupState, Operations, Replays, Timers
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.group_records.legacy_offset_commit import LegacyOffsetCommitKey, LegacyOffsetCommitValue
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.schema import Message

# What any group is asked, and what groups of a kind are asked.
ANY_KIND: Final[Operations] = {**offset_operations.OPERATIONS, **administration.OPERATIONS}
BY_KIND: Final[Mapping[GroupType, Operations]] = {
    GroupType.CLASSIC: classic_members.OPERATIONS,
    GroupType.CONSUMER: consumer_tables.OPERATIONS,
}
ALL_KINDS: Final[Operations] = ChainMap(*map(dict, (ANY_KIND, *BY_KIND.values())))
REPLAYS: Final[Replays] = {**classic_members.REPLAYS, **consumer_replaying.REPLAYS}
TIMERS: Final[Timers] = {**offset_operations.TIMERS, **classic_rebalancing.TIMERS, **consumer_tables.TIMERS}


class GroupShard:
    """Keeps what `barnabas.coordinator.shard.Shard` asks of it."""

    def __init__(self, settings: Callable[[], GroupSettings], rng: Rng) -> None:
        self.state = GroupState(settings=settings, rng=rng)

    def step(self, event: Event, now_ms: int) -> Decision:
        if isinstance(event, RequestReceived):
            return self._answer(event, now_ms)
        decision = Decision(now_ms)
        if isinstance(event, TimerFired):
            TIMERS[event.key[0]](self.state, event.key, decision)
        elif isinstance(event, AppendFailed):
            classic_members.on_append_failed(self.state, event.records, event.code, decision)
            consumer_leaving.on_append_failed(self.state, event.records, decision)
        elif isinstance(event, Loaded):
            self._begin(event, decision)
        else:
            self._take_metadata(event, decision)
        return decision

    def _answer(self, event: RequestReceived, now_ms: int) -> Decision:
        decision = Decision(now_ms)
        kind = type(event.request)
        group = self.state.groups.get(getattr(event.request, "group_id", ""))
        own: Operations = {} if group is None else BY_KIND.get(group.type, {})
        operation = own.get(kind) or ALL_KINDS[kind]
        try:
            operation(self.state, event, decision)
        except ApiError as error:
            decision = Decision(now_ms)
            decision.respond(event.token, refusal(event.request, error))
        return decision

    def _begin(self, event: Loaded, decision: Decision) -> None:
        state = self.state
        state.image = event.image
        state.is_active = True
        state.new_topics_offset = event.image.provenance.last_contained_offset
        for group in state.groups:
            if isinstance(group, ClassicGroup):
                classic_members.on_loaded(state, group, decision)
            elif isinstance(group, ConsumerGroup):
                consumer_leaving.on_loaded(state, group, decision)
        decision.set_timer((offset_operations.EXPIRATION,), state.settings().offsets_retention_check_interval_ms)

    def _take_metadata(self, event: MetadataChanged, decision: Decision) -> None:
        self.state.image = event.image
        consumer_subscribing.on_metadata_changed(self.state, event.delta)
        offset_operations.forget_topics(self.state, event.delta.topics.deleted.values(), decision)

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        if isinstance(key, OffsetCommitKey):
            assert value is None or isinstance(value, OffsetCommitValue), "keys and values come in pairs"
            self._replay_offset(offset, producer_id, key, value)
        elif isinstance(key, LegacyOffsetCommitKey):
            assert value is None or isinstance(value, LegacyOffsetCommitValue), "keys and values come in pairs"
            self._replay_offset(offset, producer_id, *_modern(key, value))
        elif type(key) in REPLAYS:
            REPLAYS[type(key)](self.state, key, value)

    def _replay_offset(
        self, offset: int, producer_id: int, key: OffsetCommitKey, value: OffsetCommitValue | None
    ) -> None:
        self.state.offsets.replay(offset, producer_id, key, value)
        if value is not None and self.state.groups.get(key.group) is None:
            # One who commits without ever joining makes a group all the same.
            self.state.groups.put(ClassicGroup(key.group))

    def replay_end_of_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        self.state.offsets.replay_end_of_transaction(producer_id, is_commit=is_commit)

    def refuse(self, request: Message, code: ErrorCode) -> Message:
        return REFUSALS[type(request)](request, code)


def _modern(
    key: LegacyOffsetCommitKey, value: LegacyOffsetCommitValue | None
) -> tuple[OffsetCommitKey, OffsetCommitValue | None]:
    """A commit of the oldest form as one of today's."""
    modern = OffsetCommitKey(group=key.group, topic=key.topic, partition=key.partition)
    if value is None:
        return modern, None
    return modern, OffsetCommitValue(
        offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp
    )

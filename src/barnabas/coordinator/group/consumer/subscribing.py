"""What happens when a member says what it reads: the group's epoch rises, and patterns are looked up in the topics.

Patterns are not looked up in the answer to a heartbeat but after it, some topics at a time, since there may be many of
them, and all of a group's patterns together. The member learns at a later heartbeat what came of it. They are looked
up again when there are new topics, and from time to time, since the member who asks may be permitted to see more or
less by then.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.coordinator.decision import Decision, TimerKey
from barnabas.coordinator.events import RequestContext
from barnabas.coordinator.group.consumer import records, timers
from barnabas.coordinator.group.consumer.group import AT_ONCE, ConsumerGroup, Refresh
from barnabas.coordinator.group.consumer.members import ConsumerMember
from barnabas.coordinator.group.consumer.patterns import NOT_RESOLVED, PatternLookup, ResolvedPattern, check_pattern
from barnabas.coordinator.group.state import GroupState
from barnabas.metadata.delta import MetadataDelta

# Topics tell when they change; that they do not is believed for as long as Apache's broker believes it.
METADATA_REFRESH_INTERVAL_MS: Final = 2**31 - 1
PATTERN_REFRESH_INTERVAL_MIN_MS: Final = 10_000


class Subscribed(NamedTuple):
    """The group's epoch with the member's subscription, and whether that has changed."""

    epoch: int
    has_changed: bool


def subscribe(
    state: GroupState,
    group: ConsumerGroup,
    was: ConsumerMember,
    now: ConsumerMember,
    context: RequestContext,
    decision: Decision,
) -> Subscribed:
    """Write what a member has changed about itself, and what follows from it for its group."""
    if now != was:
        records.write_member(group.group_id, now, decision)
    has_other_names = now.topic_names != was.topic_names
    has_other_pattern = now.topic_pattern != was.topic_pattern
    is_unknown = has_other_pattern and _change_pattern(group, was, now, decision)
    _ask_for_patterns(state, group, now, context, decision, is_unknown=is_unknown)
    is_assigned_anew = has_other_names or (has_other_pattern and _is_resolved(group, now))
    epoch = group.epoch
    if is_assigned_anew or group.needs_refresh(decision.now_ms):
        topics = group.topics_of_all(group.members_with(now).values())
        metadata_hash = state.topic_hashes.of(topics, state.image)
        if is_assigned_anew or metadata_hash != group.metadata_hash:
            epoch += 1
            records.write_epoch(group.group_id, epoch, metadata_hash, decision)
        group.refresh = Refresh(decision.now_ms + METADATA_REFRESH_INTERVAL_MS, epoch)
        if group.has_partition_metadata:
            records.delete_partition_metadata(group.group_id, decision)
    return Subscribed(epoch, has_other_names or has_other_pattern)


def forget_patterns(group: ConsumerGroup, leaving: list[ConsumerMember], decision: Decision) -> None:
    """Delete the patterns that only these members use."""
    in_use = group.pattern_counts(group.members.values())
    for pattern, count in group.pattern_counts(leaving).items():
        if count == in_use[pattern]:
            records.delete_pattern(group.group_id, pattern, decision)


def _change_pattern(group: ConsumerGroup, was: ConsumerMember, now: ConsumerMember, decision: Decision) -> bool:
    """Whether nobody in the group uses the pattern yet; it is refused here if it cannot be read."""
    in_use = group.pattern_counts(group.members.values())
    is_unknown = bool(now.topic_pattern) and not in_use[now.topic_pattern]
    if is_unknown:
        check_pattern(now.topic_pattern)
    if was.topic_pattern and in_use[was.topic_pattern] == 1:
        records.delete_pattern(group.group_id, was.topic_pattern, decision)
    return is_unknown


def _is_resolved(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether it is known what the member reads; otherwise the group's epoch rises when it is."""
    return not member.topic_pattern or member.topic_pattern in group.patterns


def _ask_for_patterns(
    state: GroupState,
    group: ConsumerGroup,
    now: ConsumerMember,
    context: RequestContext,
    decision: Decision,
    *,
    is_unknown: bool,
) -> None:
    """Have the group's patterns looked up if that is due."""
    if not now.topic_pattern and not group.patterns:
        return
    if group.group_id in state.pattern_lookups:
        return
    in_use = group.pattern_counts(group.members_with(now).values())
    last = next(iter(group.patterns.values()), None)
    if not in_use or (last and decision.now_ms <= last.timestamp_ms + PATTERN_REFRESH_INTERVAL_MIN_MS):
        return
    interval_ms = state.settings().consumer.pattern_refresh_interval_ms
    if (
        is_unknown
        or last is None
        or in_use.keys() != group.patterns.keys()
        or last.metadata_offset < state.new_topics_offset
        or decision.now_ms > last.timestamp_ms + interval_ms
    ):
        state.pattern_lookups[group.group_id] = PatternLookup(in_use, state.image, context.may_describe)
        decision.set_timer((timers.PATTERNS, group.group_id), 0)


def resolve_patterns(state: GroupState, key: TimerKey, decision: Decision) -> None:
    """Go on with the look-up for a group, and write what came of it at its end."""
    group = state.groups.get(key[1])
    lookup = state.pattern_lookups.get(key[1])
    if lookup is not None and isinstance(group, ConsumerGroup) and lookup.go_on():
        decision.set_timer(key, 0)
        return
    state.pattern_lookups.pop(key[1], None)
    if lookup is not None and isinstance(group, ConsumerGroup):
        _write_resolved(state, group, lookup, decision)


def _write_resolved(state: GroupState, group: ConsumerGroup, lookup: PatternLookup, decision: Decision) -> None:
    matched = {pattern: resolved.topics for pattern, resolved in group.patterns.items()}
    # Patterns that nobody has any longer are left out; those that came meanwhile have their turn at the next look-up.
    in_use = group.pattern_counts(group.members.values())
    for pattern in in_use.keys() & lookup.matched.keys():
        topics = frozenset(lookup.matched[pattern])
        matched[pattern] = topics
        resolved = ResolvedPattern(topics, lookup.metadata_offset, decision.now_ms)
        records.write_pattern(group.group_id, pattern, resolved, decision)
    has_changed = any(topics != group.patterns.get(pattern, NOT_RESOLVED).topics for pattern, topics in matched.items())
    named = (member.topic_names for member in group.members.values())
    subscribed = frozenset[str]().union(*named, *(matched.get(pattern, ()) for pattern in in_use))
    metadata_hash = state.topic_hashes.of(subscribed, state.image)
    if has_changed or metadata_hash != group.metadata_hash:
        epoch = group.epoch + 1
        records.write_epoch(group.group_id, epoch, metadata_hash, decision)
        group.refresh = Refresh(decision.now_ms + METADATA_REFRESH_INTERVAL_MS, epoch)


def on_metadata_changed(state: GroupState, delta: MetadataDelta) -> None:
    """Have groups look at their topics again where these have changed. `state.image` is the new one."""
    changed = {topic.base.name for topic in delta.topics.changed.values()}
    deleted = {topic.name for topic in delta.topics.deleted.values()}
    if not changed and not deleted:
        return
    if any(topic.is_new for topic in delta.topics.changed.values()):
        state.new_topics_offset = state.image.provenance.last_contained_offset
    state.topic_hashes.forget(deleted)
    for group in state.groups:
        if isinstance(group, ConsumerGroup) and any(map(group.is_subscribed_to, changed | deleted)):
            group.refresh = AT_ONCE

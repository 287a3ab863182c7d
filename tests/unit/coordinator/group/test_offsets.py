"""Committed offsets against the obvious model: of two commits for one partition the later record counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from barnabas.coordinator.group.offsets import Offsets
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.records.batch import NO_PRODUCER_ID
from unit.coordinator.group.offset_records import commit_value

PLACES = [(group, topic, partition) for group in "gh" for topic in "tu" for partition in (0, 1)]

commits = st.tuples(st.just("commit"), st.sampled_from(PLACES), st.sampled_from([NO_PRODUCER_ID, 1, 2]))
tombstones = st.tuples(st.just("delete"), st.sampled_from(PLACES), st.just(NO_PRODUCER_ID))
ends = st.tuples(st.just("end"), st.booleans(), st.sampled_from([1, 2]))


@dataclass
class Model:
    """All commits that count or may still, each with the offset of its record as the offset that it commits."""

    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    pending: list[tuple[int, tuple[str, str, int], int]] = field(default_factory=list)


@given(st.lists(st.one_of(commits, tombstones, ends), max_size=40))
def test_offsets_are_what_the_records_say(history: list[tuple[str, object, int]]) -> None:
    offsets, model = Offsets(), Model()
    for record_offset, (what, subject, producer_id) in enumerate(history):
        if what == "end":
            offsets.replay_end_of_transaction(producer_id, is_commit=bool(subject))
            for producer, waiting, offset in model.pending:
                if producer == producer_id and subject and offset > model.committed.get(waiting, -1):
                    model.committed[waiting] = offset
            model.pending = [each for each in model.pending if each[0] != producer_id]
            continue
        place = subject
        assert isinstance(place, tuple)
        key = OffsetCommitKey(group=place[0], topic=place[1], partition=place[2])
        value: OffsetCommitValue | None = None
        if what == "delete":
            model.committed.pop(place, None)
            model.pending = [each for each in model.pending if each[1] != place]
        else:
            value = commit_value(record_offset)
            if producer_id == NO_PRODUCER_ID:
                model.committed[place] = record_offset
            else:
                model.pending.append((producer_id, place, record_offset))
        offsets.replay(record_offset, producer_id, key, value)
    for place in PLACES:
        committed = offsets.get(*place)
        assert (None if committed is None else committed.offset) == model.committed.get(place)
        assert offsets.has_pending(*place) == any(each[1] == place for each in model.pending)
    for group in "gh":
        found = {(group, topic, partition) for topic, by in offsets.of_group(group).items() for partition in by}
        assert found == {place for place in model.committed if place[0] == group}
        assert set(offsets.pending_places(group)) == {each[1] for each in model.pending if each[1][0] == group}

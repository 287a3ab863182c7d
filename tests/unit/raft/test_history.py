"""Values by offset, against a plain list; and the voters that a truncation brings back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.raft.history import LogHistory, QuorumChange, QuorumHistory
from barnabas.raft.voters import VoterSet
from unit.raft.driven import voter

offsets = st.lists(st.integers(-1, 30), unique=True, max_size=8).map(sorted)


def history_of(at: list[int]) -> LogHistory[str]:
    history: LogHistory[str] = LogHistory()
    for offset in at:
        history.add(offset, str(offset))
    return history


@given(offsets, st.integers(-1, 31))
def test_the_value_at_an_offset_is_the_last_one_set_up_to_it(at: list[int], offset: int) -> None:
    set_before = [str(each) for each in at if each <= offset]
    assert history_of(at).at(offset) == (set_before[-1] if set_before else None)


@given(offsets, st.integers(-1, 31), st.integers(-1, 31))
def test_truncation_forgets_what_was_set_from_there_on(at: list[int], end: int, offset: int) -> None:
    history = history_of(at)
    history.truncate_to(end)
    kept = history_of([each for each in at if each < end])
    assert history.at(offset) == kept.at(offset)
    assert history.last_offset == kept.last_offset


@given(offsets, st.integers(-1, 31), st.integers(0, 31))
def test_forgetting_the_past_changes_nothing_from_there_on(at: list[int], start: int, further: int) -> None:
    history = history_of(at)
    history.forget_before(start)
    assert history.at(start + further) == history_of(at).at(start + further)
    assert len(history) <= 1 + len([each for each in at if each > start])


def test_a_value_cannot_be_set_in_the_past() -> None:
    history = history_of([3])
    with pytest.raises(ValueError):
        history.add(3, "again")
    with pytest.raises(ValueError):
        history_of([]).add(-2, "before everything")


def test_configured_voters_lie_beneath_those_of_the_log() -> None:
    static, logged = VoterSet.of([voter(1)]), VoterSet.of([voter(1), voter(2)])
    history = QuorumHistory(static)
    assert (history.voters, history.voters_offset) == (static, None)
    history.apply(QuorumChange(5, kraft_version=1))
    history.apply(QuorumChange(6, voters=logged))
    assert (history.voters, history.voters_offset, history.is_dynamic) == (logged, 6, True)
    history.truncate_to(6)
    assert (history.voters, history.is_dynamic) == (static, True)
    history.truncate_to(5)
    assert not history.is_dynamic

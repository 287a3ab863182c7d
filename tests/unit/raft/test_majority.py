"""The arithmetic of a quorum, against counting."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.raft.majority import majority_size, offset_of_majority

offsets = st.lists(st.none() | st.integers(0, 8), min_size=1, max_size=7)


def test_any_two_majorities_share_a_voter() -> None:
    for voters in range(1, 8):
        size = majority_size(voters)
        groups = [set(group) for group in combinations(range(voters), size)]
        assert all(one & other for one in groups for other in groups)
        assert size == 1 or 2 * (size - 1) <= voters, "one fewer would not always overlap"


@given(offsets)
def test_the_offset_of_a_majority_is_the_largest_that_enough_voters_have_reached(ends: list[int | None]) -> None:
    def reached(offset: int) -> int:
        return sum(end is not None and end >= offset for end in ends)

    candidates = [offset for offset in range(9) if reached(offset) >= majority_size(len(ends))]
    assert offset_of_majority(ends) == max(candidates, default=None)


def test_without_voters_nothing_is_reached() -> None:
    assert offset_of_majority([]) is None

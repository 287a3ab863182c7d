"""The arithmetic of a quorum: how many make a majority, and which offset a majority has reached."""

from __future__ import annotations

from collections.abc import Iterable


def majority_size(voters: int) -> int:
    """The least number of voters of which any two groups share a member."""
    return voters // 2 + 1


def offset_of_majority(end_offsets: Iterable[int | None]) -> int | None:
    """The largest offset that a majority of the voters has reached; None counts as a voter that has not been heard of.

    With no voters at all nobody has reached anything.
    """
    ranked = sorted(end_offsets, key=lambda offset: -1 if offset is None else offset, reverse=True)
    return ranked[majority_size(len(ranked)) - 1] if ranked else None

"""The producer ids that this broker may give out, in blocks from the controller, the next before it is needed.

Nothing here asks: `is_wanted` says that a block should be fetched, and `add` takes in the one that came.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# A further block is fetched when the last one's size is this many times what is left.
SIZE_OVER_LEFT: Final = 10
LAST_ID: Final = 2**63 - 1


class BadBlock(ValueError):  # noqa: N818 (says what it is)
    """A block of ids that overlaps what was given before, or is none."""


class ProducerIds:
    def __init__(self) -> None:
        self._blocks: deque[range] = deque()
        self._last_id = -1
        self._size = 0

    @property
    def is_wanted(self) -> bool:
        """Whether what is left may not last until another block has come."""
        return len(self._blocks) < 2 and self._left * SIZE_OVER_LEFT <= self._size

    @property
    def _left(self) -> int:
        return sum(map(len, self._blocks))

    def take(self) -> int | None:
        """An id that nobody else has; None while there is none."""
        if not self._blocks:
            return None
        block = self._blocks.popleft()
        if len(block) > 1:
            self._blocks.appendleft(block[1:])
        return block[0]

    def add(self, start: int, length: int) -> None:
        if start <= self._last_id or length <= 0 or start > LAST_ID - length:
            raise BadBlock(f"{length} producer ids from {start}, where ids up to {self._last_id} are given already")
        self._blocks.append(range(start, start + length))
        self._last_id = start + length - 1
        self._size = length

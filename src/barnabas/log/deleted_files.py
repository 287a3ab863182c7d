"""Files that were renamed to `.deleted` and wait for the readers that may still have them open.

A segment's files stay open until they are due, so a region that was handed out can be sent meanwhile. They are let go
where the log lives; what is left to do then, removing names, may be done in any thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from barnabas.log.segment import LogSegment
from barnabas.ports.disk import Disk


class DeletedFiles:
    """In the order of their dates, which is the order in which they come as long as the delay is not shortened."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, LogSegment | str]] = deque()

    @property
    def due_ms(self) -> int | None:
        """When the next file is due; None where none waits."""
        return self._waiting[0][0] if self._waiting else None

    def add(self, item: LogSegment | str, due_ms: int) -> None:
        """Take a segment, or the path of a producer snapshot, that has its `.deleted` name already."""
        self._waiting.append((due_ms, item))

    def take_due(self, now_ms: int) -> list[str]:
        """Let go of the files that are due; their paths, which nobody needs any more."""
        paths: list[str] = []
        while self._waiting and self._waiting[0][0] <= now_ms:
            _, item = self._waiting.popleft()
            if isinstance(item, LogSegment):
                item.release()
                paths += item.paths
            else:
                paths.append(item)
        return paths

    def release(self) -> None:
        """Let go of the files and leave them on the disk: they are removed when the log is opened."""
        for _, item in self._waiting:
            if isinstance(item, LogSegment):
                item.release()
        self._waiting.clear()

    def move_to(self, directory: str) -> None:
        """The directory was renamed; the files went along."""
        moved: deque[tuple[int, LogSegment | str]] = deque()
        for due_ms, item in self._waiting:
            if isinstance(item, LogSegment):
                item.move_to(directory)
                moved.append((due_ms, item))
            else:
                moved.append((due_ms, f"{directory}/{item.rpartition('/')[2]}"))
        self._waiting = moved


def remove_files(disk: Disk, paths: Iterable[str]) -> None:
    """Remove what is there of these files: a directory that was renamed or deleted meanwhile took them along."""
    for path in paths:
        with suppress(FileNotFoundError):
            disk.remove(path)

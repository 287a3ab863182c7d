"""What has to be flushed so that a log is durable up to an offset.

It is gathered where the log lives and may be run in another thread while the log goes on; the log is told afterwards.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from barnabas.ports.disk import Disk


class Flushable(Protocol):
    def flush(self) -> None: ...


class Flush(NamedTuple):
    """Flush the files in this order, then the directory; the log must not be closed meanwhile."""

    offset: int  # Everything below it is durable after `run`.
    truncations: int  # How often the log had been cut before.
    disk: Disk
    snapshots: list[str]
    files: list[Flushable]
    directory: str | None  # None where no name in it has changed.

    def run(self) -> None:
        for path in self.snapshots:
            self._flush_snapshot(path)
        for file in self.files:
            file.flush()
        if self.directory is not None:
            self.disk.flush_directory(self.directory)

    def _flush_snapshot(self, path: str) -> None:
        try:
            file = self.disk.open(path)
        except FileNotFoundError:  # It was deleted with its segment since.
            return
        file.flush()
        file.close()

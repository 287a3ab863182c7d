"""What has to be flushed so that a log is durable up to an offset.

It is gathered where the log lives and may be run in another thread while the log goes on; the log is told afterwards.
"""

from __future__ import annotations

import errno
from contextlib import suppress
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
        """Make it durable; an OSError says that nobody knows any more what is, and is never that of a full disk.

        What an append has no room for can be sent again, but what is flushed here was acknowledged already.
        """
        try:
            for path in self.snapshots:
                self._flush_snapshot(path)
            for file in self.files:
                file.flush()
            if self.directory is not None:
                with suppress(FileNotFoundError):  # The log was renamed since, as one to be deleted is.
                    self.disk.flush_directory(self.directory)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(errno.EIO, f"flush failed: {error}") from error

    def _flush_snapshot(self, path: str) -> None:
        try:
            file = self.disk.open(path)
        except FileNotFoundError:  # It was deleted with its segment since, or has another path.
            return
        file.flush()
        file.close()

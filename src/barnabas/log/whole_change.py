"""Changes of several files of a log, which are done as a whole or end the service of the log's directory.

A full disk is forgiven elsewhere, because what it refused has changed nothing. Halfway through such a change the log in
memory is no longer the one on the disk, and only opening it again brings the two together.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole_change() -> Iterator[None]:
    """Let a full disk count as a failed one. Used as a decorator of what makes the change."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise OSError(errno.EIO, f"no room for the rest of a change: {error}") from error
        raise

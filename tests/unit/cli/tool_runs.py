"""A tool's run on a command line typed as one text: its exit status and what it printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import NamedTuple, TextIO


class Said(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The first line on the error stream."""
        return self.err.partition("\n")[0]


def call(run: Callable[[Sequence[str], TextIO, TextIO], int], arguments: str) -> Said:
    """A blank inside a word is typed as a tilde."""
    out, err = StringIO(), StringIO()
    status = run([word.replace("~", " ") for word in arguments.split()], out, err)
    return Said(status, out.getvalue(), err.getvalue())

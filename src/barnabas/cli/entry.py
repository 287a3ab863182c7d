"""How a tool is run from the shell: on its words and standard streams, with an output that may be closed on it.

A reader such as `head -1` that has enough must not cut short what a tool does, nor make it complain. What is written
from then on is dropped, as Java drops it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

Run = Callable[[Sequence[str], TextIO, TextIO], int]


class _Output(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def open_output(descriptor: int, *, encoding: str = "utf-8", flushes_lines: bool = False) -> TextIO:
    raw = io.BufferedWriter(_Output(descriptor, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding=encoding, line_buffering=flushes_lines)


def start(run: Run) -> NoReturn:
    """End the process with the exit status of a tool."""
    stdout = sys.stdout
    out = open_output(stdout.fileno(), encoding=stdout.encoding, flushes_lines=stdout.isatty())
    status = run(sys.argv[1:], out, sys.stderr)
    out.flush()
    sys.exit(status)

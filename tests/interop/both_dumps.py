"""The same dump by Apache's kafka-dump-log and by ours, compared to the letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from barnabas.cli.dump_log import run
from interop.referee import ToolOutput, Tools


class BothDumps:
    """Runs a dump on either side and compares all that they say."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def assert_alike(self, calls: Iterable[Sequence[Path]], flags: list[str]) -> list[ToolOutput]:
        """One call for each sequence of files; what both of them said."""
        said = []
        for files in calls:
            args = ["--files", ",".join(map(str, files)), *flags]
            theirs = self._tools.dump_log(*args)
            out, err = StringIO(), StringIO()
            status = run(args, out, err)
            assert out.getvalue().splitlines() == theirs.out.splitlines(), args
            assert status == theirs.status, args
            # An exception's text is Apache's own; ours says the same in its words.
            if status == 0:
                assert by_file(err.getvalue()) == by_file(theirs.err), args
            said.append(theirs)
        assert said
        return said


def by_file(findings: str) -> list[str]:
    """What was found, file by file. Apache's order of several files is that of a hash table."""
    heads = r"^(?=Mismatches|Found|The following|Non-consecutive)"
    return sorted(re.split(heads, findings, flags=re.MULTILINE))

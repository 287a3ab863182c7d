"""What does not fit together between the files that were dumped, told behind them all.

Kinds of findings come in a fixed order, files in the order in which they were dumped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from os.path import abspath
from typing import TextIO

Pairs = dict[str, list[tuple[int, int]]]


@dataclass(frozen=True)
class Findings:
    """Pairs of numbers by file; of offset pairs only the last one counts where the first number comes again."""

    index_mismatches: Pairs = field(default_factory=dict)
    timestamp_mismatches: Pairs = field(default_factory=dict)
    timestamps_out_of_order: Pairs = field(default_factory=dict)
    offsets_not_found: Pairs = field(default_factory=dict)
    offset_gaps: Pairs = field(default_factory=dict)

    def print(self, to: TextIO) -> None:
        _print(
            to,
            self.index_mismatches,
            "Mismatches in :{}",
            "  Index offset: {}, log offset: {}",
            lambda pairs: sorted(dict(pairs).items(), reverse=True),
        )
        _print(
            to,
            self.timestamp_mismatches,
            "Found timestamp mismatch in :{}",
            "  Index timestamp: {}, log timestamp: {}",
        )
        _print(
            to,
            self.timestamps_out_of_order,
            "Found out of order timestamp in :{}",
            "  Index timestamp: {}, Previously indexed timestamp: {}",
        )
        _print(
            to,
            self.offsets_not_found,
            "The following indexed offsets are not found in :{}",
            "Indexed offset: {}, found log offset: {}",
        )
        _print(
            to,
            self.offset_gaps,
            "Non-consecutive offsets in {}",
            "  {} is followed by {}",
            lambda pairs: sorted(dict(pairs).items()),
        )


def note(pairs: Pairs, path: str, first: int, second: int) -> None:
    pairs.setdefault(abspath(path), []).append((first, second))


def _print(
    to: TextIO,
    found: Pairs,
    head: str,
    line: str,
    arrange: Callable[[list[tuple[int, int]]], Iterable[tuple[int, int]]] = iter,
) -> None:
    for path, pairs in found.items():
        print(head.format(path), file=to)
        for first, second in arrange(pairs):
            print(line.format(first, second), file=to)

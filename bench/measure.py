"""Times two ways of doing the same work in turns, and prints what came of it as a table of ratios.

The machine is shared and noisy, so a figure alone says little: the two sides alternate round by round, each is
represented by its median round, and the ratio between them is what travels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Row:
    """`ours` and `peer` in `unit`; `ratio` is how much faster ours is, and `wanted` the least it should be."""

    work: str
    peer_name: str
    peer: float
    ours: float
    unit: str
    ratio: float
    wanted: float | None = None


def compare(
    work: str,
    *,
    ours: Work,
    peer: Work,
    peer_name: str,
    wanted: float | None = None,
    times: int = 1,
    rounds: int = 9,
    bytes_each: int | None = None,
) -> Row:
    """Time `times` calls of each side, in turns. With `bytes_each` the unit is MB/s, else µs for a call."""
    ours_s, peer_s = [], []
    for _ in range(rounds):
        peer_s.append(_seconds(peer, times))
        ours_s.append(_seconds(ours, times))
    return row(work, median(ours_s) / times, median(peer_s) / times, peer_name, wanted, bytes_each)


def row(
    work: str, ours_s: float, peer_s: float, peer_name: str, wanted: float | None = None, bytes_each: int | None = None
) -> Row:
    """A row from the seconds that one piece of the work took on each side."""
    if bytes_each is None:
        return Row(work, peer_name, peer_s * 1e6, ours_s * 1e6, "µs", peer_s / ours_s, wanted)
    return Row(work, peer_name, bytes_each / peer_s / 1e6, bytes_each / ours_s / 1e6, "MB/s", peer_s / ours_s, wanted)


def _seconds(work: Work, times: int) -> float:
    begin = perf_counter()
    for _ in range(times):
        work()
    return perf_counter() - begin


def print_table(title: str, rows: Sequence[Row]) -> None:
    print(f"\n{title}")
    header = ("work", "beside", "its figure", "ours", "ratio", "wanted")
    cells = [
        (
            row.work,
            row.peer_name,
            f"{row.peer:,.2f} {row.unit}",
            f"{row.ours:,.2f} {row.unit}",
            f"{row.ratio:.2f}",
            "" if row.wanted is None else f"≥ {row.wanted:.2f}{'' if row.ratio >= row.wanted else '  MISSED'}",
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in [header, *cells]) for column in range(len(header))]
    for line in [header, tuple("-" * width for width in widths), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

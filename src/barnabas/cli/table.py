"""Tables as Kafka's tools print them: every column as wide as its widest cell, with a tab behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], out: TextIO) -> None:
    table = [headers, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("".join(f"{cell:{width}}\t" for cell, width in zip(row, widths, strict=True)), file=out)

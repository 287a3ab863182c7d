"""What the producer test sends: random letters, lines of a file in random order, or the number of the record."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError

_SEED: Final = 0  # Runs are alike, so that they can be compared.
_LETTERS: Final = bytes(ord("A") + byte % 26 for byte in range(256))


def random_letters(size_bytes: int) -> Iterator[bytes]:
    draw = random.Random(_SEED).randbytes
    while True:
        yield draw(size_bytes).translate(_LETTERS)


def record_numbers() -> Iterator[bytes]:
    for number in count():
        yield b"%d" % number


def chosen_from(payloads: list[bytes]) -> Iterator[bytes]:
    choose = random.Random(_SEED).choice
    while True:
        yield choose(payloads)


def read_payloads(path: Path, delimiter: str, out: TextIO) -> list[bytes]:
    """The parts of a text file between the matches of the delimiter, a regular expression; none at its very ends."""
    print(f"Reading payloads from: {path.absolute()}", file=out)
    if not path.exists() or path.stat().st_size == 0:
        raise ToolError("File does not exist or empty file provided.")
    parts = re.split(delimiter, path.read_text("utf-8", "replace"))
    payloads = [part.encode() for part in parts[0 if parts[0] else 1 : None if parts[-1] else -1]]
    print(f"Number of records read: {len(payloads)}", file=out)
    return payloads

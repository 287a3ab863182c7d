"""Numbers of the performance tools as Java reads, divides and prints them."""

from __future__ import annotations

import argparse
import math
import re
from typing import Final

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def ratio(part: float, whole: float) -> float:
    """A quotient that may be no number: what Java makes of a division by zero."""
    if whole != 0:
        return part / whole
    return math.nan if part == 0 else math.copysign(math.inf, part)


def decimal(value: float, places: int) -> str:
    if math.isfinite(value):
        return f"{value:.{places}f}"
    return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"


def long_integer(text: str) -> int:
    """A number of 64 bits, as the type of an option."""
    if not _INTEGER.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise _unconvertible(text, "Long")
    return int(text)


def floating(text: str) -> float:
    """A number with a fraction, as the type of an option."""
    try:
        return float(text)
    except ValueError:
        raise _unconvertible(text, "Double") from None


def _unconvertible(text: str, kind: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"could not convert '{text}' to {kind} (For input string: \"{text}\")")

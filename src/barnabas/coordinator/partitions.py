"""Which partition of a coordinator's topic a key belongs to, as every Kafka node and client reckons it."""

from __future__ import annotations

from typing import Final

_SIGN: Final = 1 << 31
_SPAN: Final = 1 << 32


def java_hash(text: str) -> int:
    """What String.hashCode gives in Java, which counts units of UTF-16 and wraps at 32 bits."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    hashed = 0
    for unit in units:
        hashed = (31 * hashed + unit) % _SPAN
    return hashed - _SPAN if hashed >= _SIGN else hashed


def partition_for(key: str, partitions: int) -> int:
    hashed = java_hash(key)
    # The one number that has no counterpart counts as zero.
    return (0 if hashed == -_SIGN else abs(hashed)) % partitions

# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, annotation_typing=False
# cython: cdivision=True
"""The offset map's table and the loops over the keys of a batch; compiled where a C compiler was found at installation.

The table is one flat piece of memory with three words a slot: two of the key's digest, and its offset plus one, which
is 0 in an empty slot. A key is in the first slot from its digest's place on that is its own or empty, so at least one
slot stays empty. The same file runs as plain Python with the same results; `kernel.pxd` beside it holds the C types.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from struct import Struct
from types import SimpleNamespace

try:
    import cython  # type: ignore[import-untyped]
except ImportError:  # The compiler is there when the package is built; running needs only the answer to one question.
    cython = SimpleNamespace(compiled=False)

IS_COMPILED: bool = cython.compiled

SLOT_BYTES = 24

if not cython.compiled:  # kernel.pxd has this in C, with SipHash: a digest is only compared with others of its map.
    _unpack_digest = Struct("QQ").unpack

    def _digest(data: bytes, position: int, length: int, seed: int) -> tuple[int, int]:
        key = data[position : position + length]
        first, second = _unpack_digest(blake2b(key, digest_size=16, key=seed.to_bytes(8, "big")).digest())
        return first, second


def _find(table: memoryview, first: int, second: int) -> int:
    """The word at which the slot of a digest begins, or the empty slot that it would take."""
    words = len(table)
    word = first % (words // 3) * 3
    while table[word + 2] and (table[word] != first or table[word + 1] != second):
        word += 3
        if word == words:
            word = 0
    return word


def put_keys(
    table: memoryview,
    seed: int,
    room: int,
    data: bytes,
    rows: array[int],
    base_offset: int,
    from_offset: int,
) -> tuple[int, bool]:
    """Note the offsets of a batch's keys at `from_offset` and later, while there is room for another one.

    Gives how many keys are new, and whether all were taken. `rows` are the columns that the records' scan has written.
    """
    added = 0
    for at in range(0, len(rows), 10):
        length = rows[at + 5]
        offset = base_offset + rows[at + 2]
        if length < 0 or offset < from_offset:
            continue
        if added >= room:
            return added, False
        first, second = _digest(data, rows[at + 4], length, seed)
        word = _find(table, first, second)
        if not table[word + 2]:
            table[word] = first
            table[word + 1] = second
            added += 1
        table[word + 2] = offset + 1
    return added, True


def mark_latest(
    table: memoryview,
    seed: int,
    data: bytes,
    rows: array[int],
    base_offset: int,
    latest_offset: int,
    is_latest: bytearray,
) -> int:
    """Write for each record of a batch whether no later one of its key is known; how many are the latest.

    Behind `latest_offset` nothing is known; up to it a record without a key is never the latest.
    """
    count = 0
    for index in range(len(is_latest)):
        at = index * 10
        length = rows[at + 5]
        offset = base_offset + rows[at + 2]
        kept = 0
        if offset > latest_offset:
            kept = 1
        elif length >= 0:
            first, second = _digest(data, rows[at + 4], length, seed)
            kept = table[_find(table, first, second) + 2] <= offset + 1
        is_latest[index] = kept
        count += kept
    return count

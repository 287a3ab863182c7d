"""The latest offset of each key in the dirty part of a log, within a bound on memory.

Everything up to `latest_offset` is in the map, so a record there is superseded if the map has a later offset for its
key; nothing is known to supersede a record behind it. A key is told from every other: short ones are kept as they
are, long ones as a digest that is longer than any short key.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from itertools import repeat
from operator import le

from barnabas.log.log_config import LONG_MAX
from barnabas.records.kernel import ROW_COLUMNS, ROW_KEY_LENGTH, ROW_KEY_POSITION, ROW_OFFSET_DELTA

# What a key and its offset take at most: a slot of a dict that has just grown, the key, the offset.
ENTRY_BYTES = 84 + 80 + 32
_SHORT_KEY_BYTES = 31
_DIGEST_BYTES = 32


class OffsetMap:
    def __init__(self, memory_bytes: int, load_factor: float = 0.9) -> None:
        self.capacity = int(memory_bytes * load_factor) // ENTRY_BYTES
        if self.capacity < 1:
            raise ValueError(f"{memory_bytes} bytes cannot hold the offset of a single key; {ENTRY_BYTES} are needed")
        # Under None the map has an offset that no record reaches: without a key a record is always superseded.
        self._offsets: dict[bytes | None, int] = {None: LONG_MAX}
        self.latest_offset = -1

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def clear(self) -> None:
        self._offsets = {None: LONG_MAX}
        self.latest_offset = -1

    def add_batch(self, data: bytes, rows: array[int], base_offset: int, from_offset: int) -> bool:
        """Note the keys of a batch's records at `from_offset` and later; false where the map is full before its end.

        `data` are the uncompressed records and `rows` their scanned columns. Records without a key are passed over.
        """
        keys = _read_keys(data, rows)
        offsets = [base_offset + delta for delta in rows[ROW_OFFSET_DELTA::ROW_COLUMNS]]
        has_room = len(self) + len(keys) <= self.capacity
        if has_room and base_offset >= from_offset and None not in keys:
            self._offsets.update(zip(keys, offsets, strict=True))
            return True
        return all(self._add(key, offset) for key, offset in zip(keys, offsets, strict=True) if offset >= from_offset)

    def add(self, key: bytes | None, offset: int) -> bool:
        """Note one record; false where the map is full."""
        return self._add(_shorten(key), offset)

    def _add(self, key: bytes | None, offset: int) -> bool:
        if key is None:
            return True
        if len(self) >= self.capacity:
            return False
        self._offsets[key] = offset
        return True

    def is_latest(self, key: bytes | None, offset: int) -> bool:
        """Whether no later record of the key is known. A record without a key is never the latest."""
        return offset > self.latest_offset or self._offsets.get(_shorten(key), -1) <= offset

    def are_latest(self, data: bytes, rows: array[int], base_offset: int) -> list[bool]:
        """`is_latest` of each record of a batch."""
        keys = _read_keys(data, rows)
        offsets = [base_offset + delta for delta in rows[ROW_OFFSET_DELTA::ROW_COLUMNS]]
        if offsets and offsets[-1] > self.latest_offset:
            find = self._offsets.get
            latest = self.latest_offset
            return [offset > latest or find(key, -1) <= offset for key, offset in zip(keys, offsets, strict=True)]
        return list(map(le, map(self._offsets.get, keys, repeat(-1)), offsets))


def _read_keys(data: bytes, rows: array[int]) -> list[bytes | None]:
    """The keys of a batch's records, in the form in which the map has them."""
    positions, lengths = rows[ROW_KEY_POSITION::ROW_COLUMNS], rows[ROW_KEY_LENGTH::ROW_COLUMNS]
    if lengths and min(lengths) >= 0 and max(lengths) <= _SHORT_KEY_BYTES:
        return [data[at : at + length] for at, length in zip(positions, lengths, strict=True)]
    return [
        _shorten(data[at : at + length]) if length >= 0 else None for at, length in zip(positions, lengths, strict=True)
    ]


def _shorten(key: bytes | None) -> bytes | None:
    if key is None or len(key) <= _SHORT_KEY_BYTES:
        return key
    return blake2b(key, digest_size=_DIGEST_BYTES).digest()

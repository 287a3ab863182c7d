"""The latest offset of each key in the dirty part of a log, within a bound on memory.

Everything up to `latest_offset` is in the map, so a record there is superseded if the map has a later offset for its
key; nothing is known to supersede a record behind it. A key is told from every other: short ones are kept as they
are, long ones as a digest that is longer than any short key.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

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
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = -1

    def __len__(self) -> int:
        return len(self._offsets)

    def clear(self) -> None:
        self._offsets.clear()
        self.latest_offset = -1

    def add_batch(self, data: bytes, rows: array[int], base_offset: int, from_offset: int) -> bool:
        """Note the keys of a batch's records at `from_offset` and later; false where the map is full before its end.

        `data` are the uncompressed records and `rows` their scanned columns. Records without a key are passed over.
        """
        lengths = rows[ROW_KEY_LENGTH::ROW_COLUMNS]
        if not lengths:
            return True
        columns = zip(rows[ROW_KEY_POSITION::ROW_COLUMNS], lengths, strict=True)
        deltas = rows[ROW_OFFSET_DELTA::ROW_COLUMNS]
        has_room = len(self._offsets) + len(lengths) <= self.capacity
        if has_room and base_offset >= from_offset and min(lengths) >= 0:
            keys = [_shorten(data[at : at + length]) for at, length in columns]
            self._offsets.update(zip(keys, [base_offset + delta for delta in deltas], strict=True))
            return True
        return all(
            self.add(data[at : at + length], base_offset + delta)
            for (at, length), delta in zip(columns, deltas, strict=True)
            if length >= 0 and base_offset + delta >= from_offset
        )

    def add(self, key: bytes | None, offset: int) -> bool:
        """Note one record; false where the map is full."""
        if key is None:
            return True
        if len(self._offsets) >= self.capacity:
            return False
        self._offsets[_shorten(key)] = offset
        return True

    def is_latest(self, key: bytes | None, offset: int) -> bool:
        """Whether no later record of the key is known. A record without a key is never the latest."""
        return offset > self.latest_offset or (key is not None and self._offsets.get(_shorten(key), -1) <= offset)

    def are_latest(self, data: bytes, rows: array[int], base_offset: int) -> list[bool]:
        """`is_latest` of each record of a batch."""
        find = self._offsets.get
        columns = zip(
            rows[ROW_KEY_POSITION::ROW_COLUMNS],
            rows[ROW_KEY_LENGTH::ROW_COLUMNS],
            rows[ROW_OFFSET_DELTA::ROW_COLUMNS],
            strict=True,
        )
        latest_delta = self.latest_offset - base_offset
        return [
            delta > latest_delta or (length >= 0 and find(_shorten(data[at : at + length]), -1) <= base_offset + delta)
            for at, length, delta in columns
        ]


def _shorten(key: bytes) -> bytes:
    return key if len(key) <= _SHORT_KEY_BYTES else blake2b(key, digest_size=_DIGEST_BYTES).digest()

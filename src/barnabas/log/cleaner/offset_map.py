"""The latest offset of each key in the dirty part of a log, within a bound on memory.

Everything up to `latest_offset` is in the map, so a record there is superseded if the map has a later offset for its
key; nothing is known to supersede a record behind it. Keys are told apart by digests of 128 bits, as in Kafka's map.
"""

from __future__ import annotations

from array import array

from barnabas.log.cleaner.kernel import SLOT_BYTES, mark_latest, put_keys
from barnabas.records.kernel import ROW_COLUMNS, ROW_KEY_LENGTH

_SLOTS_A_KEY = 2  # While there is memory: probes are shorter in a table that is half empty.


class OffsetMap:
    """`seed` makes digests unforeseeable for whoever writes keys."""

    def __init__(self, memory_bytes: int, load_factor: float = 0.9, *, seed: int = 0) -> None:
        self._slots_max = memory_bytes // SLOT_BYTES
        self._load_factor = load_factor
        self._seed = seed
        if self._capacity_of(self._slots_max) < 1:
            raise ValueError(f"{memory_bytes} bytes cannot hold the offset of a single key")
        self.clear(0)

    def clear(self, keys_expected: int) -> None:
        """Forget everything, and make room for so many keys as far as memory allows."""
        slots = min(self._slots_max, max(_SLOTS_A_KEY * keys_expected, 16))
        self._table = memoryview(bytearray(slots * SLOT_BYTES)).cast("Q")
        self.capacity = self._capacity_of(slots)
        self._size = 0
        self.latest_offset = -1

    def _capacity_of(self, slots: int) -> int:
        return min(int(slots * self._load_factor), slots - 1)

    def __len__(self) -> int:
        return self._size

    def add_batch(self, data: bytes, rows: array[int], base_offset: int, from_offset: int) -> bool:
        """Note the keys of a batch's records at `from_offset` and later; false where the map is full before its end.

        `data` are the uncompressed records and `rows` their scanned columns. Records without a key are passed over.
        """
        room = self.capacity - self._size
        added, is_all = put_keys(self._table, self._seed, room, data, rows, base_offset, from_offset)
        self._size += added
        return is_all

    def add(self, key: bytes | None, offset: int) -> bool:
        """Note one record; false where the map is full."""
        return self.add_batch(key or b"", _row_of(key), offset, offset)

    def mark_latest(self, data: bytes, rows: array[int], base_offset: int) -> tuple[int, bytearray]:
        """How many records of a batch are the latest of their keys, as far as is known, and for each whether it is.

        A record without a key never is.
        """
        is_latest = bytearray(len(rows) // ROW_COLUMNS)
        count = mark_latest(self._table, self._seed, data, rows, base_offset, self.latest_offset, is_latest)
        return count, is_latest

    def is_latest(self, key: bytes | None, offset: int) -> bool:
        count, _ = self.mark_latest(key or b"", _row_of(key), offset)
        return count == 1


def _row_of(key: bytes | None) -> array[int]:
    """The columns of a record whose bytes are nothing but its key."""
    row = array("q", bytes(8 * ROW_COLUMNS))
    row[ROW_KEY_LENGTH] = -1 if key is None else len(key)
    return row

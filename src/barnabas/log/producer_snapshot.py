"""The `.snapshot` file: what is known of each producer at the offset in its name, under a CRC-32C.

It is written in place, without a rename: a torn one fails its CRC, and an older one is taken instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from struct import Struct
from typing import NamedTuple

import crc32c

from barnabas.log.checkpoint import read_whole
from barnabas.ports.disk import Disk

VERSION = 1
_HEAD = Struct(">hI")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_ENTRIES_AT = _HEAD.size


class CorruptSnapshotError(Exception):
    """A snapshot that cannot be read; the producer state is rebuilt from an older one and the log."""


class SnapshotEntry(NamedTuple):
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int  # -1 where the producer has no data batch in this epoch.
    offset_delta: int  # From the first to the last offset of the producer's last batch.
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int  # -1 outside a transaction.


def encode_snapshot(entries: Collection[SnapshotEntry]) -> bytes:
    body = bytearray(_COUNT.pack(len(entries)))
    for entry in entries:
        body += _ENTRY.pack(*entry)
    return _HEAD.pack(VERSION, crc32c.crc32c(body)) + body


def decode_snapshot(data: bytes) -> list[SnapshotEntry]:
    if len(data) < _HEAD.size + _COUNT.size:
        raise CorruptSnapshotError(f"{len(data)} bytes are too few for a producer snapshot")
    version, crc = _HEAD.unpack_from(data)
    if version != VERSION:
        raise CorruptSnapshotError(f"unknown version {version} of a producer snapshot")
    computed = crc32c.crc32c(memoryview(data)[_ENTRIES_AT:])
    if crc != computed:
        raise CorruptSnapshotError(f"the stored CRC {crc} is not that of the content, {computed}")
    (count,) = _COUNT.unpack_from(data, _ENTRIES_AT)
    body = memoryview(data)[_ENTRIES_AT + _COUNT.size :]
    if count < 0 or count * _ENTRY.size > len(body):
        raise CorruptSnapshotError(f"{count} producers announced in {len(body)} bytes")
    return [SnapshotEntry(*fields) for fields in _ENTRY.iter_unpack(body[: count * _ENTRY.size])]


def read_snapshot(disk: Disk, path: str) -> list[SnapshotEntry]:
    return decode_snapshot(read_whole(disk, path))


def write_snapshot(disk: Disk, path: str, entries: Iterable[SnapshotEntry], *, flush: bool) -> None:
    data = encode_snapshot(list(entries))
    file = disk.open(path, create=True)
    try:
        file.write_at(0, data)
        file.truncate(len(data))
        if flush:
            file.flush()
    finally:
        file.close()

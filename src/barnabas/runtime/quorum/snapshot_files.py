"""The snapshots beside the metadata log: `{offset, 20 digits}-{epoch, 10 digits}.checkpoint`, each written once.

A snapshot is there when it has that name, and then it is whole and durable: while it is written or downloaded it has
`.part` behind its name. Nothing is open between two calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from barnabas.log.names import DELETED, METADATA_SNAPSHOT
from barnabas.ports.disk import Buffer, Disk
from barnabas.protocol.codec import decode
from barnabas.protocol.control_records.snapshot_header import SnapshotHeaderRecord
from barnabas.protocol.errors import CorruptMessage, InvalidRecord
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.records.batch import HEADER_BYTES, BatchHeader, iterate_batches, read_header, validate
from barnabas.records.control import ControlType, read_control_type
from barnabas.records.record import iterate_records

PART = ".part"
_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
# What Apache's node or ours leaves when it stops in the middle of writing or deleting a snapshot.
_LEFTOVER = re.compile(r"\d{20}-\d{10}.*\.checkpoint\.(part|deleted)")


def snapshot_name(snapshot_id: OffsetAndEpoch) -> str:
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{METADATA_SNAPSHOT}"


def _has_footer(data: bytes, position: int, header: BatchHeader) -> bool:
    records = iterate_records(data, position, header)
    return any(read_control_type(record.key) is ControlType.SNAPSHOT_FOOTER for record in records)


class SnapshotFiles:
    """The snapshots of one directory. Opening removes what was never finished."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory
        self._sizes: dict[OffsetAndEpoch, int] = {}
        for name in disk.names(directory):
            match = _NAME.fullmatch(name)
            if match is not None:
                self._add(OffsetAndEpoch(int(match[1]), int(match[2])))
            elif _LEFTOVER.fullmatch(name):
                disk.remove(f"{directory}/{name}")

    @property
    def ids(self) -> list[OffsetAndEpoch]:
        """The oldest first."""
        return sorted(self._sizes)

    @property
    def latest_id(self) -> OffsetAndEpoch | None:
        return max(self._sizes, default=None)

    @property
    def earliest_id(self) -> OffsetAndEpoch | None:
        return min(self._sizes, default=None)

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the snapshot that ends at this offset."""
        return max((each.epoch for each in self._sizes if each.offset == offset), default=None)

    def size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        return self._sizes.get(snapshot_id)

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        file = self._disk.open(self._path(snapshot_id))
        try:
            return file.read_at(position, max_bytes)
        finally:
            file.close()

    def read_whole(self, snapshot_id: OffsetAndEpoch) -> bytes:
        """A snapshot down to its footer. One that is cut off or damaged would stand for less than it says."""
        data = self.read(snapshot_id, 0, self._sizes[snapshot_id])
        end, has_footer = 0, False
        try:
            for position, header in iterate_batches(data):
                validate(data, position)
                end, has_footer = (
                    position + header.size_bytes,
                    header.is_control and _has_footer(data, position, header),
                )
        except (CorruptMessage, InvalidRecord) as error:
            raise CorruptMessage(f"{snapshot_name(snapshot_id)} is damaged: {error}") from error
        if end < len(data) or not has_footer:
            raise CorruptMessage(f"{snapshot_name(snapshot_id)} is cut off: it does not end with a snapshot's footer")
        return data

    def last_contained_log_time_ms(self, snapshot_id: OffsetAndEpoch) -> int:
        """The time of the last record that the snapshot stands for, from its header."""
        header = read_header(self.read(snapshot_id, 0, HEADER_BYTES))
        batch = self.read(snapshot_id, 0, header.size_bytes)
        validate(batch)
        for record in iterate_records(batch, 0, header):
            if header.is_control and read_control_type(record.key) is ControlType.SNAPSHOT_HEADER and record.value:
                return decode(SnapshotHeaderRecord, 0, record.value).last_contained_log_timestamp
        raise CorruptMessage(f"{snapshot_name(snapshot_id)} does not begin with the header of a snapshot")

    # Downloading and writing

    def write_chunk(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        """Write a piece of a download; position 0 begins it anew."""
        file = self._disk.open(self._path(snapshot_id) + PART, create=True)
        try:
            file.truncate(position)
            file.write_at(position, data)
        finally:
            file.close()

    def write_own(self, snapshot_id: OffsetAndEpoch, batches: Iterable[Buffer]) -> None:
        """Write all of a snapshot that was made here, durably but under a provisional name. Safe in any thread."""
        file = self._disk.open(self._own_path(snapshot_id), create=True)
        try:
            file.truncate(0)
            position = 0
            for batch in batches:
                file.write_at(position, batch)
                position += len(batch)
            file.flush()
        finally:
            file.close()

    def freeze_own(self, snapshot_id: OffsetAndEpoch) -> None:
        """Give what was written its name, durably."""
        self._name(self._own_path(snapshot_id), snapshot_id)

    def drop_own(self, snapshot_id: OffsetAndEpoch) -> None:
        self._disk.remove(self._own_path(snapshot_id))

    def freeze_download(self, snapshot_id: OffsetAndEpoch) -> None:
        """Make what was downloaded durable, and give it its name."""
        part = self._path(snapshot_id) + PART
        file = self._disk.open(part)
        try:
            file.flush()
        finally:
            file.close()
        self._name(part, snapshot_id)

    def _name(self, path: str, snapshot_id: OffsetAndEpoch) -> None:
        self._disk.rename(path, self._path(snapshot_id))
        self._disk.flush_directory(self._directory)
        self._add(snapshot_id)

    def drop_download(self, snapshot_id: OffsetAndEpoch) -> None:
        path = self._path(snapshot_id) + PART
        if self._disk.exists(path):
            self._disk.remove(path)

    # Deleting

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        """Remove the older ones. The new name first, so that a crash leaves nothing that looks like one."""
        for older in [each for each in self.ids if each < snapshot_id]:
            del self._sizes[older]
            path = self._path(older)
            self._disk.rename(path, path + DELETED)
            self._disk.remove(path + DELETED)

    def _add(self, snapshot_id: OffsetAndEpoch) -> None:
        file = self._disk.open(self._path(snapshot_id))
        self._sizes[snapshot_id] = file.size()
        file.close()

    def _own_path(self, snapshot_id: OffsetAndEpoch) -> str:
        """Where one is written here; the same one may be downloaded at the same time."""
        return self._path(snapshot_id).removesuffix(METADATA_SNAPSHOT) + f"-own{METADATA_SNAPSHOT}{PART}"

    def _path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self._directory}/{snapshot_name(snapshot_id)}"

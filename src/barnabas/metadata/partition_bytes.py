"""Partitions from and to the bytes of their records, past the codec: a snapshot has hundreds of thousands of them.

Only the form that nearly all of them have is read and written here. Whatever differs from it is left to the codec,
which knows every form and says what is wrong with the others. The same bytes of replicas or directories are looked at
once, and stand for the same tuples; the same tuples are written once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from barnabas.metadata.topics import LeaderRecoveryState, Partition, TopicsDelta, TopicsImage
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.framed_record import FRAME_VERSION, encode_framed
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.uuid import UUID_BYTES, Uuid

_Replicas = tuple[int, ...]
# Replicas, in-sync, removing and adding ones.
_Arrays = tuple[_Replicas, _Replicas, _Replicas, _Replicas]

# Frame version, type and version. Since version 1 a record names directories; version 2 only knows more tagged fields.
_FRAMES: Final = frozenset(bytes((FRAME_VERSION, PartitionRecord.api_key or 0, version)) for version in (1, 2))
_IDS: Final = Struct(">i16s")
_IDS_AT: Final = 3
_ARRAYS_AT: Final = _IDS_AT + _IDS.size
# The leader, its epoch, the partition's epoch, and the length of the directories.
_STATE: Final = Struct(">iiiB")
_LENGTH_AT: Final = _STATE.size - 1
_NO_TAGGED_FIELDS: Final = b"\x00"
# A length is written with one added to it, and up to here in one byte.
_SHORT_LENGTH_MAX: Final = 127
_REPLICA_BYTES: Final = 4


class PartitionReader:
    """Puts partitions into a delta that has their topics."""

    __slots__ = ("_arrays", "_directories", "_topics")

    def __init__(self, topics: TopicsDelta) -> None:
        self._topics = topics
        self._arrays: dict[bytes, _Arrays] = {}
        self._directories: dict[bytes, tuple[Uuid, ...]] = {}

    def take(self, values: Iterable[bytes | None]) -> Iterator[bytes | None]:
        """Put in the partitions among these records; those that are none, or not of the usual form, come back."""
        read_ids, read_state = _IDS.unpack_from, _STATE.unpack_from
        known_arrays, known_directories, topics = self._arrays, self._directories, self._topics.changed
        recovered, new = LeaderRecoveryState.RECOVERED, tuple.__new__
        for value in values:
            if value is None or value[:_IDS_AT] not in _FRAMES:
                yield value
                continue
            try:
                partition_id, topic_id = read_ids(value, _IDS_AT)
                length = value[_ARRAYS_AT]
                # Each array is a byte of length and four bytes a member. That lengths are short is seen further on.
                at = _ARRAYS_AT - 3 + 4 * length
                at += 4 * value[at] - 3
                at += 4 * value[at] - 3
                at += 4 * value[at] - 3
                leader, leader_epoch, partition_epoch, directories_length = read_state(value, at)
            except (IndexError, struct.error):
                yield value
                continue
            end = at + _STATE.size + UUID_BYTES * (directories_length - 1)
            replica_bytes, directory_bytes = value[_ARRAYS_AT:at], value[at + _LENGTH_AT : end]
            arrays = known_arrays.get(replica_bytes) or self._read_arrays(replica_bytes)
            directories = known_directories.get(directory_bytes) or self._read_directories(directory_bytes)
            topic = topics.get(topic_id)
            is_usual = length == directories_length and value[end:] == _NO_TAGGED_FIELDS
            if not is_usual or arrays is None or directories is None or topic is None:
                yield value
                continue
            replicas, isr, removing, adding = arrays
            # All fields are there in their order: the class need not put them in it, which takes as long as the rest.
            topic.partitions.changes[partition_id] = new(
                Partition,
                (
                    replicas,
                    directories,
                    isr,
                    leader,
                    leader_epoch,
                    partition_epoch,
                    recovered,
                    removing,
                    adding,
                    (),
                    (),
                ),
            )

    def _read_arrays(self, data: bytes) -> _Arrays | None:
        at = 0

        def read() -> _Replicas:
            nonlocal at
            length = data[at]
            if not 0 < length <= _SHORT_LENGTH_MAX:
                raise IndexError
            members = struct.unpack_from(f">{length - 1}i", data, at + 1)
            at += 1 + _REPLICA_BYTES * (length - 1)
            return members

        try:
            arrays = read(), read(), read(), read()
        except (IndexError, struct.error):
            return None
        self._arrays[data] = arrays
        return arrays

    def _read_directories(self, data: bytes) -> tuple[Uuid, ...] | None:
        if not data or not 0 < data[0] <= _SHORT_LENGTH_MAX or len(data) != 1 + UUID_BYTES * (data[0] - 1):
            return None
        found = tuple(Uuid(data[at : at + UUID_BYTES]) for at in range(1, len(data), UUID_BYTES))
        self._directories[data] = found
        return found


def topic_values(topics: TopicsImage, version: MetadataVersion, *, is_elr_enabled: bool) -> Iterator[bytes]:
    """The records of these topics as they are written at a level."""
    record_version = version.partition_record_version
    write = _PartitionWriter(record_version).write
    for topic in topics.by_id.contents():
        yield encode_framed(topic.record(), 0)
        for partition_id, partition in topic.partitions.entries():
            value = write(topic.id, partition_id, partition)
            if value is None:
                record = topic.partition_record(partition_id, version, is_elr_enabled=is_elr_enabled)
                value = encode_framed(record, record_version)
            yield value


class _PartitionWriter:
    __slots__ = ("_arrays", "_directories", "_frame", "_is_usual")

    def __init__(self, record_version: int) -> None:
        self._frame = bytes((FRAME_VERSION, PartitionRecord.api_key or 0, record_version))
        self._is_usual = self._frame in _FRAMES
        self._arrays: dict[_Arrays, bytes] = {}
        self._directories: dict[tuple[Uuid, ...], bytes] = {}

    def write(self, topic_id: Uuid, partition_id: int, partition: Partition) -> bytes | None:
        """The record of a partition; None where it is not of the usual form."""
        (
            replicas,
            directories,
            isr,
            leader,
            leader_epoch,
            partition_epoch,
            recovery_state,
            removing,
            adding,
            elr,
            last_known_elr,
        ) = partition
        if elr or last_known_elr or recovery_state is not LeaderRecoveryState.RECOVERED or not self._is_usual:
            return None
        arrays = replicas, isr, removing, adding
        array_bytes = self._arrays.get(arrays) or self._array_bytes(arrays)
        if array_bytes is None or len(directories) >= _SHORT_LENGTH_MAX:
            return None
        directory_bytes = self._directories.get(directories)
        if directory_bytes is None:
            directory_bytes = self._directories[directories] = b"".join(directories) + _NO_TAGGED_FIELDS
        state = _STATE.pack(leader, leader_epoch, partition_epoch, len(directories) + 1)
        return self._frame + _IDS.pack(partition_id, topic_id) + array_bytes + state + directory_bytes

    def _array_bytes(self, arrays: _Arrays) -> bytes | None:
        if max(map(len, arrays)) >= _SHORT_LENGTH_MAX:
            return None
        written = b"".join(struct.pack(f">B{len(each)}i", len(each) + 1, *each) for each in arrays)
        self._arrays[arrays] = written
        return written

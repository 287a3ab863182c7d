"""What must hold for a partition's log at any time, looked up in its files."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.log.partition_log import PartitionLog
from barnabas.log.scan import read_batches
from barnabas.records.batch import BatchHeader


class StoredBatch(NamedTuple):
    header: BatchHeader
    data: bytes


def stored_batches(log: PartitionLog) -> list[StoredBatch]:
    """Every batch in the files, each found sound."""
    return [
        StoredBatch(header, bytes(batch))
        for segment in log.segments
        for header, batch in read_batches(segment.file, 0, segment.size_bytes)
    ]


def check_log(log: PartitionLog) -> None:
    """Offsets ascend through the segments, index entries tell the truth, the log's own offsets are in order."""
    next_offset = 0
    for segment in log.segments:
        assert segment.base_offset >= next_offset
        assert segment.suffix == ""
        next_offset = segment.base_offset
        places: dict[int, int] = {}
        largest_at: dict[int, int] = {}
        largest = -1
        position = 0
        for header, batch in read_batches(segment.file, 0, segment.size_bytes):
            assert header.base_offset >= next_offset
            next_offset = header.next_offset
            places[header.last_offset] = position
            if header.max_timestamp > largest:
                largest = header.max_timestamp
                largest_at[header.last_offset] = largest
            position += len(batch)
        assert position == segment.size_bytes
        assert segment.largest.timestamp == largest
        segment.offset_index.open()
        entries = [segment.offset_index.entry(slot) for slot in range(segment.offset_index.entries)]
        assert entries == sorted(set(entries))
        assert all(places[entry.offset] == entry.position for entry in entries)
        segment.time_index.open()
        times = [segment.time_index.entry(slot) for slot in range(segment.time_index.entries)]
        assert times == sorted(set(times))
        assert all(largest_at[entry.offset] == entry.timestamp for entry in times)
    assert log.log_end_offset >= next_offset
    assert log.log_start_offset <= log.last_stable_offset <= log.high_watermark <= log.log_end_offset
    assert log.recovery_point <= log.log_end_offset
    assert log.producer_state.map_end_offset == log.log_end_offset

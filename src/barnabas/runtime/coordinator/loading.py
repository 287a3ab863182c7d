"""Reads a coordinator's log from its start to its end into a fresh shard, in pieces that leave others their turns."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from barnabas.broker.replicas import Replicas
from barnabas.coordinator.record_codec import RecordCodec
from barnabas.coordinator.shard import Shard
from barnabas.log.read import Isolation
from barnabas.log.scan import end_marker
from barnabas.records.batch import NO_PRODUCER_ID, BatchHeader
from barnabas.records.legacy import iterate_any, iterate_any_records
from barnabas.replication.leader import Leader

LOG: Final = logging.getLogger(__name__)

# About as many as can be replayed without keeping others waiting.
PIECE_RECORDS: Final = 500
# The log says how far it has come each time that so many more were replayed.
PROGRESS_RECORDS: Final = 100_000


def load_log(replicas: Replicas, leader: Leader, codec: RecordCodec, shard: Shard, buffer_bytes: int) -> Iterator[int]:
    """Replay the log; yields the next offset after each piece. ApiError or ValueError where it cannot be read."""
    log = leader.log
    offset, end_offset = log.log_start_offset, log.log_end_offset
    LOG.info("coordinator loading", extra={"partition": str(leader.name), "end_offset": end_offset})
    total = since_yield = 0
    while offset < end_offset:
        read = replicas.read(leader, offset, buffer_bytes, isolation=Isolation.LOG_END, min_one_batch=True)
        data = read.region.bytes()
        began_at = offset
        for position, header in iterate_any(data):
            replayed = _replay(data, position, header, codec, shard)
            offset = header.next_offset
            total += replayed
            since_yield += replayed
            if total // PROGRESS_RECORDS > (total - replayed) // PROGRESS_RECORDS:
                LOG.info("coordinator loading", extra={"partition": str(leader.name), "records": total})
            if since_yield >= PIECE_RECORDS:
                since_yield = 0
                yield offset
        if offset == began_at:
            # Compaction may leave nothing at the end of a log.
            break
    LOG.info("coordinator loaded", extra={"partition": str(leader.name), "records": total})


def _replay(data: bytes, position: int, header: BatchHeader, codec: RecordCodec, shard: Shard) -> int:
    """How many records a batch had."""
    if header.is_control:
        marker = end_marker(data[position : position + header.size_bytes], header)
        if marker is not None:
            shard.replay_end_of_transaction(header.producer_id, is_commit=not marker.is_abort)
        return 1
    producer_id = header.producer_id if header.is_transactional else NO_PRODUCER_ID
    for record in iterate_any_records(data, position, header):
        try:
            entry = codec.decode(record.key, record.value)
        except ValueError as error:
            raise ValueError(f"the record at offset {record.offset}: {error}") from error
        if entry is None:
            LOG.warning("coordinator's record of an unknown type", extra={"offset": record.offset})
        else:
            shard.replay(record.offset, producer_id, entry.key, entry.value)
    return header.record_count

"""How a future log becomes the same as the current one, a chunk at a time.

After each chunk the future log holds a prefix of the current one's batches, from no earlier on than its first one.
Where the current log was cut meanwhile and has other records since, the future one is cut where the two part: by leader
epochs, as a follower finds out where it parts from its leader.
"""

from __future__ import annotations

from typing import Final

from barnabas.log.partition_log import PartitionLog
from barnabas.log.read import Isolation

# What is in the current log was checked by epoch when it was written.
_ANY_EPOCH: Final = 2**31 - 1


def cut_to_agreed(current: PartitionLog, future: PartitionLog, now_ms: int) -> bool:
    """Drop from the future log what the current one does not have; whether there was any."""
    if future.log_end_offset < current.log_start_offset:
        future.truncate_fully_and_start_at(_first_batch_offset(current), now_ms)
        return True
    end_offset = _agreed_end(current, future)
    if end_offset >= future.log_end_offset:
        return False
    future.truncate_to(end_offset, now_ms)
    return True


def _first_batch_offset(log: PartitionLog) -> int:
    """Where the first batch begins, which may be before the log's start; the log's end where there is none."""
    region = log.read(log.log_start_offset, 1, isolation=Isolation.LOG_END).region
    return int.from_bytes(region.bytes()[:8], "big") if region.size_bytes else log.log_end_offset


def _agreed_end(current: PartitionLog, future: PartitionLog) -> int:
    """Up to where the future log has what the current one has."""
    known = {entry.epoch for entry in current.leader_epochs.entries()}
    for epoch, _ in reversed(future.leader_epochs.entries()):
        if epoch in known:
            return min(
                log.leader_epochs.end_offset_for(epoch, log.log_end_offset).end_offset for log in (current, future)
            )
    if future.leader_epochs.latest_epoch is not None:
        return future.log_start_offset
    # Records of the formats without epochs: their offsets are all that there is to go by.
    return min(current.log_end_offset, future.log_end_offset)


def read_chunk(current: PartitionLog, future: PartitionLog, max_bytes: int) -> bytes:
    """What the future log lacks next, at most `max_bytes` but at least a batch; nothing where it has everything."""
    if future.log_end_offset >= current.log_end_offset:
        return b""
    offset = max(future.log_end_offset, current.log_start_offset)
    max_bytes = min(max_bytes, future.config.segment_bytes)
    return current.read(offset, max_bytes, isolation=Isolation.LOG_END).region.bytes()


def append_chunk(current: PartitionLog, future: PartitionLog, chunk: bytes, now_ms: int) -> None:
    """Append what was read, and let high watermark and start be the current log's as far as this one goes."""
    if chunk:
        future.append_as_follower(chunk, _ANY_EPOCH, now_ms)
    future.update_high_watermark(current.high_watermark)
    future.delete_records_before(min(current.log_start_offset, future.high_watermark))


def note_latest_epoch(current: PartitionLog, future: PartitionLog) -> None:
    """Let the future log know the leader epoch that the current one is in, which may have no records yet."""
    entries = current.leader_epochs.entries()
    if entries and entries[-1].epoch != future.leader_epochs.latest_epoch:
        future.leader_epochs.assign(*entries[-1])

"""The settings that a partition's log reads, with Apache Kafka's defaults.

Names are the topic settings' own with underscores. A log holds one of these and is handed another when a setting
changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from barnabas.ports.rng import Rng
from barnabas.records.batch import TimestampType
from barnabas.records.compression import Compression
from barnabas.records.validation import RecordRules

LONG_MAX = 2**63 - 1
# Apache's smallest segment. A segment that is to be smaller takes a batch up to this size by itself, so that how a
# producer batches need not be known to whoever wants small segments.
SEGMENT_BYTES_MIN = 1024 * 1024
_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1024 * 1024 + 12
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = 60 * 60 * 1000
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    cleanup_policy: frozenset[str] = field(default_factory=lambda: frozenset({"delete"}))
    retention_ms: int = 7 * _DAY_MS
    retention_bytes: int = -1
    delete_retention_ms: int = _DAY_MS
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    preallocate: bool = False

    @cached_property
    def append_bytes_max(self) -> int:
        """How much may be written at once: it stays in one segment."""
        return max(self.segment_bytes, SEGMENT_BYTES_MIN)

    @cached_property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @cached_property
    def is_deleted(self) -> bool:
        """Whether retention by time and size applies."""
        return "delete" in self.cleanup_policy

    @cached_property
    def is_log_append_time(self) -> bool:
        return self.message_timestamp_type == "LogAppendTime"

    @cached_property
    def record_rules(self) -> RecordRules:
        """What single records are held to."""
        return RecordRules(
            TimestampType.LOG_APPEND_TIME if self.is_log_append_time else TimestampType.CREATE_TIME,
            self.message_timestamp_before_max_ms,
            self.message_timestamp_after_max_ms,
            self.is_compacted,
        )

    @cached_property
    def is_rewriting(self) -> bool:
        """Whether batches are changed beyond their place in the log before they are written."""
        return self.is_log_append_time or self.compression is not None

    @cached_property
    def compression(self) -> Compression | None:
        """The codec of every batch in the log; None where producers choose."""
        if self.compression_type == "producer":
            return None
        return (
            Compression.NONE if self.compression_type == "uncompressed" else Compression[self.compression_type.upper()]
        )

    @cached_property
    def compression_level(self) -> int | None:
        match self.compression:
            case Compression.GZIP:
                return None if self.compression_gzip_level == -1 else self.compression_gzip_level
            case Compression.LZ4:
                return self.compression_lz4_level
            case Compression.ZSTD:
                return self.compression_zstd_level
        return None

    @cached_property
    def roll_ms(self) -> int:
        """The age at which a segment is rolled: a compacted log's records must leave the active segment in time."""
        if self.is_compacted and self.max_compaction_lag_ms > 0:
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    def draw_jitter_ms(self, rng: Rng) -> int:
        """How much earlier than its age one segment rolls, so that many logs do not roll in the same instant."""
        if self.segment_jitter_ms == 0:
            return 0
        return rng.randrange(min(self.segment_jitter_ms, self.segment_ms))

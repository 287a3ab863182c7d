"""The settings by which a broker keeps its logs, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from barnabas.config.server_config import ServerConfig
from barnabas.log.cleaner.log_cleaner import CleanerConfig


@dataclass(frozen=True, kw_only=True)
class KeepingSettings:
    """Named as the settings are."""

    initial_task_delay_ms: int = 30_000
    retention_check_interval_ms: int = 300_000
    flush_scheduler_interval_ms: int = 2**63 - 1
    flush_offset_checkpoint_interval_ms: int = 60_000
    flush_start_offset_checkpoint_interval_ms: int = 60_000
    high_watermark_checkpoint_interval_ms: int = 5_000
    producer_id_expiration_check_interval_ms: int = 600_000
    cleaner_backoff_ms: int = 15_000

    @classmethod
    def of(cls, settings: ServerConfig) -> Self:
        return cls(
            initial_task_delay_ms=settings.integer("log.initial.task.delay.ms"),
            retention_check_interval_ms=settings.integer("log.retention.check.interval.ms"),
            flush_scheduler_interval_ms=settings.integer("log.flush.scheduler.interval.ms"),
            flush_offset_checkpoint_interval_ms=settings.integer("log.flush.offset.checkpoint.interval.ms"),
            flush_start_offset_checkpoint_interval_ms=settings.integer("log.flush.start.offset.checkpoint.interval.ms"),
            high_watermark_checkpoint_interval_ms=settings.integer("replica.high.watermark.checkpoint.interval.ms"),
            producer_id_expiration_check_interval_ms=settings.integer("producer.id.expiration.check.interval.ms"),
            cleaner_backoff_ms=settings.integer("log.cleaner.backoff.ms"),
        )


def cleaner_config(settings: ServerConfig) -> CleanerConfig:
    """How the log cleaner works, where log.cleaner.enable is true."""
    return CleanerConfig(
        dedupe_buffer_bytes=settings.integer("log.cleaner.dedupe.buffer.size"),
        io_buffer_bytes=settings.integer("log.cleaner.io.buffer.size"),
        io_buffer_load_factor=settings.number("log.cleaner.io.buffer.load.factor"),
        # Kafka lets a rate of nothing through; at this one nothing happens either, and nothing divides by it.
        io_max_bytes_per_second=max(1.0, settings.number("log.cleaner.io.max.bytes.per.second")),
    )

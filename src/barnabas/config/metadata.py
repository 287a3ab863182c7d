"""The settings of the metadata log and its snapshots, with Kafka's names and defaults."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Setting

MIB = 1024 * 1024
WEEK_MS = 7 * 24 * 60 * 60 * 1000

METADATA_LOG_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="metadata.log.dir",
        kind=Kind.STRING,
        default=None,
        doc="Where the metadata log is kept. Without it, in the first of `log.dirs`.",
    ),
    Setting(
        name="metadata.log.segment.bytes",
        kind=Kind.INT,
        default=1024 * MIB,
        allowed=AtLeast(8 * MIB),
        doc="How large a file of the metadata log may become before the next one is begun.",
    ),
    Setting(
        name="metadata.log.segment.ms",
        kind=Kind.LONG,
        default=WEEK_MS,
        doc="How old a file of the metadata log may become before the next one is begun.",
    ),
    Setting(
        name="metadata.log.max.record.bytes.between.snapshots",
        kind=Kind.LONG,
        default=20 * MIB,
        allowed=AtLeast(1),
        doc="How many bytes of committed records may lie behind the latest snapshot before another one is made.",
    ),
    Setting(
        name="metadata.log.max.snapshot.interval.ms",
        kind=Kind.LONG,
        default=60 * 60 * 1000,
        allowed=AtLeast(0),
        doc="How long committed records may go without a snapshot. With 0, time alone never asks for one.",
    ),
    Setting(
        name="metadata.max.retention.bytes",
        kind=Kind.LONG,
        default=100 * MIB,
        doc="How many bytes of metadata log and snapshots are kept together. One snapshot is kept in any case, and the "
        "log behind it. Negative: no limit.",
    ),
    Setting(
        name="metadata.max.retention.ms",
        kind=Kind.LONG,
        default=WEEK_MS,
        doc="How long a snapshot, and the log before the next one, is kept. One snapshot is kept in any case. "
        "Negative: no limit.",
    ),
    Setting(
        name="metadata.max.idle.interval.ms",
        kind=Kind.INT,
        default=500,
        allowed=AtLeast(0),
        doc="How long the active controller lets the metadata log rest before it appends a record that changes "
        "nothing. With 0 it never does.",
    ),
)

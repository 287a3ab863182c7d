"""The settings of the log cleaner, which compacts topics."""

from __future__ import annotations

from barnabas.config.setting import DOUBLE_MAX, AtLeast, Kind, Reload, Setting

CLEANER_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="log.cleaner.enable",
        kind=Kind.BOOLEAN,
        default=True,
        doc="Whether compacted topics are compacted; without it they only grow.",
    ),
    Setting(
        name="log.cleaner.threads",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many threads clean.",
    ),
    Setting(
        name="log.cleaner.dedupe.buffer.size",
        kind=Kind.LONG,
        default=134_217_728,
        reload=Reload.CLUSTER_WIDE,
        doc="How much memory the maps of keys may take, over all cleaner threads.",
    ),
    Setting(
        name="log.cleaner.io.buffer.size",
        kind=Kind.INT,
        default=524_288,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How much memory the buffers may take that logs are read and written through, over all cleaner threads.",
    ),
    Setting(
        name="log.cleaner.io.buffer.load.factor",
        kind=Kind.DOUBLE,
        default=0.9,
        reload=Reload.CLUSTER_WIDE,
        doc="How full a map of keys may get; fuller takes more keys at once and finds them slower.",
    ),
    Setting(
        name="log.cleaner.io.max.bytes.per.second",
        kind=Kind.DOUBLE,
        default=DOUBLE_MAX,
        reload=Reload.CLUSTER_WIDE,
        doc="How many bytes a second the cleaner reads and writes at most.",
    ),
    Setting(
        name="log.cleaner.backoff.ms",
        kind=Kind.LONG,
        default=15_000,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How long the cleaner sleeps when no log is worth cleaning.",
    ),
)

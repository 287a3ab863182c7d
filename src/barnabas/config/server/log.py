"""The settings of log directories, and of when logs are rolled, retained, flushed and recovered."""

from __future__ import annotations

from barnabas.config.setting import LONG_MAX, AtLeast, Distinct, Kind, Reload, Setting, Synonym
from barnabas.config.topic import HOUR_MS, MINUTE_MS

LOG_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="log.dir",
        kind=Kind.LIST,
        default=("/tmp/kafka-logs",),
        allowed=Distinct(is_empty_allowed=False),
        doc="The directory of the logs, where `log.dirs` is not set.",
    ),
    Setting(
        name="log.dirs",
        kind=Kind.LIST,
        default=None,
        allowed=Distinct(is_empty_allowed=False),
        doc="The directories of the logs; unset, `log.dir`.",
    ),
    Setting(
        name="cordoned.log.dirs",
        kind=Kind.LIST,
        default=(),
        allowed=Distinct(),
        reload=Reload.PER_BROKER,
        doc="The log directories that get no new partitions; `*` names all.",
    ),
    Setting(
        name="log.dir.failure.timeout.ms",
        kind=Kind.LONG,
        default=30_000,
        allowed=AtLeast(1),
        doc="How long a broker that cannot tell the controller of a failed directory goes on before it stops.",
    ),
    Setting(
        name="log.flush.interval.ms",
        kind=Kind.LONG,
        default=None,
        synonyms=(Synonym("log.flush.scheduler.interval.ms"),),
        reload=Reload.CLUSTER_WIDE,
        doc="How long records may be unflushed in memory; unset, `log.flush.scheduler.interval.ms`.",
    ),
    Setting(
        name="log.flush.scheduler.interval.ms",
        kind=Kind.LONG,
        default=LONG_MAX,
        doc="How often logs are looked over for records that are due to be flushed.",
    ),
    Setting(
        name="log.flush.offset.checkpoint.interval.ms",
        kind=Kind.INT,
        default=MINUTE_MS,
        allowed=AtLeast(0),
        doc="How often the offsets up to which logs are flushed are written down.",
    ),
    Setting(
        name="log.flush.start.offset.checkpoint.interval.ms",
        kind=Kind.INT,
        default=MINUTE_MS,
        allowed=AtLeast(0),
        doc="How often the offsets at which logs start are written down.",
    ),
    Setting(
        name="log.retention.ms",
        kind=Kind.LONG,
        default=None,
        synonyms=(Synonym("log.retention.minutes", MINUTE_MS), Synonym("log.retention.hours", HOUR_MS)),
        reload=Reload.CLUSTER_WIDE,
        doc="How long segments are kept in topics that do not say; unset, `log.retention.minutes` says it, and -1 "
        "sets no limit.",
    ),
    Setting(
        name="log.retention.minutes",
        kind=Kind.INT,
        default=None,
        doc="How long segments are kept, in minutes; unset, `log.retention.hours` says it.",
    ),
    Setting(
        name="log.retention.hours",
        kind=Kind.INT,
        default=168,
        doc="How long segments are kept, in hours.",
    ),
    Setting(
        name="log.retention.check.interval.ms",
        kind=Kind.LONG,
        default=5 * MINUTE_MS,
        allowed=AtLeast(1),
        doc="How often logs are looked over for segments to delete.",
    ),
    Setting(
        name="log.roll.ms",
        kind=Kind.LONG,
        default=None,
        synonyms=(Synonym("log.roll.hours", HOUR_MS),),
        reload=Reload.CLUSTER_WIDE,
        doc="The age at which segments are closed in topics that do not say; unset, `log.roll.hours` says it.",
    ),
    Setting(
        name="log.roll.hours",
        kind=Kind.INT,
        default=168,
        allowed=AtLeast(1),
        doc="The age at which segments are closed, in hours.",
    ),
    Setting(
        name="log.roll.jitter.ms",
        kind=Kind.LONG,
        default=None,
        synonyms=(Synonym("log.roll.jitter.hours", HOUR_MS),),
        reload=Reload.CLUSTER_WIDE,
        doc="Up to how much sooner segments are closed, by chance; unset, `log.roll.jitter.hours` says it.",
    ),
    Setting(
        name="log.roll.jitter.hours",
        kind=Kind.INT,
        default=0,
        allowed=AtLeast(0),
        doc="Up to how much sooner segments are closed, by chance, in hours.",
    ),
    Setting(
        name="log.initial.task.delay.ms",
        kind=Kind.LONG,
        default=30_000,
        allowed=AtLeast(0),
        is_internal=True,
        doc="How long after the start the chores of the logs begin.",
    ),
    Setting(
        name="num.recovery.threads.per.data.dir",
        kind=Kind.INT,
        default=2,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How many threads a directory gets when logs are recovered at the start and flushed at the stop.",
    ),
    Setting(
        name="num.replica.alter.log.dirs.threads",
        kind=Kind.INT,
        default=None,
        doc="How many threads move replicas between directories; unset, one a directory.",
    ),
)

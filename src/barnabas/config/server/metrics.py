"""The settings of metrics, the node's own and those that clients push."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Distinct, Kind, Reload, Setting

METRICS_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="metrics.num.samples",
        kind=Kind.INT,
        default=2,
        allowed=AtLeast(1),
        doc="How many samples a rate or an average is computed over.",
    ),
    Setting(
        name="metrics.sample.window.ms",
        kind=Kind.LONG,
        default=30_000,
        allowed=AtLeast(1),
        doc="How long one sample is.",
    ),
    Setting(
        name="metrics.recording.level",
        kind=Kind.STRING,
        default="INFO",
        doc="How fine the metrics are: INFO, DEBUG or TRACE.",
    ),
    Setting(
        name="metric.reporters",
        kind=Kind.LIST,
        default=("org.apache.kafka.common.metrics.JmxReporter",),
        allowed=Distinct(),
        reload=Reload.CLUSTER_WIDE,
        doc="Java classes that get the metrics; read, and of no effect here.",
    ),
    Setting(
        name="kafka.metrics.reporters",
        kind=Kind.LIST,
        default=(),
        allowed=Distinct(),
        doc="Java classes that get the older kind of metrics; read, and of no effect here.",
    ),
    Setting(
        name="kafka.metrics.polling.interval.secs",
        kind=Kind.INT,
        default=10,
        allowed=AtLeast(1),
        doc="How often the reporters of the older kind of metrics run; read, and of no effect here.",
    ),
    Setting(
        name="telemetry.max.bytes",
        kind=Kind.INT,
        default=1_048_576,
        allowed=AtLeast(1),
        doc="The largest push of metrics that is taken from a client.",
    ),
)

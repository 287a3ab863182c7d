"""The settings of how quotas are measured, and the rates that hold replication back."""

from __future__ import annotations

from barnabas.config.setting import LONG_MAX, AtLeast, Kind, Reload, Setting

QUOTA_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="quota.window.num",
        kind=Kind.INT,
        default=11,
        allowed=AtLeast(1),
        doc="How many samples the quotas of clients are measured over.",
    ),
    Setting(
        name="quota.window.size.seconds",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How long one sample of the quotas of clients is.",
    ),
    Setting(
        name="replication.quota.window.num",
        kind=Kind.INT,
        default=11,
        allowed=AtLeast(1),
        doc="How many samples the quotas of replication are measured over.",
    ),
    Setting(
        name="replication.quota.window.size.seconds",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How long one sample of the quotas of replication is.",
    ),
    Setting(
        name="alter.log.dirs.replication.quota.window.num",
        kind=Kind.INT,
        default=11,
        allowed=AtLeast(1),
        doc="How many samples moves between directories are measured over.",
    ),
    Setting(
        name="alter.log.dirs.replication.quota.window.size.seconds",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How long one sample of moves between directories is.",
    ),
    Setting(
        name="controller.quota.window.num",
        kind=Kind.INT,
        default=11,
        allowed=AtLeast(1),
        doc="How many samples the quotas of changes to the cluster are measured over.",
    ),
    Setting(
        name="controller.quota.window.size.seconds",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How long one sample of the quotas of changes to the cluster is.",
    ),
    Setting(
        name="client.quota.callback.class",
        kind=Kind.CLASS,
        default=None,
        doc="A Java class that decides quotas; such a class cannot be loaded here.",
    ),
    Setting(
        name="leader.replication.throttled.rate",
        kind=Kind.LONG,
        default=LONG_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many bytes a second a leader sends to throttled replicas; only ever set while running.",
    ),
    Setting(
        name="follower.replication.throttled.rate",
        kind=Kind.LONG,
        default=LONG_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many bytes a second a follower fetches for throttled replicas; only ever set while running.",
    ),
    Setting(
        name="replica.alter.log.dirs.io.max.bytes.per.second",
        kind=Kind.LONG,
        default=LONG_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many bytes a second moves between directories copy; only ever set while running.",
    ),
)

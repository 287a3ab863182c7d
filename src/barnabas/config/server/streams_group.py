"""The settings of streams groups."""

from __future__ import annotations

from barnabas.config.setting import INT_MAX, AtLeast, Kind, Reload, Setting
from barnabas.config.topic import MINUTE_MS

STREAMS_GROUP_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="group.streams.max.size",
        kind=Kind.INT,
        default=INT_MAX,
        allowed=AtLeast(1),
        doc="How many members a streams group takes.",
    ),
    Setting(
        name="group.streams.session.timeout.ms",
        kind=Kind.INT,
        default=45_000,
        allowed=AtLeast(1),
        doc="How long a member of a streams group may be silent before it is dropped.",
    ),
    Setting(
        name="group.streams.min.session.timeout.ms",
        kind=Kind.INT,
        default=45_000,
        allowed=AtLeast(1),
        doc="The shortest session time-out that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.max.session.timeout.ms",
        kind=Kind.INT,
        default=MINUTE_MS,
        allowed=AtLeast(1),
        doc="The longest session time-out that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.heartbeat.interval.ms",
        kind=Kind.INT,
        default=5_000,
        allowed=AtLeast(1),
        doc="How often a member of a streams group sends a heartbeat.",
    ),
    Setting(
        name="group.streams.min.heartbeat.interval.ms",
        kind=Kind.INT,
        default=5_000,
        allowed=AtLeast(1),
        doc="The shortest heartbeat interval that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.max.heartbeat.interval.ms",
        kind=Kind.INT,
        default=15_000,
        allowed=AtLeast(1),
        doc="The longest heartbeat interval that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.assignment.interval.ms",
        kind=Kind.INT,
        default=1_000,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How long the next assignment of a streams group waits after the last one.",
    ),
    Setting(
        name="group.streams.min.assignment.interval.ms",
        kind=Kind.INT,
        default=0,
        allowed=AtLeast(0),
        doc="The shortest assignment interval that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.max.assignment.interval.ms",
        kind=Kind.INT,
        default=15_000,
        allowed=AtLeast(0),
        doc="The longest assignment interval that a streams group can be set to.",
    ),
    Setting(
        name="group.streams.initial.rebalance.delay.ms",
        kind=Kind.INT,
        default=3_000,
        allowed=AtLeast(0),
        doc="How long the first rebalance of a streams group waits for more members.",
    ),
    Setting(
        name="group.streams.num.standby.replicas",
        kind=Kind.INT,
        default=0,
        allowed=AtLeast(0),
        doc="How many standby copies each task has.",
    ),
    Setting(
        name="group.streams.max.standby.replicas",
        kind=Kind.INT,
        default=2,
        allowed=AtLeast(0),
        doc="The most standby copies that a streams group can be set to.",
    ),
)

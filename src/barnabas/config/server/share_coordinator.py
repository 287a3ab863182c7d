"""The settings of the share coordinator, which keeps the state of share partitions."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Between, Kind, Reload, Setting
from barnabas.config.topic import MINUTE_MS

SHARE_COORDINATOR_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="share.coordinator.threads",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How many threads coordinate in Apache's node; read, and of no effect here, where one loop does.",
    ),
    Setting(
        name="share.coordinator.append.linger.ms",
        kind=Kind.INT,
        default=-1,
        allowed=AtLeast(-1),
        doc="How long the coordinator gathers records before it appends them together; -1 follows the load.",
    ),
    Setting(
        name="share.coordinator.cached.buffer.max.bytes",
        kind=Kind.INT,
        default=1_048_588,
        allowed=AtLeast(524_288),
        reload=Reload.CLUSTER_WIDE,
        doc="The largest buffer that the coordinator keeps for its next batch.",
    ),
    Setting(
        name="share.coordinator.write.timeout.ms",
        kind=Kind.INT,
        default=5_000,
        allowed=AtLeast(1),
        doc="How long a write of state waits for its replicas before it fails.",
    ),
    Setting(
        name="share.coordinator.load.buffer.size",
        kind=Kind.INT,
        default=5_242_880,
        allowed=AtLeast(1),
        doc="How much of `__share_group_state` is read at once when it is loaded.",
    ),
    Setting(
        name="share.coordinator.snapshot.update.records.per.snapshot",
        kind=Kind.INT,
        default=500,
        allowed=Between(0, 500),
        doc="How many updates of a share partition are written between two snapshots of it.",
    ),
    Setting(
        name="share.coordinator.cold.partition.snapshot.interval.ms",
        kind=Kind.INT,
        default=5 * MINUTE_MS,
        allowed=AtLeast(1),
        is_internal=True,
        doc="How often share partitions without news are written down as a snapshot.",
    ),
    Setting(
        name="share.coordinator.state.topic.num.partitions",
        kind=Kind.INT,
        default=50,
        allowed=AtLeast(1),
        doc="How many partitions `__share_group_state` is made with; never change it afterwards.",
    ),
    Setting(
        name="share.coordinator.state.topic.replication.factor",
        kind=Kind.SHORT,
        default=3,
        allowed=AtLeast(1),
        doc="How many replicas `__share_group_state` is made with.",
    ),
    Setting(
        name="share.coordinator.state.topic.min.isr",
        kind=Kind.SHORT,
        default=2,
        allowed=AtLeast(1),
        doc="How many replicas of `__share_group_state` must have a record.",
    ),
    Setting(
        name="share.coordinator.state.topic.segment.bytes",
        kind=Kind.INT,
        default=104_857_600,
        allowed=AtLeast(1),
        doc="The segment size of `__share_group_state`.",
    ),
    Setting(
        name="share.coordinator.state.topic.compression.codec",
        kind=Kind.INT,
        default=0,
        doc="The number of the codec that `__share_group_state` is compressed with; 0 is none.",
    ),
    Setting(
        name="share.coordinator.state.topic.prune.interval.ms",
        kind=Kind.INT,
        default=5 * MINUTE_MS,
        allowed=AtLeast(1),
        is_internal=True,
        doc="How often records of `__share_group_state` that no state needs are deleted.",
    ),
)

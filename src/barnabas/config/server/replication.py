"""The settings of replication between brokers and of who leads."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Reload, Setting
from barnabas.config.topic import MINUTE_MS

REPLICATION_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="num.replica.fetchers",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How many connections a broker fetches over from each broker that leads.",
    ),
    Setting(
        name="replica.fetch.max.bytes",
        kind=Kind.INT,
        default=1_048_576,
        allowed=AtLeast(0),
        doc="How many bytes of a partition are asked for at once; a larger first batch comes all the same.",
    ),
    Setting(
        name="replica.fetch.min.bytes",
        kind=Kind.INT,
        default=1,
        doc="How many bytes a leader gathers before it answers a follower, if the wait is not over before.",
    ),
    Setting(
        name="replica.fetch.response.max.bytes",
        kind=Kind.INT,
        default=10_485_760,
        allowed=AtLeast(0),
        doc="How many bytes a follower asks for at once over all partitions.",
    ),
    Setting(
        name="replica.fetch.wait.max.ms",
        kind=Kind.INT,
        default=500,
        doc="How long a leader may let a follower wait; at most `replica.lag.time.max.ms`.",
    ),
    Setting(
        name="replica.fetch.backoff.ms",
        kind=Kind.INT,
        default=1_000,
        allowed=AtLeast(0),
        doc="How long a follower leaves a partition alone after an error.",
    ),
    Setting(
        name="replica.lag.time.max.ms",
        kind=Kind.LONG,
        default=30_000,
        doc="How long a follower may be behind before it is taken out of the in-sync replicas.",
    ),
    Setting(
        name="replica.high.watermark.checkpoint.interval.ms",
        kind=Kind.LONG,
        default=5_000,
        doc="How often high watermarks are written down.",
    ),
    Setting(
        name="replica.selector.class",
        kind=Kind.STRING,
        default=None,
        doc="A Java class that chooses the replica that a consumer reads from; of Kafka's own, "
        "`RackAwareReplicaSelector` prefers the consumer's rack.",
    ),
    Setting(
        name="replica.socket.timeout.ms",
        kind=Kind.INT,
        default=30_000,
        doc="How long a follower waits on a connection to a leader; at least `replica.fetch.wait.max.ms`.",
    ),
    Setting(
        name="replica.socket.receive.buffer.bytes",
        kind=Kind.INT,
        default=65_536,
        doc="The receive buffer of a follower's connection to a leader.",
    ),
    Setting(
        name="follower.fetch.last.tiered.offset.enable",
        kind=Kind.BOOLEAN,
        default=False,
        reload=Reload.CLUSTER_WIDE,
        doc="Whether a new follower of a tiered partition starts behind what is in the object store.",
    ),
    Setting(
        name="auto.leader.rebalance.enable",
        kind=Kind.BOOLEAN,
        default=True,
        doc="Whether leadership goes back to preferred replicas by itself.",
    ),
    Setting(
        name="leader.imbalance.check.interval.seconds",
        kind=Kind.LONG,
        default=300,
        allowed=AtLeast(1),
        doc="How often the controller looks for leaders that are not the preferred ones.",
    ),
    Setting(
        name="unclean.leader.election.interval.ms",
        kind=Kind.LONG,
        default=5 * MINUTE_MS,
        allowed=AtLeast(1),
        is_internal=True,
        doc="How often the controller looks for partitions without a leader that may get an unclean one.",
    ),
)

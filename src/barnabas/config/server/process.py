"""The settings of a node as a process: who it is in the cluster, what it does there and how it starts and stops."""

from __future__ import annotations

from barnabas.config.setting import LONG_MAX, AtLeast, Distinct, Kind, OneOf, Reload, Setting
from barnabas.config.topic import MINUTE_MS

PROCESS_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="node.id",
        kind=Kind.INT,
        default=None,
        is_required=True,
        allowed=AtLeast(0),
        doc="The number of this node, its own in the whole cluster, whatever its roles.",
    ),
    Setting(
        name="broker.id",
        kind=Kind.INT,
        default=-1,
        doc="The older name of `node.id`; where both are set they must agree.",
    ),
    Setting(
        name="process.roles",
        kind=Kind.LIST,
        default=None,
        is_required=True,
        allowed=OneOf(("broker", "controller"), is_empty_allowed=False),
        doc="What this node is: `broker`, `controller`, or both.",
    ),
    Setting(
        name="broker.rack",
        kind=Kind.STRING,
        default=None,
        doc="The rack that this node stands in, so that replicas are spread and readers find near ones.",
    ),
    Setting(
        name="broker.heartbeat.interval.ms",
        kind=Kind.INT,
        default=2_000,
        doc="How often a broker tells the active controller that it lives.",
    ),
    Setting(
        name="broker.session.timeout.ms",
        kind=Kind.INT,
        default=9_000,
        doc="How long the active controller waits for a heartbeat before it fences a broker; at least twice the "
        "interval is wise.",
    ),
    Setting(
        name="initial.broker.registration.timeout.ms",
        kind=Kind.INT,
        default=MINUTE_MS,
        doc="How long a starting broker tries to register before it gives up and stops.",
    ),
    Setting(
        name="server.max.startup.time.ms",
        kind=Kind.LONG,
        default=LONG_MAX,
        allowed=AtLeast(0),
        is_internal=True,
        doc="How long a start may take before the node gives up.",
    ),
    Setting(
        name="controlled.shutdown.enable",
        kind=Kind.BOOLEAN,
        default=True,
        doc="Whether a stopping broker first has its partitions led by others.",
    ),
    Setting(
        name="controller.performance.sample.period.ms",
        kind=Kind.LONG,
        default=MINUTE_MS,
        allowed=AtLeast(100),
        is_internal=True,
        doc="How often the active controller logs a summary of how long its events took.",
    ),
    Setting(
        name="controller.performance.always.log.threshold.ms",
        kind=Kind.LONG,
        default=2_000,
        allowed=AtLeast(0),
        is_internal=True,
        doc="The duration from which the active controller logs an event by itself.",
    ),
    Setting(
        name="request.timeout.ms",
        kind=Kind.INT,
        default=30_000,
        doc="How long this node waits for an answer to a request of its own.",
    ),
    Setting(
        name="background.threads",
        kind=Kind.INT,
        default=10,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How many threads do chores in Apache's node; read, and of no effect here, where one loop schedules them.",
    ),
    Setting(
        name="num.io.threads",
        kind=Kind.INT,
        default=8,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How many threads serve requests in Apache's node; read, and of no effect here, where one loop does.",
    ),
    Setting(
        name="config.providers",
        kind=Kind.LIST,
        default=(),
        allowed=Distinct(),
        reload=Reload.CLUSTER_WIDE,
        doc="Names of plug-ins that fill in `${...}` in values; they are Java classes, so a node here refuses them.",
    ),
    Setting(
        name="unstable.api.versions.enable",
        kind=Kind.BOOLEAN,
        default=False,
        is_internal=True,
        doc="Whether request versions that Kafka still changes are served.",
    ),
    Setting(
        name="unstable.feature.versions.enable",
        kind=Kind.BOOLEAN,
        default=False,
        is_internal=True,
        doc="Whether feature levels that Kafka still changes can be finalized.",
    ),
)

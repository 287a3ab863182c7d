"""The settings of listeners and connections."""

from __future__ import annotations

from barnabas.config.setting import INT_MAX, AtLeast, Distinct, Kind, Reload, Setting
from barnabas.config.topic import MINUTE_MS

NETWORK_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="listeners",
        kind=Kind.LIST,
        default=("PLAINTEXT://:9092",),
        allowed=Distinct(is_empty_allowed=False),
        reload=Reload.PER_BROKER,
        doc="Where this node listens, as a list of `{listener}://{host}:{port}`; an empty host is every address of "
        "the machine.",
    ),
    Setting(
        name="advertised.listeners",
        kind=Kind.LIST,
        default=None,
        allowed=Distinct(is_empty_allowed=False),
        doc="What others are told to connect to, where that is not what `listeners` says.",
    ),
    Setting(
        name="listener.security.protocol.map",
        kind=Kind.STRING,
        default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        reload=Reload.PER_BROKER,
        doc="The security protocol of each listener, as a list of `{listener}:{protocol}`.",
    ),
    Setting(
        name="inter.broker.listener.name",
        kind=Kind.STRING,
        default=None,
        doc="The listener that brokers use among each other; unset, `security.inter.broker.protocol` names it.",
    ),
    Setting(
        name="controller.listener.names",
        kind=Kind.LIST,
        default=None,
        is_required=True,
        allowed=Distinct(is_empty_allowed=False),
        doc="The listeners of controllers, the first being the one that nodes use to reach them.",
    ),
    Setting(
        name="early.start.listeners",
        kind=Kind.LIST,
        default=None,
        allowed=Distinct(),
        doc="The listeners that open before the authorizer is ready; unset, those of the controllers.",
    ),
    Setting(
        name="connections.max.idle.ms",
        kind=Kind.LONG,
        default=10 * MINUTE_MS,
        doc="How long a connection may be silent before it is closed.",
    ),
    Setting(
        name="max.connections",
        kind=Kind.INT,
        default=INT_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many connections a node takes at once; further ones wait.",
    ),
    Setting(
        name="max.connections.per.ip",
        kind=Kind.INT,
        default=INT_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many connections one address may hold; zero admits only those named in the overrides.",
    ),
    Setting(
        name="max.connections.per.ip.overrides",
        kind=Kind.STRING,
        default="",
        reload=Reload.CLUSTER_WIDE,
        doc="Other limits for some addresses, as a list of `{host}:{count}`.",
    ),
    Setting(
        name="max.connection.creation.rate",
        kind=Kind.INT,
        default=INT_MAX,
        allowed=AtLeast(0),
        reload=Reload.CLUSTER_WIDE,
        doc="How many connections a second are taken at most.",
    ),
    Setting(
        name="queued.max.requests",
        kind=Kind.INT,
        default=500,
        allowed=AtLeast(1),
        doc="How many requests may wait to be served in Apache's node; read, and of no effect here, where none wait "
        "in a queue.",
    ),
    Setting(
        name="queued.max.request.bytes",
        kind=Kind.LONG,
        default=-1,
        doc="How many bytes of requests may wait before nothing more is read; -1 sets no limit.",
    ),
    Setting(
        name="socket.request.max.bytes",
        kind=Kind.INT,
        default=104_857_600,
        allowed=AtLeast(1),
        doc="The largest request that is read.",
    ),
    Setting(
        name="socket.send.buffer.bytes",
        kind=Kind.INT,
        default=102_400,
        doc="The size of a socket's send buffer (SO_SNDBUF); -1 leaves it to the system.",
    ),
    Setting(
        name="socket.receive.buffer.bytes",
        kind=Kind.INT,
        default=102_400,
        doc="The size of a socket's receive buffer (SO_RCVBUF); -1 leaves it to the system.",
    ),
    Setting(
        name="socket.listen.backlog.size",
        kind=Kind.INT,
        default=50,
        allowed=AtLeast(1),
        doc="How many connections may wait to be accepted.",
    ),
    Setting(
        name="socket.connection.setup.timeout.ms",
        kind=Kind.LONG,
        default=10_000,
        doc="How long a connection to another node may take to be made; each further try doubles it.",
    ),
    Setting(
        name="socket.connection.setup.timeout.max.ms",
        kind=Kind.LONG,
        default=30_000,
        doc="The longest that a connection to another node may take to be made.",
    ),
    Setting(
        name="num.network.threads",
        kind=Kind.INT,
        default=3,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How many threads move bytes in Apache's node; read, and of no effect here, where one loop does.",
    ),
    Setting(
        name="controller.socket.timeout.ms",
        kind=Kind.INT,
        default=30_000,
        doc="How long a broker waits on a connection to the controller.",
    ),
    Setting(
        name="connection.failed.authentication.delay.ms",
        kind=Kind.INT,
        default=100,
        allowed=AtLeast(0),
        doc="How long the end of a connection that failed to authenticate is held back.",
    ),
)

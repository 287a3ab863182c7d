"""The settings of who may do what, and of delegation tokens."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Reload, Setting
from barnabas.config.topic import DAY_MS, HOUR_MS

AUTHORIZATION_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="authorizer.class.name",
        kind=Kind.STRING,
        default="",
        doc="Who decides on access: `org.apache.kafka.metadata.authorizer.StandardAuthorizer`, which keeps ACLs in the "
        "metadata, or nobody where it is empty. `super.users` and `allow.everyone.if.no.acl.found` go with it.",
    ),
    Setting(
        name="principal.builder.class",
        kind=Kind.CLASS,
        default="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        reload=Reload.PER_BROKER,
        doc="The Java class that makes a principal from a connection; only Kafka's own is known here.",
    ),
    Setting(
        name="delegation.token.secret.key",
        kind=Kind.PASSWORD,
        default=None,
        doc="The secret that delegation tokens are signed with, the same on all nodes; without it there are none.",
    ),
    Setting(
        name="delegation.token.max.lifetime.ms",
        kind=Kind.LONG,
        default=7 * DAY_MS,
        allowed=AtLeast(1),
        doc="The longest life of a delegation token, however often it is renewed.",
    ),
    Setting(
        name="delegation.token.expiry.time.ms",
        kind=Kind.LONG,
        default=DAY_MS,
        allowed=AtLeast(1),
        doc="How long a delegation token is good for unless it is renewed.",
    ),
    Setting(
        name="delegation.token.expiry.check.interval.ms",
        kind=Kind.LONG,
        default=HOUR_MS,
        allowed=AtLeast(1),
        doc="How often delegation tokens that have expired are removed.",
    ),
)

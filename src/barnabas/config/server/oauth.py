"""The settings of SASL's OAUTHBEARER: where tokens come from and which are taken."""

from __future__ import annotations

from barnabas.config.setting import Between, Distinct, Kind, OneOfAnyCase, Setting
from barnabas.config.topic import HOUR_MS

OAUTH_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="sasl.oauthbearer.token.endpoint.url",
        kind=Kind.STRING,
        default=None,
        doc="Where this node gets its own tokens.",
    ),
    Setting(
        name="sasl.oauthbearer.client.credentials.client.id",
        kind=Kind.STRING,
        default=None,
        doc="The id by which this node asks for its tokens.",
    ),
    Setting(
        name="sasl.oauthbearer.client.credentials.client.secret",
        kind=Kind.PASSWORD,
        default=None,
        doc="The secret that goes with that id.",
    ),
    Setting(
        name="sasl.oauthbearer.scope",
        kind=Kind.STRING,
        default=None,
        doc="The scope that this node asks its tokens for.",
    ),
    Setting(
        name="sasl.oauthbearer.jwt.retriever.class",
        kind=Kind.CLASS,
        default="org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        doc="The Java class that gets tokens; only Kafka's own is known here.",
    ),
    Setting(
        name="sasl.oauthbearer.jwt.validator.class",
        kind=Kind.CLASS,
        default="org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        doc="The Java class that checks tokens; only Kafka's own is known here.",
    ),
    Setting(
        name="sasl.oauthbearer.jwks.endpoint.url",
        kind=Kind.STRING,
        default=None,
        doc="Where the keys are that tokens are signed with.",
    ),
    Setting(
        name="sasl.oauthbearer.jwks.endpoint.refresh.ms",
        kind=Kind.LONG,
        default=HOUR_MS,
        doc="How often those keys are fetched again.",
    ),
    Setting(
        name="sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        kind=Kind.LONG,
        default=100,
        doc="How long a failed fetch of the keys waits to be tried again; each further failure doubles it.",
    ),
    Setting(
        name="sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        kind=Kind.LONG,
        default=10_000,
        doc="The longest that a failed fetch of the keys waits to be tried again.",
    ),
    Setting(
        name="sasl.oauthbearer.clock.skew.seconds",
        kind=Kind.INT,
        default=30,
        doc="How far the clocks of token provider and node may be apart.",
    ),
    Setting(
        name="sasl.oauthbearer.expected.audience",
        kind=Kind.LIST,
        default=(),
        allowed=Distinct(),
        doc="The audiences of which a token must name one.",
    ),
    Setting(
        name="sasl.oauthbearer.expected.issuer",
        kind=Kind.STRING,
        default=None,
        doc="The issuer that a token must name.",
    ),
    Setting(
        name="sasl.oauthbearer.scope.claim.name",
        kind=Kind.STRING,
        default="scope",
        doc="The claim of a token that holds its scope.",
    ),
    Setting(
        name="sasl.oauthbearer.sub.claim.name",
        kind=Kind.STRING,
        default="sub",
        doc="The claim of a token that holds its subject, the user.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.algorithm",
        kind=Kind.STRING,
        default="RS256",
        allowed=OneOfAnyCase(("ES256", "RS256")),
        doc="The algorithm that assertions are signed with.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.file",
        kind=Kind.STRING,
        default=None,
        doc="A file with a ready assertion; the settings that would make one are then not read.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.template.file",
        kind=Kind.STRING,
        default=None,
        doc="A file with claims and headers that every assertion gets.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.private.key.file",
        kind=Kind.STRING,
        default=None,
        doc="The file with the key that assertions are signed with.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.private.key.passphrase",
        kind=Kind.PASSWORD,
        default=None,
        doc="The passphrase of that key.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.aud",
        kind=Kind.STRING,
        default=None,
        doc="The audience that assertions name.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.iss",
        kind=Kind.STRING,
        default=None,
        doc="The issuer that assertions name.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.sub",
        kind=Kind.STRING,
        default=None,
        doc="The subject that assertions name.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.exp.seconds",
        kind=Kind.INT,
        default=300,
        allowed=Between(0, 86_400),
        doc="How long an assertion is good for.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.nbf.seconds",
        kind=Kind.INT,
        default=60,
        allowed=Between(0, 3_600),
        doc="How long before its making an assertion is good already.",
    ),
    Setting(
        name="sasl.oauthbearer.assertion.claim.jti.include",
        kind=Kind.BOOLEAN,
        default=False,
        doc="Whether each assertion gets an id of its own.",
    ),
)

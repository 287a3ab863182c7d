"""The settings of a client, with Kafka's names and defaults, as a properties file gives them.

A client starts from brokers or from controllers, never from both. Names that are not declared here are passed over:
one file may serve several programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from barnabas.client.addresses import Address, parse_addresses
from barnabas.config.listeners import SecurityProtocol
from barnabas.config.setting import INT_MAX, AtLeast, Between, ConfigError, Kind, OneOfAnyCase, Setting

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
BOOTSTRAP_CONTROLLERS: Final = "bootstrap.controllers"
DEFAULT_API_TIMEOUT_MS: Final = "default.api.timeout.ms"
REQUEST_TIMEOUT_MS: Final = "request.timeout.ms"
SECURITY_PROTOCOL: Final = "security.protocol"

CLIENT_SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        name=BOOTSTRAP_SERVERS,
        kind=Kind.LIST,
        default=(),
        doc="Brokers to start from, as a list of `{host}:{port}`; the others are learnt from them.",
    ),
    Setting(
        name=BOOTSTRAP_CONTROLLERS,
        kind=Kind.LIST,
        default=(),
        doc="Controllers to start from, as a list of `{host}:{port}`, where brokers are not to be asked.",
    ),
    Setting(
        name="client.id",
        kind=Kind.STRING,
        default="",
        doc="The name of this client in the logs and quotas of nodes.",
    ),
    Setting(
        name=REQUEST_TIMEOUT_MS,
        kind=Kind.INT,
        default=30_000,
        allowed=AtLeast(0),
        doc="How long one request may take before it is sent again.",
    ),
    Setting(
        name=DEFAULT_API_TIMEOUT_MS,
        kind=Kind.INT,
        default=60_000,
        allowed=AtLeast(0),
        doc="How long a call may take with all its tries.",
    ),
    Setting(
        name="socket.connection.setup.timeout.ms",
        kind=Kind.LONG,
        default=10_000,
        doc="How long a connection may take to come about.",
    ),
    Setting(
        name="retries",
        kind=Kind.INT,
        default=INT_MAX,
        allowed=Between(0, INT_MAX),
        doc="How often a call is tried again while its time lasts.",
    ),
    Setting(
        name="retry.backoff.ms",
        kind=Kind.LONG,
        default=100,
        allowed=AtLeast(0),
        doc="How long to wait before the first new try; each further failure doubles it.",
    ),
    Setting(
        name="retry.backoff.max.ms",
        kind=Kind.LONG,
        default=1_000,
        allowed=AtLeast(0),
        doc="The longest wait before a new try.",
    ),
    Setting(
        name=SECURITY_PROTOCOL,
        kind=Kind.STRING,
        default=SecurityProtocol.PLAINTEXT.name,
        allowed=OneOfAnyCase(tuple(protocol.name for protocol in SecurityProtocol)),
        doc="How connections are secured; so far only PLAINTEXT can be served.",
    ),
)


class UnusableConfigError(ConfigError):
    """Settings that are right one by one and that still make no client."""


@dataclass(frozen=True, slots=True)
class ClientConfig:
    bootstrap: tuple[Address, ...]
    asks_controllers: bool
    client_id: str
    request_timeout_ms: int
    api_timeout_ms: int
    connection_timeout_ms: int
    retries: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int


def parse_client(given: Mapping[str, str]) -> ClientConfig:
    """Raises ConfigError for a value that a setting does not take, UnusableConfigError where values do not agree."""
    values = {setting.name: setting.value_in(given) for setting in CLIENT_SETTINGS}

    def integer(name: str) -> int:
        return cast(int, values[name])

    protocol = str(values[SECURITY_PROTOCOL]).upper()
    if protocol != SecurityProtocol.PLAINTEXT.name:
        raise UnusableConfigError(
            f"{SECURITY_PROTOCOL}={protocol} is not supported yet: connections can only be PLAINTEXT"
        )
    servers = cast(tuple[str, ...], values[BOOTSTRAP_SERVERS])
    controllers = cast(tuple[str, ...], values[BOOTSTRAP_CONTROLLERS])
    if bool(servers) == bool(controllers):
        raise UnusableConfigError(f"one of {BOOTSTRAP_SERVERS} and {BOOTSTRAP_CONTROLLERS} must be set, and not both")
    try:
        bootstrap = parse_addresses(servers or controllers, BOOTSTRAP_SERVERS if servers else BOOTSTRAP_CONTROLLERS)
    except ConfigError as error:
        raise UnusableConfigError(str(error)) from None
    request_timeout_ms, api_timeout_ms = integer(REQUEST_TIMEOUT_MS), integer(DEFAULT_API_TIMEOUT_MS)
    if api_timeout_ms < request_timeout_ms and DEFAULT_API_TIMEOUT_MS in given:
        raise UnusableConfigError(
            f"{DEFAULT_API_TIMEOUT_MS}={api_timeout_ms} must not be smaller than {REQUEST_TIMEOUT_MS}="
            f"{request_timeout_ms}"
        )
    return ClientConfig(
        bootstrap=bootstrap,
        asks_controllers=bool(controllers),
        client_id=str(values["client.id"]),
        request_timeout_ms=request_timeout_ms,
        api_timeout_ms=max(api_timeout_ms, request_timeout_ms),
        connection_timeout_ms=integer("socket.connection.setup.timeout.ms"),
        retries=integer("retries"),
        retry_backoff_ms=integer("retry.backoff.ms"),
        retry_backoff_max_ms=integer("retry.backoff.max.ms"),
    )

"""Where a node listens: `{listener}://{host}:{port}` entries, and the security protocol of each listener.

Names are upper case. No host stands for every address of the machine. Two listeners share neither a name nor a port,
unless one has an IPv4 and the other an IPv6 address.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError

LISTENERS = "listeners"
ADVERTISED_LISTENERS = "advertised.listeners"
PROTOCOL_MAP = "listener.security.protocol.map"
CONTROLLER_LISTENER_NAMES = "controller.listener.names"

_ENTRY = re.compile(r"(?P<name>.*)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>-?[0-9]+)")


class SecurityProtocol(Enum):
    """How a listener is secured, by the numbers that registrations carry."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


@dataclass(frozen=True, slots=True)
class Endpoint:
    listener: str
    protocol: SecurityProtocol
    host: str | None
    port: int


def parse_protocol_map(config: ServerConfig) -> dict[str, SecurityProtocol]:
    """Protocols by listener. Without a map of one's own, controller listeners are plain where everything else is."""
    protocols = {}
    for entry in re.split(r"\s*,\s*", config.text(PROTOCOL_MAP)) if config.text(PROTOCOL_MAP) else []:
        name, separator, protocol = entry.rpartition(":")
        if not separator:
            raise ConfigError(f"{entry!r} in {PROTOCOL_MAP} is not of the form {{listener}}:{{protocol}}")
        protocols[name.strip().upper()] = parse_protocol(protocol.strip(), PROTOCOL_MAP)
    if PROTOCOL_MAP in config.given:
        return protocols
    controllers = config.words(CONTROLLER_LISTENER_NAMES)
    named = {*controllers, *(entry.partition(":")[0].upper() for entry in config.words(LISTENERS))}
    if named & {protocol.name for protocol in SecurityProtocol if protocol is not SecurityProtocol.PLAINTEXT}:
        return protocols
    return protocols | dict.fromkeys(controllers, SecurityProtocol.PLAINTEXT)


def parse_protocol(name: str, setting: str) -> SecurityProtocol:
    try:
        return SecurityProtocol[name.upper()]
    except KeyError:
        names = ", ".join(protocol.name for protocol in SecurityProtocol)
        raise ConfigError(f"Invalid security protocol {name} defined in {setting}: it must be one of {names}") from None


def parse_endpoints(
    entries: Iterable[str], protocols: Mapping[str, SecurityProtocol], setting: str, *, needs_own_ports: bool = True
) -> tuple[Endpoint, ...]:
    endpoints = tuple(_parse_endpoint(entry, protocols, setting) for entry in entries)
    if len({endpoint.listener for endpoint in endpoints}) < len(endpoints):
        raise ConfigError(f"{setting}: each listener must have a different name")
    if needs_own_ports:
        _check_ports(endpoints, setting)
    return endpoints


def _parse_endpoint(entry: str, protocols: Mapping[str, SecurityProtocol], setting: str) -> Endpoint:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise ConfigError(f"{entry!r} in {setting} is not of the form {{listener}}://{{host}}:{{port}}")
    name = match["name"].upper()
    if name not in protocols:
        raise ConfigError(f"{entry!r} in {setting}: {PROTOCOL_MAP} has no protocol for listener {name}")
    port = int(match["port"])
    if not -1 <= port <= 65_535:
        raise ConfigError(f"{entry!r} in {setting}: there is no port {port}")
    return Endpoint(name, protocols[name], match["host"] or None, port)


def _check_ports(endpoints: Iterable[Endpoint], setting: str) -> None:
    by_port = defaultdict(list)
    for endpoint in endpoints:
        if endpoint.port != 0:  # Zero asks the system for any port.
            by_port[endpoint.port].append(_ip_version(endpoint.host))
    for port, versions in by_port.items():
        if len(versions) > 1 and sorted(map(str, versions)) != ["4", "6"]:
            raise ConfigError(
                f"{setting}: each listener must have a different port, or be the one IPv4 and the one IPv6 listener of "
                f"it; port {port} is there {len(versions)} times"
            )


def _ip_version(host: str | None) -> int | None:
    try:
        return ipaddress.ip_address(host or "").version
    except ValueError:
        return None

"""Addresses of nodes: `host:port` lists as `bootstrap.servers` holds them, IPv6 addresses in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from barnabas.config.setting import ConfigError

_PORT_MAX = 65_535
# What stands before "://" is for readers only; Kafka's clients pass over it, too.
_ENTRY = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>[0-9]+)")


class Address(NamedTuple):
    """Where a node can be reached; no host stands for this machine."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_addresses(entries: Iterable[str], setting: str) -> tuple[Address, ...]:
    """Each address once, in the order given. Entries that are empty do not count."""
    addresses = tuple(dict.fromkeys(_parse_address(entry, setting) for entry in entries if entry))
    if not addresses:
        raise ConfigError(f"{setting} names no node")
    return addresses


def _parse_address(entry: str, setting: str) -> Address:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise ConfigError(f"Invalid url in {setting}: {entry} is not of the form host:port")
    port = int(match["port"])
    if port > _PORT_MAX:
        raise ConfigError(f"Invalid port in {setting}: {entry}")
    return Address(match["host"], port)

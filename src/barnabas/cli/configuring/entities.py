"""What has settings, as the command line of `kafka-configs` names it, and which combinations are refused.

A name may be the empty one, which stands for the default of its type. Types and names belong together by their place.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.options import parse_integer

TOPICS: Final = "topics"
CLIENTS: Final = "clients"
USERS: Final = "users"
BROKERS: Final = "brokers"
IPS: Final = "ips"
CLIENT_METRICS: Final = "client-metrics"
GROUPS: Final = "groups"
BROKER_LOGGERS: Final = "broker-loggers"
TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS, BROKER_LOGGERS)
_WITH_DEFAULT: Final = frozenset({USERS, CLIENTS, BROKERS, IPS})


@dataclass(frozen=True, slots=True)
class Entities:
    types: Sequence[str]
    names: Sequence[str]

    @property
    def type(self) -> str:
        """The first type, which decides what is to be done."""
        return self.types[0]

    @property
    def name(self) -> str | None:
        return self.names[0] if self.names else None

    def check_distinct(self) -> None:
        repeated = [kind for index, kind in enumerate(self.types) if kind in self.types[:index]]
        if repeated:
            raise ToolError(f"Duplicate entity type(s) specified: {','.join(repeated)}")

    def check_types(self) -> None:
        for kind in self.types:
            if kind not in TYPES:
                raise ToolError(
                    f"Invalid entity type {kind}, the entity type must be one of {', '.join(TYPES)} with a "
                    "--bootstrap-server or --bootstrap-controller argument"
                )
        if not self.types:
            raise ToolError("At least one entity type must be specified")
        if len(self.types) > 1 and set(self.types) != {USERS, CLIENTS}:
            raise ToolError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")

    def check_names(self) -> None:
        """Brokers have numbers, and addresses can be found."""
        for name in filter(None, self.names):
            if self.type in (BROKERS, BROKER_LOGGERS) and not _is_number(name):
                raise ToolError(f"The entity name for {self.type} must be a valid integer broker id, but it is: {name}")
            if self.type == IPS and not _is_resolvable(name):
                raise ToolError(
                    f"The entity name for {self.type} must be a valid IP or resolvable host, but it is: {name}"
                )

    def check_describable(self, *, names_default: bool) -> None:
        if names_default and not _WITH_DEFAULT & set(self.types):
            raise ToolError(f"--entity-default must not be specified with --describe of {','.join(self.types)}")
        if BROKER_LOGGERS in self.types and not any(self.names):
            raise ToolError(f"An entity name must be specified with --describe of {','.join(self.types)}")

    def check_alterable(self) -> None:
        if _WITH_DEFAULT & set(self.types):
            if not self.names:
                raise ToolError(
                    "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
                )
        elif not any(self.names):
            raise ToolError(f"An entity name must be specified with --alter of {','.join(self.types)}")


def _is_number(text: str) -> bool:
    try:
        parse_integer(text)
    except ValueError:
        return False
    return True


def _is_resolvable(host: str) -> bool:
    try:
        return bool(socket.getaddrinfo(host, None))
    except OSError:
        return False

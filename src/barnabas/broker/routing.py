"""The table of a listener: which handler answers which API, in which versions, and which node's business that is.

What a listener serves is what its table says and nothing else: requests outside it are refused, ApiVersions, metrics
and the support table in the documentation are read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from barnabas.broker.call import Call, Outcome
from barnabas.protocol.api import APIS, Api, ApiKey, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.schema import Message


class ServedBy(StrEnum):
    """Whose answer it is. A broker passes the controller's APIs on, so it offers what both of them can read."""

    BROKER = "broker"
    CONTROLLER = "controller"


@dataclass(frozen=True, slots=True)
class Route:
    """An API in some versions, and the function of (request, call) that answers it.

    `refuse` builds the response that says of everything in a request that it failed. APIs with an error code on top
    need none. It gives None where there is no way to say so.
    """

    key: ApiKey
    versions: range
    served_by: ServedBy
    handle: Callable[[Any, Call], Outcome]
    refuse: Callable[[Any, ErrorCode], Message | None] | None = None
    api: Api = field(init=False)
    request: type[Message] = field(init=False)

    def __post_init__(self) -> None:
        api = APIS[self.key]
        assert self.versions, f"{api.name} is routed without any version"
        assert self.versions[0] in api.versions, f"{api.name} has no version {self.versions[0]}"
        assert self.versions[-1] in api.versions, f"{api.name} has no version {self.versions[-1]}"
        object.__setattr__(self, "api", api)
        object.__setattr__(self, "request", api.request)


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """The routes of a kind of listener, by the number of their API."""

    listener: Listener
    routes: dict[int, Route]

    def __iter__(self) -> Iterator[Route]:
        """The routes in the order of their numbers."""
        return (self.routes[key] for key in sorted(self.routes))


def build_table(
    *families: Iterable[Route], listener: Listener = Listener.BROKER, unstable_api_versions_enable: bool = False
) -> RoutingTable:
    """Gather the routes of all families. Versions that Kafka still changes are served only on demand."""
    routes: dict[int, Route] = {}
    for family in families:
        for route in family:
            assert route.key not in routes, f"{route.api.name} is routed twice"
            assert listener in route.api.listeners, f"{route.api.name} is never asked of a {listener}"
            stable = route.api.stable_versions
            if not unstable_api_versions_enable and route.versions[-1] not in stable:
                versions = range(route.versions.start, stable.stop)
                if not versions:
                    continue
                route = replace(route, versions=versions)
            routes[route.key] = route
    return RoutingTable(listener, routes)

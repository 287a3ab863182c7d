"""ApiVersions: what this listener serves, read off its routing table, and the features of the cluster.

v0-v4: 0 has no throttle time; 3 is flexible and brings the client's software and the features; below 4 features that
begin at level 0 are left out, because older clients cannot read them (KAFKA-17492). A version that we do not know is
answered in version 0 with UNSUPPORTED_VERSION and the versions to choose from (KIP-511).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, RoutingTable, ServedBy
from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

VERSIONS: Final = APIS[ApiKey.API_VERSIONS].versions
SOFTWARE_SINCE: Final = 3
LEVEL_0_SINCE: Final = 4
SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


@dataclass(frozen=True, slots=True)
class Features:
    """The levels of each feature that this node can work at, and those that the cluster works at."""

    supported: Mapping[str, range] = field(default_factory=dict)
    finalized: Mapping[str, int] = field(default_factory=dict)
    finalized_epoch: int = -1


class ApiVersions:
    """The handler of one listener. It is routed like any other, and told the finished table afterwards."""

    def __init__(
        self,
        features: Callable[[], Features],
        controller_versions: Callable[[], Mapping[int, range] | None] = lambda: None,
    ) -> None:
        """`controller_versions` are what the active controller serves, while a broker knows of one."""
        self._features = features
        self._controller_versions = controller_versions
        self._table: RoutingTable | None = None

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.API_VERSIONS, VERSIONS, ServedBy.BROKER, self.handle),)

    def advertise(self, table: RoutingTable) -> None:
        self._table = table

    def handle(self, request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
        if call.header.request_api_version not in VERSIONS:
            own = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=VERSIONS[0], max_version=VERSIONS[-1])
            return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own])
        if call.version >= SOFTWARE_SINCE:
            name, version = request.client_software_name, request.client_software_version
            if not SOFTWARE.fullmatch(name) or not SOFTWARE.fullmatch(version):
                return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
            call.client.software_name, call.client.software_version = name, version
        features = self._features()
        return ApiVersionsResponse(
            error_code=ErrorCode.NONE,
            api_keys=[
                ApiVersion(api_key=key, min_version=versions[0], max_version=versions[-1])
                for key, versions in self.offered().items()
            ],
            supported_features=[
                SupportedFeatureKey(name=name, min_version=levels[0], max_version=levels[-1])
                for name, levels in features.supported.items()
                if levels[0] > 0 or call.version >= LEVEL_0_SINCE
            ],
            finalized_features=[
                FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                for name, level in features.finalized.items()
                if level > 0
            ],
            finalized_features_epoch=features.finalized_epoch,
        )

    def offered(self) -> dict[int, range]:
        """The versions to advertise by API, in the order of their numbers."""
        assert self._table is not None, "the table is told before the listener opens"
        controller = self._controller_versions()
        offered: dict[int, range] = {}
        for route in self._table:
            versions = route.versions
            if route.key is ApiKey.PRODUCE and self._table.listener is Listener.BROKER:
                # Versions 0 to 2 are gone, but librdkafka takes a broker without them for one without compression
                # (KAFKA-18659).
                versions = range(versions.stop)
            elif route.served_by is ServedBy.CONTROLLER and controller is not None:
                theirs = controller.get(route.key, range(0))
                versions = range(max(versions.start, theirs.start), min(versions.stop, theirs.stop))
            if versions:
                offered[route.key] = versions
        return offered

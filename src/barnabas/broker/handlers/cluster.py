"""DescribeCluster: the brokers of the cluster, as clients of the listener that is asked may reach them.

v0-v2: 1 says whether brokers or controllers are asked for, 2 may ask for brokers that are fenced. A broker tells of
brokers only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.describe_cluster import BROKERS, CONTROLLERS, NO_CONTROLLER
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.security.acls import CLUSTER_NAME, ResourceType
from barnabas.security.authorizer import UNRESTRICTED

VERSIONS: Final = APIS[ApiKey.DESCRIBE_CLUSTER].versions


class DescribeCluster:
    """The handler. Every broker passes on what is for the controller, so each names itself as the one to ask."""

    def __init__(self, image: Callable[[], MetadataImage], *, node_id: int, cluster_id: str) -> None:
        self._image = image
        self._node_id = node_id
        self._cluster_id = cluster_id

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.DESCRIBE_CLUSTER, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
        if request.endpoint_type != BROKERS:
            return _refuse(request, call.version)
        brokers = [
            DescribeClusterBroker(
                broker_id=broker.id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
                is_fenced=broker.is_fenced,
            )
            for broker in self._image().cluster.brokers.contents()
            if (endpoint := broker.endpoints.get(call.client.listener)) is not None
            and (not broker.is_fenced or request.include_fenced_brokers)
        ]
        is_told = any(broker.broker_id == self._node_id for broker in brokers)
        response = DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=0,
            endpoint_type=BROKERS,
            cluster_id=self._cluster_id,
            controller_id=self._node_id if is_told else NO_CONTROLLER,
            brokers=brokers,
        )
        if request.include_cluster_authorized_operations:
            response.cluster_authorized_operations = UNRESTRICTED.operations(ResourceType.CLUSTER, CLUSTER_NAME)
        return response


def _refuse(request: DescribeClusterRequest, version: int) -> DescribeClusterResponse:
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
    if version == 0:
        code = ErrorCode.INVALID_REQUEST
    elif request.endpoint_type != CONTROLLERS:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=code,
        error_message=f"a broker tells of brokers, which is endpoint type {BROKERS}, not {request.endpoint_type}",
        cluster_id="",
        brokers=[],
    )

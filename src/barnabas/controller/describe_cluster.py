"""DescribeCluster, asked of a controller: the controllers that registered, by the listener that was asked (KIP-919)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.controller.decision import CommittedView, Query, RequestContext
from barnabas.controller.errors import InvalidRequest, MismatchedEndpointType, UnsupportedEndpointType
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.protocol.schema import Message
from barnabas.security.acls import CLUSTER_NAME, AclOperation, ResourceType

BROKERS: Final = 1
CONTROLLERS: Final = 2
NO_CONTROLLER: Final = -1
NOT_ASKED: Final = -(2**31)


def describe_cluster(view: CommittedView, request: DescribeClusterRequest, context: RequestContext) -> Message:
    """The active one is named only if it is among those that are told, or a client could not find it."""
    if request.endpoint_type != CONTROLLERS:
        text = f"a controller tells of controllers, which is endpoint type {CONTROLLERS}, not {request.endpoint_type}"
        if context.version == 0:
            raise InvalidRequest(text)
        raise MismatchedEndpointType(text) if request.endpoint_type == BROKERS else UnsupportedEndpointType(text)
    nodes = [
        DescribeClusterBroker(broker_id=controller.id, host=endpoint.host, port=endpoint.port)
        for controller in view.image.cluster.controllers.contents()
        if (endpoint := controller.endpoints.get(context.listener)) is not None
    ]
    authorized = NOT_ASKED
    if request.include_cluster_authorized_operations:
        is_permitted = context.access.allows(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
        authorized = context.access.operations(ResourceType.CLUSTER, CLUSTER_NAME) if is_permitted else 0
    leader_id = view.leader_id
    is_told = any(node.broker_id == leader_id for node in nodes)
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=0,
        endpoint_type=CONTROLLERS,
        cluster_id=view.settings.cluster_id,
        controller_id=leader_id if leader_id is not None and is_told else NO_CONTROLLER,
        brokers=nodes,
        cluster_authorized_operations=authorized,
    )


def _refuse(request: DescribeClusterRequest, error: ApiError, _version: int) -> Message:
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=error.code,
        error_message=str(error),
        endpoint_type=request.endpoint_type,
        cluster_id="",
        brokers=[],
    )


QUERIES: Mapping[type[Message], Query] = {
    DescribeClusterRequest: Query(describe_cluster, _refuse, needs=AclOperation.ALTER)
}

"""The cluster itself: its id, its nodes, where they listen and what they serve, and brokers that are gone for good."""

from __future__ import annotations

from barnabas import __version__
from barnabas.client.cluster import BROKER_ENDPOINTS, CONTROLLER_ENDPOINTS, NOT_IN_CHARGE, Cluster
from barnabas.client.connection import SOFTWARE_NAME
from barnabas.client.errors import check_code
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def describe_cluster(cluster: Cluster, *, includes_fenced: bool = False) -> DescribeClusterResponse:
    """The brokers, or, from a cluster that is reached by its controllers, those. Brokers that are fenced if wanted."""
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False,
        endpoint_type=CONTROLLER_ENDPOINTS if cluster.asks_controllers else BROKER_ENDPOINTS,
        include_fenced_brokers=includes_fenced,
    )

    def read(response: DescribeClusterResponse) -> DescribeClusterResponse:
        check_code(response.error_code, response.error_message)
        return response

    return cluster.call("listNodes", lambda _: request, DescribeClusterResponse, read)


def unregister_broker(cluster: Cluster, broker_id: int) -> None:
    def read(response: UnregisterBrokerResponse) -> None:
        check_code(response.error_code, response.error_message)

    cluster.call(
        "unregisterBroker",
        lambda _: UnregisterBrokerRequest(broker_id=broker_id),
        UnregisterBrokerResponse,
        read,
        # To forget a broker twice does no more than to forget it once.
        retried=NOT_IN_CHARGE | {ErrorCode.REQUEST_TIMED_OUT},
    )


def describe_api_versions(cluster: Cluster, node_id: int) -> dict[int, range]:
    """The versions of each API, by its number, that a node serves."""
    request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=__version__)

    def read(response: ApiVersionsResponse) -> dict[int, range]:
        check_code(response.error_code)
        return {each.api_key: range(each.min_version, each.max_version + 1) for each in response.api_keys}

    return cluster.call("apiVersions", lambda _: request, ApiVersionsResponse, read, to=node_id)

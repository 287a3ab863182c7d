"""Groups of consumers and others, which every broker lists that coordinates some."""

from __future__ import annotations

from typing import Final

from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.cluster import NOT_IN_CHARGE, Cluster
from barnabas.client.errors import check_code
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

_COORDINATOR_IS_STARTING: Final = NOT_IN_CHARGE | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """All groups of the cluster."""
    groups: dict[str, ListedGroup] = {}
    for broker in describe_cluster(cluster).brokers:
        for group in _list_groups_of(cluster, broker.broker_id):
            groups.setdefault(group.group_id, group)
    return list(groups.values())


def _list_groups_of(cluster: Cluster, broker_id: int) -> list[ListedGroup]:
    def read(response: ListGroupsResponse) -> list[ListedGroup]:
        check_code(response.error_code)
        return response.groups

    return cluster.call(
        "listGroups",
        lambda _: ListGroupsRequest(),
        ListGroupsResponse,
        read,
        to=broker_id,
        retried=_COORDINATOR_IS_STARTING,
        is_for_brokers=True,
    )

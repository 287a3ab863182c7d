"""Calls about groups, each of which only its coordinator answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from barnabas.client.addresses import Address
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import find_error, unanswered
from barnabas.client.owners import ask_owners
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.schema import Message

_GROUP: Final = 0  # What FindCoordinator calls the key of a group.

T = TypeVar("T")
R = TypeVar("R", bound=Message)


class Coordinator(NamedTuple):
    node_id: int
    address: Address


def ask_coordinators(
    cluster: Cluster,
    name: str,
    group_ids: Iterable[str],
    build: Callable[[Sequence[str]], Message],
    response: type[R],
    read: Callable[[R, Coordinator], Mapping[str, T | ClientError]],
    *,
    newest: int | None = None,
) -> dict[str, T | ClientError]:
    """What `read` finds for each group in the answers of the coordinators, or why there is nothing.

    `build` makes the request to one coordinator of its groups; `newest` is the last version that can say it.
    """

    def ask(coordinator: Coordinator, coordinated: Sequence[str]) -> dict[str, T | ClientError]:
        try:
            answered = cluster.call(
                name,
                lambda _: build(coordinated),
                response,
                lambda answer: read(answer, coordinator),
                to=coordinator.node_id,
                is_for_brokers=True,
                newest=newest,
            )
        except ClientError as error:
            return dict.fromkeys(coordinated, error)
        return {group_id: answered.get(group_id, unanswered(group_id)) for group_id in coordinated}

    return ask_owners(cluster, name, group_ids, lambda pending: _find_coordinators(cluster, name, pending), ask)


def _find_coordinators(cluster: Cluster, name: str, group_ids: Sequence[str]) -> dict[str, Coordinator | ClientError]:
    request = FindCoordinatorRequest(key_type=_GROUP, coordinator_keys=list(group_ids))

    def read(response: FindCoordinatorResponse) -> dict[str, Coordinator | ClientError]:
        return {
            each.key: find_error(each.error_code, each.error_message)
            or Coordinator(each.node_id, Address(each.host, each.port))
            for each in response.coordinators
        }

    try:
        found = cluster.call(
            f"{name}(api=FIND_COORDINATOR)", lambda _: request, FindCoordinatorResponse, read, is_for_brokers=True
        )
    except ClientError as error:
        return dict.fromkeys(group_ids, error)
    return {group_id: found.get(group_id, unanswered(group_id)) for group_id in group_ids}

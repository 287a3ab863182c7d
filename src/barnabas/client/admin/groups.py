"""Groups of consumers and others: which there are, what they look like, and the end of some.

Every broker lists the groups that it coordinates. A group is described by the newer of two requests, or by the older
one if it is a group of the classic protocol, which the newer request does not find.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Final

from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.cluster import NOT_IN_CHARGE, Cluster
from barnabas.client.coordinators import Coordinator, ask_coordinators
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import find_error
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.codec import decoder
from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages import consumer_group_describe as newer
from barnabas.protocol.messages import describe_groups as classic
from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.schema import ProtocolError

_VERSION: Final = Struct(">h")
_COORDINATOR_IS_STARTING: Final = NOT_IN_CHARGE | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
_NOT_OF_NEWER_PROTOCOL: Final = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)
_CONSUMER_PROTOCOL: Final = "consumer"
_UNKNOWN_MEMBER_TYPE: Final = -1
_NEWER_MEMBER_TYPE: Final = 1


class NoBrokersError(ClientError):
    """Nobody tells which brokers there are to be asked."""


class NotConsumerGroupError(ClientError):
    """The group has members of another kind than consumers."""


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """What only the newer protocol knows of a member is None for those of a classic group."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target_assignment: frozenset[TopicPartition] | None = None
    epoch: int | None = None
    is_upgraded: bool | None = None


@dataclass(frozen=True, slots=True)
class ConsumerGroupDescription:
    """The epochs are None for a group of the classic protocol."""

    group_id: str
    coordinator: Coordinator
    state: str
    assignor: str
    members: Sequence[MemberDescription]
    epoch: int | None = None
    assignment_epoch: int | None = None


Described = dict[str, ConsumerGroupDescription | ClientError]


def list_groups(cluster: Cluster, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> list[ListedGroup]:
    """All groups of the cluster, or those that are in one of these states and of one of these types."""
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    groups: dict[str, ListedGroup] = {}
    try:
        brokers = describe_cluster(cluster).brokers
    except ClientError as error:
        raise NoBrokersError(error.code, "Failed to find brokers to send ListGroups") from error
    for broker in brokers:
        for group in _list_groups_of(cluster, broker.broker_id, request):
            groups.setdefault(group.group_id, group)
    return list(groups.values())


def describe_consumer_groups(cluster: Cluster, group_ids: Sequence[str]) -> Described:
    described = ask_coordinators(
        cluster,
        "describeConsumerGroups",
        group_ids,
        lambda ids: newer.ConsumerGroupDescribeRequest(group_ids=list(ids), include_authorized_operations=False),
        newer.ConsumerGroupDescribeResponse,
        _read_newer,
    )
    rest = {
        group_id: outcome
        for group_id, outcome in described.items()
        if isinstance(outcome, ClientError) and outcome.code in _NOT_OF_NEWER_PROTOCOL
    }
    found = _describe_classic_groups(cluster, list(rest))
    for group_id, outcome in found.items():
        # What the newer request says of a group that is not there tells more.
        is_missing = isinstance(outcome, ClientError) and outcome.code == rest[group_id].code
        described[group_id] = rest[group_id] if is_missing else outcome
    return described


def delete_groups(cluster: Cluster, group_ids: Sequence[str]) -> dict[str, ClientError | None]:
    def read(response: DeleteGroupsResponse, _: Coordinator) -> dict[str, ClientError | None]:
        return {each.group_id: find_error(each.error_code) for each in response.results}

    return ask_coordinators(
        cluster,
        "deleteConsumerGroups",
        group_ids,
        lambda ids: DeleteGroupsRequest(groups_names=list(ids)),
        DeleteGroupsResponse,
        read,
    )


def _list_groups_of(cluster: Cluster, broker_id: int, request: ListGroupsRequest) -> list[ListedGroup]:
    def read(response: ListGroupsResponse) -> list[ListedGroup]:
        check_code(response.error_code)
        return response.groups

    return cluster.call(
        "listGroups",
        lambda _: request,
        ListGroupsResponse,
        read,
        to=broker_id,
        retried=_COORDINATOR_IS_STARTING,
        is_for_brokers=True,
    )


def _describe_classic_groups(cluster: Cluster, group_ids: Sequence[str]) -> Described:
    return ask_coordinators(
        cluster,
        "describeConsumerGroups",
        group_ids,
        lambda ids: classic.DescribeGroupsRequest(groups=list(ids)),
        classic.DescribeGroupsResponse,
        _read_classic,
    )


def _read_newer(response: newer.ConsumerGroupDescribeResponse, coordinator: Coordinator) -> Described:
    return {
        group.group_id: find_error(group.error_code, group.error_message)
        or ConsumerGroupDescription(
            group_id=group.group_id,
            coordinator=coordinator,
            state=group.group_state,
            assignor=group.assignor_name,
            members=[_read_newer_member(member) for member in group.members],
            epoch=group.group_epoch,
            assignment_epoch=group.assignment_epoch,
        )
        for group in response.groups
    }


def _read_newer_member(member: newer.Member) -> MemberDescription:
    is_typed = member.member_type != _UNKNOWN_MEMBER_TYPE
    return MemberDescription(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_read_newer_assignment(member.assignment),
        target_assignment=_read_newer_assignment(member.target_assignment),
        epoch=member.member_epoch,
        is_upgraded=member.member_type == _NEWER_MEMBER_TYPE if is_typed else None,
    )


def _read_newer_assignment(assignment: newer.Assignment) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic_name, index) for topic in assignment.topic_partitions for index in topic.partitions
    )


def _read_classic(response: classic.DescribeGroupsResponse, coordinator: Coordinator) -> Described:
    return {
        group.group_id: find_error(group.error_code, group.error_message) or _read_classic_group(group, coordinator)
        for group in response.groups
    }


def _read_classic_group(
    group: classic.DescribedGroup, coordinator: Coordinator
) -> ConsumerGroupDescription | ClientError:
    if group.protocol_type not in ("", _CONSUMER_PROTOCOL):
        text = f"GroupId {group.group_id} is not a consumer group ({group.protocol_type})."
        return NotConsumerGroupError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, text)
    return ConsumerGroupDescription(
        group_id=group.group_id,
        coordinator=coordinator,
        state=group.group_state,
        assignor=group.protocol_data,
        members=[
            MemberDescription(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                host=member.client_host,
                assignment=_read_classic_assignment(member.member_assignment),
            )
            for member in group.members
        ],
    )


def _read_classic_assignment(data: bytes) -> frozenset[TopicPartition]:
    """A version, and what it holds; one that is not known yet only adds to the end of the newest that is."""
    if not data:
        return frozenset()
    try:
        (version,) = _VERSION.unpack_from(data)
        read = decoder(ConsumerProtocolAssignment, min(version, ConsumerProtocolAssignment.valid_versions[-1]))
        topics = read(memoryview(data), _VERSION.size)[0].assigned_partitions
    except (ProtocolError, StructError, IndexError) as error:
        raise ClientError(ErrorCode.UNKNOWN_SERVER_ERROR, f"An assignment cannot be read: {error}") from error
    return frozenset(TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions)

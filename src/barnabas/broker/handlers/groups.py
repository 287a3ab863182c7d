"""What members of classic groups ask, and what administrators ask of groups; the coordinator's shards answer.

JoinGroup v0-v9, SyncGroup v0-v5, Heartbeat v0-v4, LeaveGroup v0-v5, DescribeGroups v0-v6, ListGroups v0-v5,
DeleteGroups v0-v2. Below version 3 LeaveGroup is of one member, and its answer has one error; below 7 JoinGroup has a
protocol name even where there is none. Requests of many groups are taken apart, for each may have another coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import IPv6Address
from typing import Any, Final, Protocol

from barnabas.broker.call import Call, Outcome, Pending
from barnabas.broker.routing import Route, ServedBy
from barnabas.coordinator.events import RequestContext
from barnabas.coordinator.group.refusals import REFUSALS
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from barnabas.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.messages.sync_group import SyncGroupRequest
from barnabas.protocol.schema import Message
from barnabas.security.acls import ResourceType
from barnabas.security.authorizer import UNRESTRICTED

MANY_LEAVE_SINCE: Final = 3
NULL_PROTOCOL_SINCE: Final = 7
MANDATORY_PROTOCOL_SINCE: Final = 5

Answer = Callable[[Any], None]


class GroupCoordinator(Protocol):
    """The shards of `__consumer_offsets` on this broker."""

    @property
    def hosted_partitions(self) -> list[int]: ...

    def partition_for(self, key: str) -> int: ...

    def ask(self, partition: int, request: Message, context: RequestContext, answer: Answer) -> None:
        """Have a request answered by a partition's shard; `answer` is called once, now or later."""
        ...


def context_of(call: Call) -> RequestContext:
    return RequestContext(call.version, call.header.client_id or "", _java_address(call.client.host))


def _java_address(host: str) -> str:
    """An address as Java prints it, which is how members are described: eight groups in full for IPv6."""
    if ":" not in host:
        return f"/{host}"
    groups = IPv6Address(host.partition("%")[0]).exploded.split(":")
    return "/" + ":".join(f"{int(group, 16):x}" for group in groups)


def ask_one(
    coordinator: GroupCoordinator,
    group_id: str,
    request: Message,
    call: Call,
    fit: Callable[[Any], Message] = lambda response: response,
) -> Pending:
    """Pass a request on to its group's shard; `fit` makes its answer one of the version that was asked in."""
    pending = Pending()
    partition = coordinator.partition_for(group_id)
    coordinator.ask(partition, request, context_of(call), lambda response: pending.complete(fit(response)))
    return pending


def gather(asks: Sequence[Callable[[Answer], None]], finish: Callable[[list[Any]], Message]) -> Outcome:
    """Ask all of them, and answer with what `finish` makes of their answers in the order of the questions."""
    if not asks:
        return finish([])
    pending = Pending()
    answers: list[Message | None] = [None] * len(asks)
    missing = len(asks)

    def answered(index: int, response: Message) -> None:
        nonlocal missing
        answers[index] = response
        missing -= 1
        if not missing:
            pending.complete(finish(answers))

    for index, ask in enumerate(asks):
        ask(partial(answered, index))
    return pending


class Groups:
    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    @property
    def routes(self) -> tuple[Route, ...]:
        handlers: dict[ApiKey, Callable[..., Outcome]] = {
            ApiKey.JOIN_GROUP: self.join,
            ApiKey.SYNC_GROUP: self.sync,
            ApiKey.HEARTBEAT: self.pass_on,
            ApiKey.LEAVE_GROUP: self.leave,
            ApiKey.DESCRIBE_GROUPS: self.describe,
            ApiKey.LIST_GROUPS: self.list_groups,
            ApiKey.DELETE_GROUPS: self.delete,
        }
        return tuple(
            Route(key, APIS[key].versions, ServedBy.BROKER, handle, REFUSALS[APIS[key].request])
            for key, handle in handlers.items()
        )

    # Members

    def pass_on(self, request: Any, call: Call, fit: Callable[[Any], Message] = lambda response: response) -> Outcome:
        if not request.group_id:
            return fit(REFUSALS[type(request)](request, ErrorCode.INVALID_GROUP_ID))
        return ask_one(self._coordinator, request.group_id, request, call, fit)

    def join(self, request: JoinGroupRequest, call: Call) -> Outcome:
        def fit(response: JoinGroupResponse) -> JoinGroupResponse:
            if response.protocol_name is None and call.version < NULL_PROTOCOL_SINCE:
                response.protocol_name = ""
            return response

        return self.pass_on(request, call, fit)

    def sync(self, request: SyncGroupRequest, call: Call) -> Outcome:
        is_named = request.protocol_type is not None and request.protocol_name is not None
        if call.version >= MANDATORY_PROTOCOL_SINCE and not is_named:
            return REFUSALS[SyncGroupRequest](request, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.pass_on(request, call)

    def leave(self, request: LeaveGroupRequest, call: Call) -> Outcome:
        if call.version >= MANY_LEAVE_SINCE:
            return self.pass_on(request, call)

        def fit(response: LeaveGroupResponse) -> LeaveGroupResponse:
            code = response.error_code or next((member.error_code for member in response.members), ErrorCode.NONE)
            return LeaveGroupResponse(error_code=code)

        one = LeaveGroupRequest(group_id=request.group_id, members=[MemberIdentity(member_id=request.member_id)])
        return self.pass_on(one, call, fit)

    # Administrators

    def describe(self, request: DescribeGroupsRequest, call: Call) -> Outcome:
        def finish(answers: list[DescribeGroupsResponse]) -> DescribeGroupsResponse:
            groups = [group for answer in answers for group in answer.groups]
            if request.include_authorized_operations:
                for group in groups:
                    if group.error_code == ErrorCode.NONE:
                        operations = UNRESTRICTED.operations(ResourceType.GROUP, group.group_id)
                        group.authorized_operations = operations
            return DescribeGroupsResponse(groups=groups)

        return gather(
            [self._asking(group_id, DescribeGroupsRequest(groups=[group_id]), call) for group_id in request.groups],
            finish,
        )

    def delete(self, request: DeleteGroupsRequest, call: Call) -> Outcome:
        def finish(answers: list[DeleteGroupsResponse]) -> DeleteGroupsResponse:
            return DeleteGroupsResponse(
                throttle_time_ms=0, results=[result for answer in answers for result in answer.results]
            )

        group_ids = dict.fromkeys(request.groups_names)
        return gather(
            [self._asking(group_id, DeleteGroupsRequest(groups_names=[group_id]), call) for group_id in group_ids],
            finish,
        )

    def list_groups(self, request: ListGroupsRequest, call: Call) -> Outcome:
        def finish(answers: list[ListGroupsResponse]) -> ListGroupsResponse:
            groups = []
            for answer in answers:
                if answer.error_code not in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR):
                    return ListGroupsResponse(error_code=answer.error_code, groups=[])
                groups.extend(answer.groups)
            return ListGroupsResponse(error_code=ErrorCode.NONE, groups=groups)

        context = context_of(call)
        return gather(
            [
                partial(self._coordinator.ask, partition, request, context)
                for partition in self._coordinator.hosted_partitions
            ],
            finish,
        )

    def _asking(self, group_id: str, request: Message, call: Call) -> Callable[[Answer], None]:
        return partial(self._coordinator.ask, self._coordinator.partition_for(group_id), request, context_of(call))

"""What members of consumer groups ask, and who describes such groups: ConsumerGroupHeartbeat and ConsumerGroupDescribe.

Both v0-v1. They are refused where the cluster has not enabled the protocol (`group.version`), or the broker does not
have it among its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from barnabas.broker.call import Call, Outcome
from barnabas.broker.handlers.groups import Answer, GroupCoordinator, ask_one, context_of, gather
from barnabas.broker.routing import Route, ServedBy
from barnabas.coordinator.group.refusals import REFUSALS
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from barnabas.protocol.schema import Message
from barnabas.security.acls import ResourceType
from barnabas.security.authorizer import UNRESTRICTED


class ConsumerGroups:
    def __init__(self, coordinator: GroupCoordinator, is_enabled: Callable[[], bool]) -> None:
        self._coordinator = coordinator
        self._is_enabled = is_enabled

    @property
    def routes(self) -> tuple[Route, ...]:
        handlers: dict[ApiKey, Callable[..., Outcome]] = {
            ApiKey.CONSUMER_GROUP_HEARTBEAT: self.heartbeat,
            ApiKey.CONSUMER_GROUP_DESCRIBE: self.describe,
        }
        return tuple(
            Route(key, APIS[key].versions, ServedBy.BROKER, handle, REFUSALS[APIS[key].request])
            for key, handle in handlers.items()
        )

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest, call: Call) -> Outcome:
        if not self._is_enabled():
            return _refused(request, ErrorCode.UNSUPPORTED_VERSION)
        return ask_one(self._coordinator, request.group_id, request, call)

    def describe(self, request: ConsumerGroupDescribeRequest, call: Call) -> Outcome:
        if not self._is_enabled():
            return _refused(request, ErrorCode.UNSUPPORTED_VERSION)

        def finish(answers: list[ConsumerGroupDescribeResponse]) -> ConsumerGroupDescribeResponse:
            groups = [group for answer in answers for group in answer.groups]
            if request.include_authorized_operations:
                for group in groups:
                    if group.error_code == ErrorCode.NONE:
                        group.authorized_operations = UNRESTRICTED.operations(ResourceType.GROUP, group.group_id)
            return ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=groups)

        return gather([self._describing(group_id, call) for group_id in request.group_ids], finish)

    def _describing(self, group_id: str, call: Call) -> Callable[[Answer], None]:
        one = ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)
        if not group_id:
            return lambda answer: answer(_refused(one, ErrorCode.INVALID_GROUP_ID))
        return partial(self._coordinator.ask, self._coordinator.partition_for(group_id), one, context_of(call))


def _refused(request: Message, code: ErrorCode) -> Message:
    return REFUSALS[type(request)](request, code)

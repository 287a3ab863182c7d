"""FindCoordinator: which broker coordinates a group, a transactional id or a share partition.

v0-v6: 1 says what kind of key it is, 4 asks for many keys at once, 6 may ask for share partitions. There is no
coordinator here for any of them, which clients take for one that is not there yet, and ask again.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

VERSIONS: Final = APIS[ApiKey.FIND_COORDINATOR].versions
BATCHES_SINCE: Final = 4
SHARE_SINCE: Final = 6
NO_NODE: Final = -1


class KeyType(IntEnum):
    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class FindCoordinator:
    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.FIND_COORDINATOR, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: FindCoordinatorRequest, call: Call) -> FindCoordinatorResponse:
        code = _code(request.key_type, call.version)
        if call.version < BATCHES_SINCE:
            return FindCoordinatorResponse(
                error_code=code, error_message=code.message, node_id=NO_NODE, host="", port=NO_NODE
            )
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(
                    key=key, node_id=NO_NODE, host="", port=NO_NODE, error_code=code, error_message=code.message
                )
                for key in request.coordinator_keys
            ]
        )


def _code(key_type: int, version: int) -> ErrorCode:
    known = KeyType.SHARE if version >= SHARE_SINCE else KeyType.TRANSACTION
    return ErrorCode.COORDINATOR_NOT_AVAILABLE if 0 <= key_type <= known else ErrorCode.INVALID_REQUEST

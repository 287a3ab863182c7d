"""FindCoordinator: which broker coordinates a group, a transactional id or a share partition.

v0-v6: 1 says what kind of key it is, 4 asks for many keys at once, 6 may ask for share partitions. The coordinator of
a group leads the partition of `__consumer_offsets` that its id falls to; the topic is made when it is first asked for.
Of transactional ids and share partitions there is no coordinator here, which clients take for one that is not there
yet, and ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.nodes import Node, alive_node
from barnabas.broker.routing import Route, ServedBy
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

VERSIONS: Final = APIS[ApiKey.FIND_COORDINATOR].versions
BATCHES_SINCE: Final = 4
SHARE_SINCE: Final = 6
NO_NODE: Final = Node(-1, "", -1, None)
GROUPS_TOPIC: Final = "__consumer_offsets"


class KeyType(IntEnum):
    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class FindCoordinator:
    """`partition_for` tells the partition of a group id; `create_topics` makes the topic that is missing."""

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        partition_for: Callable[[str], int],
        create_topics: Callable[[list[str], Call], Mapping[str, ErrorCode]],
    ) -> None:
        self._image = image
        self._partition_for = partition_for
        self._create_topics = create_topics

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.FIND_COORDINATOR, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: FindCoordinatorRequest, call: Call) -> FindCoordinatorResponse:
        if call.version < BATCHES_SINCE:
            code, node = self._find(request.key_type, request.key, call)
            return FindCoordinatorResponse(
                error_code=code,
                error_message=code.message,
                node_id=node.node_id,
                host=node.host,
                port=node.port,
            )
        return FindCoordinatorResponse(
            coordinators=[self._coordinator(request.key_type, key, call) for key in request.coordinator_keys]
        )

    def _coordinator(self, key_type: int, key: str, call: Call) -> Coordinator:
        code, node = self._find(key_type, key, call)
        return Coordinator(
            key=key,
            node_id=node.node_id,
            host=node.host,
            port=node.port,
            error_code=code,
            error_message=code.message if code else "",
        )

    def _find(self, key_type: int, key: str, call: Call) -> tuple[ErrorCode, Node]:
        known = KeyType.SHARE if call.version >= SHARE_SINCE else KeyType.TRANSACTION
        if not 0 <= key_type <= known:
            return ErrorCode.INVALID_REQUEST, NO_NODE
        node = self._find_group(key, call) if key_type == KeyType.GROUP else None
        return (ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_NODE) if node is None else (ErrorCode.NONE, node)

    def _find_group(self, group_id: str, call: Call) -> Node | None:
        image = self._image()
        topic = image.topics.by_name(GROUPS_TOPIC)
        if topic is None:
            self._create_topics([GROUPS_TOPIC], call)
            return None
        partition = topic.partitions.get(self._partition_for(group_id))
        return None if partition is None else alive_node(image, partition.leader, call.client.listener)

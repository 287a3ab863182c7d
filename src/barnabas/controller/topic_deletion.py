"""DeleteTopics, by name or by id: a topic is gone with its settings as soon as the one record is committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    InvalidRequest,
    TopicDeletionDisabled,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from barnabas.metadata.topics import Topic
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.schema import ZERO_UUID, Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import CLUSTER_NAME, AclOperation, ResourceType
from barnabas.security.authorizer import Access
from barnabas.security.errors import TopicAuthorizationFailed

# Before this version there is no code that says it better.
HAS_DISABLED_CODE = 3


def delete_topics(situation: Situation, request: DeleteTopicsRequest, context: RequestContext) -> Decision:
    """Each topic named once is deleted; a mistake with one spares the others."""
    if not situation.settings.is_topic_deletion_enabled:
        if context.version < HAS_DISABLED_CODE:
            raise InvalidRequest("deleting topics is switched off by delete.topic.enable")
        raise TopicDeletionDisabled("deleting topics is switched off by delete.topic.enable")
    asked = _asked(request)
    found = Counter(topic.id for state in asked if (topic := _find(situation, state)) is not None)
    records: list[Message] = []
    results: list[DeletableTopicResult] = []
    told: set[tuple[str | None, Uuid]] = set()
    for state in asked:
        if (state.name, state.topic_id) in told:
            continue
        told.add((state.name, state.topic_id))
        try:
            topic = _checked(state, _find(situation, state), context.access)
            if found[topic.id] > 1:
                raise InvalidRequest(f"topic {topic.name} is named twice in the request")
            context.charge_partitions(len(topic.partitions))
        except ApiError as error:
            results.append(_refused(state, error))
            continue
        records.append(RemoveTopicRecord(topic_id=topic.id))
        results.append(DeletableTopicResult(name=topic.name, topic_id=topic.id, error_code=0, error_message=None))
    return Decision(
        DeleteTopicsResponse(throttle_time_ms=context.throttle_time_ms, responses=results), records, is_atomic=True
    )


def _asked(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """Older versions name topics in a list of their own."""
    named = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in request.topic_names]
    return [*named, *request.topics]


def _find(situation: Situation, state: DeleteTopicState) -> Topic | None:
    topics = situation.image.topics
    if state.name is None:
        return topics.by_id.get(state.topic_id)
    return topics.by_name(state.name)


def _checked(state: DeleteTopicState, topic: Topic | None, access: Access) -> Topic:
    """The topic that may be deleted. Who may not even know of a topic is told the same whether it is there or not."""
    if state.name is None and state.topic_id == ZERO_UUID:
        raise InvalidRequest("neither a name nor an id of a topic is given")
    if state.name is not None and state.topic_id != ZERO_UUID:
        raise InvalidRequest(f"topic {state.name} is named with an id too; one of them is enough")
    may_delete_all = access.allows(AclOperation.DELETE, ResourceType.CLUSTER, CLUSTER_NAME)
    if state.name is not None and not may_delete_all:
        access.require(AclOperation.DESCRIBE, ResourceType.TOPIC, state.name)
    if topic is None:
        if state.name is None:
            raise UnknownTopicId(f"there is no topic with id {state.topic_id}")
        raise UnknownTopicOrPartition(f"there is no topic {state.name}")
    if not may_delete_all:
        _require_deletable(state, topic, access)
    return topic


def _require_deletable(state: DeleteTopicState, topic: Topic, access: Access) -> None:
    """Whoever gives an id is told the name behind it only where it is theirs to know."""
    try:
        access.require(AclOperation.DELETE, ResourceType.TOPIC, topic.name)
    except TopicAuthorizationFailed as error:
        if state.name is not None:
            raise
        is_describable = access.allows(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name)
        raise _DeletionForbidden(topic.name if is_describable else None, state.topic_id, access.principal) from error


class _DeletionForbidden(TopicAuthorizationFailed):
    def __init__(self, name: str | None, topic_id: Uuid, principal: str) -> None:
        super().__init__(f"{principal} may not delete topic {name or topic_id}")
        self.name = name


def _refused(state: DeleteTopicState, error: ApiError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=error.name if isinstance(error, _DeletionForbidden) else state.name,
        topic_id=state.topic_id,
        error_code=error.code,
        error_message=str(error),
    )


def _refuse(request: DeleteTopicsRequest, error: ApiError, _version: int) -> Message:
    return DeleteTopicsResponse(throttle_time_ms=0, responses=[_refused(state, error) for state in _asked(request)])


OPERATIONS: Mapping[type[Message], Operation] = {DeleteTopicsRequest: Operation(delete_topics, _refuse, needs=None)}

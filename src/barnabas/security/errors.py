"""The refusals of those who may not do what they ask for, each with the code of its kind of resource."""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.security.acls import ResourceType


class ClusterAuthorizationFailed(ApiError):
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


class DelegationTokenAuthorizationFailed(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED


class GroupAuthorizationFailed(ApiError):
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED


class TopicAuthorizationFailed(ApiError):
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class TransactionalIdAuthorizationFailed(ApiError):
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


AUTHORIZATION_FAILED: Final[Mapping[ResourceType, type[ApiError]]] = {
    ResourceType.TOPIC: TopicAuthorizationFailed,
    ResourceType.GROUP: GroupAuthorizationFailed,
    ResourceType.CLUSTER: ClusterAuthorizationFailed,
    ResourceType.TRANSACTIONAL_ID: TransactionalIdAuthorizationFailed,
    ResourceType.DELEGATION_TOKEN: DelegationTokenAuthorizationFailed,
    ResourceType.USER: DelegationTokenAuthorizationFailed,
}

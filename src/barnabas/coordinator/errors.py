"""The refusals of coordinators, each with the code that the client sees."""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from barnabas.protocol.errors import ApiError, ErrorCode


class FencedInstanceId(ApiError):
    code = ErrorCode.FENCED_INSTANCE_ID


class FencedMemberEpoch(ApiError):
    code = ErrorCode.FENCED_MEMBER_EPOCH


class GroupIdNotFound(ApiError):
    code = ErrorCode.GROUP_ID_NOT_FOUND


class GroupMaxSizeReached(ApiError):
    code = ErrorCode.GROUP_MAX_SIZE_REACHED


class IllegalGeneration(ApiError):
    code = ErrorCode.ILLEGAL_GENERATION


class InconsistentGroupProtocol(ApiError):
    code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL


class InvalidGroupId(ApiError):
    code = ErrorCode.INVALID_GROUP_ID


class InvalidRegularExpression(ApiError):
    code = ErrorCode.INVALID_REGULAR_EXPRESSION


class InvalidRequest(ApiError):
    code = ErrorCode.INVALID_REQUEST


class InvalidSessionTimeout(ApiError):
    code = ErrorCode.INVALID_SESSION_TIMEOUT


class NonEmptyGroup(ApiError):
    code = ErrorCode.NON_EMPTY_GROUP


class RebalanceInProgress(ApiError):
    code = ErrorCode.REBALANCE_IN_PROGRESS


class StaleMemberEpoch(ApiError):
    code = ErrorCode.STALE_MEMBER_EPOCH


class UnknownMemberId(ApiError):
    code = ErrorCode.UNKNOWN_MEMBER_ID


class UnreleasedInstanceId(ApiError):
    code = ErrorCode.UNRELEASED_INSTANCE_ID


class UnsupportedAssignor(ApiError):
    code = ErrorCode.UNSUPPORTED_ASSIGNOR


class UnsupportedRequestVersion(ApiError):
    code = ErrorCode.UNSUPPORTED_VERSION

"""The refusals of a broker, each with the code that its client sees."""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from barnabas.protocol.errors import ApiError, ErrorCode


class FetchSessionIdNotFound(ApiError):
    code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND


class FetchSessionTopicIdError(ApiError):
    code = ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


class InvalidFetchSessionEpoch(ApiError):
    code = ErrorCode.INVALID_FETCH_SESSION_EPOCH


class InvalidProducerIdMapping(ApiError):
    code = ErrorCode.INVALID_PRODUCER_ID_MAPPING


class LogDirNotFound(ApiError):
    code = ErrorCode.LOG_DIR_NOT_FOUND


class ReplicaNotAvailable(ApiError):
    code = ErrorCode.REPLICA_NOT_AVAILABLE

"""The refusals of a replica, each with the code that its asker sees."""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from barnabas.protocol.errors import ApiError, ErrorCode


class NotEnoughReplicas(ApiError):
    code = ErrorCode.NOT_ENOUGH_REPLICAS


class OffsetNotAvailable(ApiError):
    code = ErrorCode.OFFSET_NOT_AVAILABLE


class UnknownLeaderEpoch(ApiError):
    code = ErrorCode.UNKNOWN_LEADER_EPOCH

"""The refusals of a controller, each with the code that its asker sees."""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from barnabas.protocol.errors import ApiError, ErrorCode


class BrokerIdNotRegistered(ApiError):
    code = ErrorCode.BROKER_ID_NOT_REGISTERED


class DelegationTokenAuthDisabled(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


class DelegationTokenExpired(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_EXPIRED


class DelegationTokenNotFound(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_NOT_FOUND


class DelegationTokenOwnerMismatch(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH


class DelegationTokenRequestNotAllowed(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


class DuplicateBrokerRegistration(ApiError):
    code = ErrorCode.DUPLICATE_BROKER_REGISTRATION


class DuplicateResource(ApiError):
    code = ErrorCode.DUPLICATE_RESOURCE


class ElectionNotNeeded(ApiError):
    code = ErrorCode.ELECTION_NOT_NEEDED


class EligibleLeadersNotAvailable(ApiError):
    code = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE


class InconsistentClusterId(ApiError):
    code = ErrorCode.INCONSISTENT_CLUSTER_ID


class IneligibleReplica(ApiError):
    code = ErrorCode.INELIGIBLE_REPLICA


class InvalidConfig(ApiError):
    code = ErrorCode.INVALID_CONFIG


class InvalidPartitions(ApiError):
    code = ErrorCode.INVALID_PARTITIONS


class InvalidPrincipalType(ApiError):
    code = ErrorCode.INVALID_PRINCIPAL_TYPE


class InvalidRegistration(ApiError):
    code = ErrorCode.INVALID_REGISTRATION


class InvalidReplicaAssignment(ApiError):
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT


class InvalidReplicationFactor(ApiError):
    code = ErrorCode.INVALID_REPLICATION_FACTOR


class InvalidRequest(ApiError):
    code = ErrorCode.INVALID_REQUEST


class InvalidTopic(ApiError):
    code = ErrorCode.INVALID_TOPIC_EXCEPTION


class InvalidUpdateVersion(ApiError):
    code = ErrorCode.INVALID_UPDATE_VERSION


class MismatchedEndpointType(ApiError):
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE


class NewLeaderElected(ApiError):
    code = ErrorCode.NEW_LEADER_ELECTED


class NoReassignmentInProgress(ApiError):
    code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


class NotController(ApiError):
    code = ErrorCode.NOT_CONTROLLER


class PreferredLeaderNotAvailable(ApiError):
    code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE


class ResourceNotFound(ApiError):
    code = ErrorCode.RESOURCE_NOT_FOUND


class SecurityDisabled(ApiError):
    code = ErrorCode.SECURITY_DISABLED


class StaleBrokerEpoch(ApiError):
    code = ErrorCode.STALE_BROKER_EPOCH


class TopicAlreadyExists(ApiError):
    code = ErrorCode.TOPIC_ALREADY_EXISTS


class TopicDeletionDisabled(ApiError):
    code = ErrorCode.TOPIC_DELETION_DISABLED


class UnacceptableCredential(ApiError):
    code = ErrorCode.UNACCEPTABLE_CREDENTIAL


class UnknownTopicId(ApiError):
    code = ErrorCode.UNKNOWN_TOPIC_ID


class UnknownTopicOrPartition(ApiError):
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class UnsupportedEndpointType(ApiError):
    code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE


class UnsupportedSaslMechanism(ApiError):
    code = ErrorCode.UNSUPPORTED_SASL_MECHANISM


class UnsupportedVersion(ApiError):
    code = ErrorCode.UNSUPPORTED_VERSION

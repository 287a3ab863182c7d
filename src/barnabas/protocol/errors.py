"""Kafka's error codes, and the exceptions that carry one to the place where a response is built.

Codes, names and retriable flags are Kafka's; the sentences are ours. An `ApiError` is caught at the smallest
unit of a response that has an error field, so raising one never costs its neighbours their answers.
"""
# ruff: noqa: N818 - the names of Kafka's errors say what happened, and their base class ends in Error.

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Self

RETRIABLE = True


class ErrorCode(IntEnum):
    """What an error field on the wire may hold; `is_retriable` tells whether a client may just ask again."""

    message: str
    is_retriable: bool

    def __new__(cls, code: int, message: str = "", is_retriable: bool = False) -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.message = message
        member.is_retriable = is_retriable
        return member

    UNKNOWN_SERVER_ERROR = -1, "The server failed in a way it did not foresee."
    NONE = 0, "No error."
    OFFSET_OUT_OF_RANGE = 1, "The log does not hold this offset."
    CORRUPT_MESSAGE = 2, "The record data is damaged, oversized or breaks a rule of its topic.", RETRIABLE
    UNKNOWN_TOPIC_OR_PARTITION = 3, "This broker knows no such topic or partition.", RETRIABLE
    INVALID_FETCH_SIZE = 4, "This is no valid size to fetch."
    LEADER_NOT_AVAILABLE = 5, "The partition has no leader at the moment.", RETRIABLE
    NOT_LEADER_OR_FOLLOWER = 6, "This broker does not lead, or does not hold, the partition.", RETRIABLE
    REQUEST_TIMED_OUT = 7, "The request was not completed in its time.", RETRIABLE
    BROKER_NOT_AVAILABLE = 8, "The broker cannot be reached."
    REPLICA_NOT_AVAILABLE = 9, "The broker is to hold the partition but has no copy yet.", RETRIABLE
    MESSAGE_TOO_LARGE = 10, "A record batch is larger than the topic allows."
    STALE_CONTROLLER_EPOCH = 11, "The request comes from a controller that has been replaced."
    OFFSET_METADATA_TOO_LARGE = 12, "The text beside the committed offset is too long."
    NETWORK_EXCEPTION = 13, "The connection broke before the response came.", RETRIABLE
    COORDINATOR_LOAD_IN_PROGRESS = 14, "The coordinator is still reading its log.", RETRIABLE
    COORDINATOR_NOT_AVAILABLE = 15, "There is no coordinator to ask at the moment.", RETRIABLE
    NOT_COORDINATOR = 16, "Another broker coordinates this group or transaction.", RETRIABLE
    INVALID_TOPIC_EXCEPTION = 17, "The topic's name is not allowed, or the topic does not permit this."
    RECORD_LIST_TOO_LARGE = 18, "A record batch does not fit into one segment."
    NOT_ENOUGH_REPLICAS = 19, "Nothing was written: too few replicas are in sync.", RETRIABLE
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, "Written, but too few replicas stayed in sync.", RETRIABLE
    INVALID_REQUIRED_ACKS = 21, "acks must be -1, 0 or 1."
    ILLEGAL_GENERATION = 22, "The group has moved on to another generation."
    INCONSISTENT_GROUP_PROTOCOL = 23, "The member shares no assignment protocol with the rest of its group."
    INVALID_GROUP_ID = 24, "This is no valid group id."
    UNKNOWN_MEMBER_ID = 25, "The group has no such member."
    INVALID_SESSION_TIMEOUT = 26, "The session timeout is outside the limits set on the broker."
    REBALANCE_IN_PROGRESS = 27, "The group is rebalancing; the member has to join again."
    INVALID_COMMIT_OFFSET_SIZE = 28, "The committed offset takes more room than the broker allows."
    TOPIC_AUTHORIZATION_FAILED = 29, "Not permitted on this topic."
    GROUP_AUTHORIZATION_FAILED = 30, "Not permitted on this group."
    CLUSTER_AUTHORIZATION_FAILED = 31, "Not permitted on the cluster."
    INVALID_TIMESTAMP = 32, "A record's timestamp is outside the topic's limits."
    UNSUPPORTED_SASL_MECHANISM = 33, "The broker does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = 34, "This request does not fit the present step of authentication."
    UNSUPPORTED_VERSION = 35, "The broker does not speak this version of the API."
    TOPIC_ALREADY_EXISTS = 36, "There is already a topic with this name."
    INVALID_PARTITIONS = 37, "This is no valid number of partitions."
    INVALID_REPLICATION_FACTOR = 38, "The replication factor is below 1 or above the number of brokers."
    INVALID_REPLICA_ASSIGNMENT = 39, "The replicas cannot be placed as the request asks."
    INVALID_CONFIG = 40, "A setting or its value is not valid."
    NOT_CONTROLLER = 41, "This node is not the active controller.", RETRIABLE
    INVALID_REQUEST = 42, "The request contradicts itself or its API's rules."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, "The stored record format cannot do what is asked."
    POLICY_VIOLATION = 44, "A policy of this cluster forbids the request."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, "The batch does not continue its producer's sequence."
    DUPLICATE_SEQUENCE_NUMBER = 46, "The batch repeats sequence numbers that were written before."
    INVALID_PRODUCER_EPOCH = 47, "The producer's epoch is older than the one on record."
    INVALID_TXN_STATE = 48, "The transaction's state does not allow this step."
    INVALID_PRODUCER_ID_MAPPING = 49, "The producer id does not belong to this transactional id."
    INVALID_TRANSACTION_TIMEOUT = 50, "The transaction timeout is above the broker's limit."
    CONCURRENT_TRANSACTIONS = 51, "The previous step of this transaction is still under way.", RETRIABLE
    TRANSACTION_COORDINATOR_FENCED = 52, "The marker comes from a transaction coordinator that was replaced."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, "Not permitted on this transactional id."
    SECURITY_DISABLED = 54, "No authorizer is set up on this cluster."
    OPERATION_NOT_ATTEMPTED = 55, "Skipped, because another part of the request failed."
    KAFKA_STORAGE_ERROR = 56, "The broker could not read or write its disk.", RETRIABLE
    LOG_DIR_NOT_FOUND = 57, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, "The credentials were not accepted."
    UNKNOWN_PRODUCER_ID = 59, "Nothing is on record for this producer id; its batches may have been deleted."
    REASSIGNMENT_IN_PROGRESS = 60, "The partition is being moved to other replicas."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, "Delegation tokens are not enabled here."
    DELEGATION_TOKEN_NOT_FOUND = 62, "There is no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, "The principal neither owns nor may renew the token."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, "This kind of connection may not ask for delegation tokens."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, "Not permitted on this delegation token."
    DELEGATION_TOKEN_EXPIRED = 66, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, "This type of principal is not supported."
    NON_EMPTY_GROUP = 68, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, "The broker no longer holds this fetch session.", RETRIABLE
    INVALID_FETCH_SESSION_EPOCH = 71, "The fetch session is at another epoch.", RETRIABLE
    LISTENER_NOT_FOUND = 72, "The leader has no listener of the name used by this connection.", RETRIABLE
    TOPIC_DELETION_DISABLED = 73, "Deleting topics is switched off."
    FENCED_LEADER_EPOCH = 74, "The request names an older leader epoch than the broker's.", RETRIABLE
    UNKNOWN_LEADER_EPOCH = 75, "The request names a leader epoch the broker has not reached yet.", RETRIABLE
    UNSUPPORTED_COMPRESSION_TYPE = 76, "The compression is not available in this version of the API."
    STALE_BROKER_EPOCH = 77, "The broker has registered anew since this epoch."
    OFFSET_NOT_AVAILABLE = 78, "The new leader does not know its high watermark yet.", RETRIABLE
    MEMBER_ID_REQUIRED = 79, "Join again with the member id that came with this answer."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, "The preferred leader cannot lead at the moment.", RETRIABLE
    GROUP_MAX_SIZE_REACHED = 81, "The group takes no more members."
    FENCED_INSTANCE_ID = 82, "Another member has taken over this group instance id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, "No replica that could lead is alive.", RETRIABLE
    ELECTION_NOT_NEEDED = 84, "The partition has the right leader already.", RETRIABLE
    NO_REASSIGNMENT_IN_PROGRESS = 85, "The partition is not being moved."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, "The group still subscribes to the topic whose offsets are to go."
    INVALID_RECORD = 87, "A record was refused; the response may say which and why."
    UNSTABLE_OFFSET_COMMIT = 88, "A transaction that commits these offsets is still open.", RETRIABLE
    THROTTLING_QUOTA_EXCEEDED = 89, "The quota for this kind of request is used up.", RETRIABLE
    PRODUCER_FENCED = 90, "A newer producer uses this transactional id."
    RESOURCE_NOT_FOUND = 91, "The request names something that does not exist."
    DUPLICATE_RESOURCE = 92, "The request names the same thing twice."
    UNACCEPTABLE_CREDENTIAL = 93, "The credential does not meet the cluster's rules."
    INCONSISTENT_VOTER_SET = 94, "Sender and receiver do not agree on who votes."
    INVALID_UPDATE_VERSION = 95, "A feature cannot be set to this level."
    FEATURE_UPDATE_FAILED = 96, "The features could not be updated."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, "The principal of a forwarded request cannot be read."
    SNAPSHOT_NOT_FOUND = 98, "There is no such snapshot."
    POSITION_OUT_OF_RANGE = 99, "The position lies outside the snapshot."
    UNKNOWN_TOPIC_ID = 100, "This broker knows no topic with this id.", RETRIABLE
    DUPLICATE_BROKER_REGISTRATION = 101, "A living broker uses this node id."
    BROKER_ID_NOT_REGISTERED = 102, "No broker with this node id is registered."
    INCONSISTENT_TOPIC_ID = 103, "The topic behind this name has another id.", RETRIABLE
    INCONSISTENT_CLUSTER_ID = 104, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, "There is no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, "A fetch session cannot mix topic names and topic ids.", RETRIABLE
    INELIGIBLE_REPLICA = 107, "A replica proposed for the ISR may not be in it."
    NEW_LEADER_ELECTED = 108, "The change was made, and the partition has a new leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, "The offset is found in tiered storage only."
    FENCED_MEMBER_EPOCH = 110, "The group has moved past this epoch: give up all partitions, join again."
    UNRELEASED_INSTANCE_ID = 111, "Another member still holds this instance id."
    UNSUPPORTED_ASSIGNOR = 112, "The group cannot use this assignor."
    STALE_MEMBER_EPOCH = 113, "The member's epoch is old; its next heartbeat brings the current one."
    MISMATCHED_ENDPOINT_TYPE = 114, "Brokers and controllers answer this request on different listeners."
    UNSUPPORTED_ENDPOINT_TYPE = 115, "There are no endpoints of this type."
    UNKNOWN_CONTROLLER_ID = 116, "There is no controller with this node id."
    UNKNOWN_SUBSCRIPTION_ID = 117, "The telemetry subscription has changed; ask for it again."
    TELEMETRY_TOO_LARGE = 118, "The pushed telemetry is larger than the broker takes."
    INVALID_REGISTRATION = 119, "The controller refuses this broker's registration."
    TRANSACTION_ABORTABLE = 120, "The transaction cannot go on; abort it and start another."
    INVALID_RECORD_STATE = 121, "The record is not in a state that this acknowledgement fits."
    SHARE_SESSION_NOT_FOUND = 122, "The broker no longer holds this share session.", RETRIABLE
    INVALID_SHARE_SESSION_EPOCH = 123, "The share session is at another epoch.", RETRIABLE
    FENCED_STATE_EPOCH = 124, "The share group's state has moved to a newer epoch."
    INVALID_VOTER_KEY = 125, "The request names another voter than the one that received it."
    DUPLICATE_VOTER = 126, "This replica votes already."
    VOTER_NOT_FOUND = 127, "No such voter is in the quorum."
    INVALID_REGULAR_EXPRESSION = 128, "The regular expression cannot be read."
    REBOOTSTRAP_REQUIRED = 129, "The client's view is too old; start again from the bootstrap servers."
    STREAMS_INVALID_TOPOLOGY = 130, "The streams topology is not valid."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, "The streams topology's epoch is not valid."
    STREAMS_TOPOLOGY_FENCED = 132, "The group already runs a newer streams topology."
    SHARE_SESSION_LIMIT_REACHED = 133, "The broker takes no more share sessions.", RETRIABLE


class ApiError(Exception):
    """A refusal with a code that the client will see; the text is for its error message and for our logs."""

    code: ClassVar[ErrorCode] = ErrorCode.UNKNOWN_SERVER_ERROR

    def __init__(self, text: str = "") -> None:
        super().__init__(text or self.code.message)


class CorruptMessage(ApiError):
    code = ErrorCode.CORRUPT_MESSAGE


class DuplicateSequenceNumber(ApiError):
    code = ErrorCode.DUPLICATE_SEQUENCE_NUMBER


class FencedLeaderEpoch(ApiError):
    code = ErrorCode.FENCED_LEADER_EPOCH


class InconsistentTopicId(ApiError):
    code = ErrorCode.INCONSISTENT_TOPIC_ID


class InvalidProducerEpoch(ApiError):
    code = ErrorCode.INVALID_PRODUCER_EPOCH


class InvalidRecord(ApiError):
    code = ErrorCode.INVALID_RECORD


class InvalidTimestamp(ApiError):
    code = ErrorCode.INVALID_TIMESTAMP


class InvalidTxnState(ApiError):
    code = ErrorCode.INVALID_TXN_STATE


class KafkaStorageError(ApiError):
    code = ErrorCode.KAFKA_STORAGE_ERROR


class NotLeaderOrFollower(ApiError):
    code = ErrorCode.NOT_LEADER_OR_FOLLOWER


class OffsetOutOfRange(ApiError):
    code = ErrorCode.OFFSET_OUT_OF_RANGE


class OutOfOrderSequenceNumber(ApiError):
    code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class RecordBatchTooLarge(ApiError):
    """The batch does not fit into a segment (Kafka calls the code RECORD_LIST_TOO_LARGE)."""

    code = ErrorCode.RECORD_LIST_TOO_LARGE


class RecordTooLarge(ApiError):
    """The batch is above max.message.bytes (Kafka calls the code MESSAGE_TOO_LARGE)."""

    code = ErrorCode.MESSAGE_TOO_LARGE


class TransactionCoordinatorFenced(ApiError):
    code = ErrorCode.TRANSACTION_COORDINATOR_FENCED


class UnknownProducerId(ApiError):
    code = ErrorCode.UNKNOWN_PRODUCER_ID


class UnknownServerError(ApiError):
    code = ErrorCode.UNKNOWN_SERVER_ERROR


class UnsupportedCompressionType(ApiError):
    code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


class UnsupportedForMessageFormat(ApiError):
    code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT

"""Errors of a cluster as Kafka's tools print them: by the name of the exception in Kafka's Java client."""

from __future__ import annotations

from typing import Final

from barnabas.client.errors import ClientError
from barnabas.protocol.errors import ErrorCode

# The exceptions that are not called after their codes.
_NAMES: Final = {
    ErrorCode.UNKNOWN_SERVER_ERROR: "errors.UnknownServerException",
    ErrorCode.CORRUPT_MESSAGE: "errors.CorruptRecordException",
    ErrorCode.REQUEST_TIMED_OUT: "errors.TimeoutException",
    ErrorCode.MESSAGE_TOO_LARGE: "errors.RecordTooLargeException",
    ErrorCode.STALE_CONTROLLER_EPOCH: "errors.ControllerMovedException",
    ErrorCode.OFFSET_METADATA_TOO_LARGE: "errors.OffsetMetadataTooLarge",
    ErrorCode.NETWORK_EXCEPTION: "errors.NetworkException",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "errors.InvalidTopicException",
    ErrorCode.RECORD_LIST_TOO_LARGE: "errors.RecordBatchTooLargeException",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "errors.TopicAuthorizationException",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "errors.GroupAuthorizationException",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "errors.ClusterAuthorizationException",
    ErrorCode.TOPIC_ALREADY_EXISTS: "errors.TopicExistsException",
    ErrorCode.INVALID_CONFIG: "errors.InvalidConfigurationException",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: "errors.OutOfOrderSequenceException",
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER: "errors.DuplicateSequenceException",
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: "errors.InvalidPidMappingException",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "errors.InvalidTxnTimeoutException",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "errors.TransactionalIdAuthorizationException",
    ErrorCode.KAFKA_STORAGE_ERROR: "errors.KafkaStorageException",
    ErrorCode.SASL_AUTHENTICATION_FAILED: "errors.SaslAuthenticationException",
    ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: "errors.DelegationTokenDisabledException",
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: "errors.UnsupportedByAuthenticationException",
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: "errors.DelegationTokenAuthorizationException",
    ErrorCode.NON_EMPTY_GROUP: "errors.GroupNotEmptyException",
    ErrorCode.INVALID_RECORD: "InvalidRecordException",
    ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE: "errors.PrincipalDeserializationException",
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR: "errors.FetchSessionTopicIdException",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "errors.InvalidRegularExpression",
}


def exception_name(code: ErrorCode) -> str:
    """The full name of the exception that Kafka's Java client throws for a code."""
    words = "".join(word.capitalize() for word in code.name.split("_"))
    return f"org.apache.kafka.common.{_NAMES.get(code, f'errors.{words}Exception')}"


def error_line(error: ClientError) -> str:
    """The line that Kafka's tools print."""
    return f"{exception_name(error.code)}: {error}"


def error_lines(error: ClientError) -> str:
    """That line, and under it, where there is more to say, what was behind the error."""
    line = error_line(error)
    return f"{line}\n{error.__cause__}" if isinstance(error.__cause__, ClientError) else line

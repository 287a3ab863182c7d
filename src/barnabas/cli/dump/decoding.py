"""How the key and the value of a record are shown; each decoder is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from barnabas.cli.dump.java_text import string
from barnabas.records.batch import Buffer


class Content(NamedTuple):
    """Key and value as text; what is None is not printed."""

    key: str | None
    payload: str | None


# Takes a record's offset, key and value.
Decoder = Callable[[int, Buffer | None, Buffer | None], Content]


class Topic(Enum):
    """The topics that Kafka itself writes, whose records are shown field by field."""

    CONSUMER_OFFSETS = "__consumer_offsets"
    TRANSACTION_STATE = "__transaction_state"
    CLUSTER_METADATA = "__cluster_metadata"
    REMOTE_LOG_METADATA = "__remote_log_metadata"
    SHARE_GROUP_STATE = "__share_group_state"


def decoder(topic: Topic | None) -> Decoder:
    """The decoder of a topic's records; without a topic, keys and values are shown as text."""
    if topic is None:
        return decode_text
    if topic is Topic.CLUSTER_METADATA:
        from barnabas.cli.dump.metadata import decode_metadata

        return decode_metadata
    if topic is Topic.REMOTE_LOG_METADATA:
        from barnabas.cli.dump.remote import decode_remote_log_metadata

        return decode_remote_log_metadata
    from barnabas.cli.dump import coordinators

    if topic is Topic.CONSUMER_OFFSETS:
        return coordinators.consumer_offsets()
    if topic is Topic.TRANSACTION_STATE:
        return coordinators.transaction_state()
    return coordinators.share_group_state()


def decode_text(offset: int, key: Buffer | None, value: Buffer | None) -> Content:  # noqa: ARG001 (a Decoder)
    return Content(None if key is None else string(key), None if value is None else string(value))

"""What `kafka-consumer-groups` deletes: groups without members, and offsets of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from barnabas.cli.error_lines import error_line
from barnabas.cli.grouping.description import MISSING
from barnabas.cli.grouping.failures import failure_line
from barnabas.cli.grouping.selection import split_topics
from barnabas.cli.java_order import in_hash_order, partition_hash, string_hash
from barnabas.client.admin.group_offsets import PartitionOutcomes, delete_group_offsets
from barnabas.client.admin.groups import delete_groups
from barnabas.client.admin.topics import describe_topics
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.errors import ErrorCode

_OF_THE_GROUP: Final = (
    *(ErrorCode.INVALID_GROUP_ID, ErrorCode.GROUP_ID_NOT_FOUND),
    *(ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.NON_EMPTY_GROUP),
)
_OF_PARTITIONS: Final = (
    *(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)
_WHOLE_TOPIC: Final = -1
_TOPIC_WIDTH_MIN: Final = 15


def delete_and_tell(cluster: Cluster, group_ids: Sequence[str], out: TextIO) -> None:
    outcomes = delete_groups(cluster, group_ids)
    deleted, failed = [], []
    for group_id in in_hash_order(outcomes, string_hash):
        error = outcomes[group_id]
        if error is None:
            deleted.append(f"'{group_id}'")
        else:
            failed.append(f"* Group '{group_id}' could not be deleted due to: {failure_line(error)}")
    if not failed:
        print(f"Deletion of requested consumer groups ({', '.join(deleted)}) was successful.", file=out)
        return
    print("\nError: Deletion of some consumer groups failed:", *failed, sep="\n", file=out)
    if deleted:
        print(f"\nThese consumer groups were deleted successfully: {', '.join(deleted)}", file=out)


def delete_offsets_and_tell(cluster: Cluster, group_id: str, topics: Iterable[str], out: TextIO) -> None:
    """Delete the offsets of a group, in the partitions or all partitions of topics, and tell how each fared."""
    partitions, names = split_topics(dict.fromkeys(topics))
    outcomes: PartitionOutcomes = {}
    for name, topic in describe_topics(cluster, names).items():
        if isinstance(topic, ClientError):
            outcomes[TopicPartition(name, _WHOLE_TOPIC)] = topic
        else:
            partitions += [TopicPartition(name, partition.index) for partition in topic.partitions]
    error, told = _delete_offsets(cluster, group_id, in_hash_order(dict.fromkeys(partitions), partition_hash))
    _tell_in_short(group_id, error, out)
    _tell_by_partition(outcomes | told, out)


def _delete_offsets(
    cluster: Cluster, group_id: str, partitions: Sequence[TopicPartition]
) -> tuple[ClientError | None, PartitionOutcomes]:
    """The first error, if there is one, and how each partition fared."""
    try:
        outcomes = delete_group_offsets(cluster, group_id, partitions)
    except ClientError as error:
        return error, dict.fromkeys(partitions, error)
    return next((error for error in outcomes.values() if error is not None), None), outcomes


def _tell_in_short(group_id: str, error: ClientError | None, out: TextIO) -> None:
    if error is None:
        print(f"Request succeeded for deleting offsets from group {group_id}.", file=out)
    elif error.code in _OF_THE_GROUP:
        print(f"\nError: {error.code.message}", file=out)
    elif error.code in _OF_PARTITIONS:
        print("\nError: Encountered some partition-level error, see the follow-up details.", file=out)
    else:
        print(f"\nError: Encountered some unknown error: {error.code.name}", file=out)


def _tell_by_partition(outcomes: PartitionOutcomes, out: TextIO) -> None:
    width = max([_TOPIC_WIDTH_MIN, *(len(partition.topic) for partition in outcomes)])
    rows = [("TOPIC", "PARTITION", "STATUS")]
    for partition in sorted(outcomes, key=lambda each: f"{each.topic}{each.partition}"):
        error = outcomes[partition]
        index = MISSING if partition.partition == _WHOLE_TOPIC else str(partition.partition)
        rows.append((partition.topic, index, "Successful" if error is None else f"Error: {error_line(error)}"))
    print("", *(f"{topic:{width}} {index:10} {status:15}" for topic, index, status in rows), sep="\n", file=out)

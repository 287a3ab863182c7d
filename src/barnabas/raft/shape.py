"""The one partition that every message of the quorum is about, taken out of lists that could hold many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from barnabas.raft.log_view import METADATA_PARTITION, METADATA_TOPIC


class IndexedPartition(Protocol):
    partition_index: int


P = TypeVar("P", bound=IndexedPartition)
P_co = TypeVar("P_co", bound=IndexedPartition, covariant=True)


class NamedTopic(Protocol[P]):
    topic_name: str
    partitions: list[P]


def sole_partition(topics: Sequence[NamedTopic[P]]) -> P | None:
    """The metadata partition, if the message is about it and nothing else."""
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return None
    (partition,) = topics[0].partitions
    return partition if partition.partition_index == METADATA_PARTITION else None

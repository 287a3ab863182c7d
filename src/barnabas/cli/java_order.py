"""The order in which Java's hash maps hand out their keys, which is that of much that Kafka's tools print.

Nobody should depend on it, but what one tool prints and the other then prints too can be compared line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from barnabas.log.checkpoint import TopicPartition

K = TypeVar("K")

_CAPACITY = 16
_MASK = 0xFFFF_FFFF


def string_hash(text: str) -> int:
    """Java's hash of a string: over the units of UTF-16."""
    units = text.encode("utf-16-be")
    value = 0
    for index in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[index : index + 2], "big")) & _MASK
    return value


def partition_hash(partition: TopicPartition) -> int:
    return (31 * (31 + partition.partition) + string_hash(partition.topic)) & _MASK


def in_hash_order(keys: Iterable[K], hash_of: Callable[[K], int], *, capacity: int = _CAPACITY) -> list[K]:
    """The keys as a hash map that began with room for `capacity` lists them, put in as they come."""
    given = list(keys)
    buckets = 1
    while buckets < capacity:
        buckets *= 2
    while len(given) > buckets * 3 // 4:
        buckets *= 2

    def bucket(key: K) -> int:
        value = hash_of(key)
        return (value ^ value >> 16) & buckets - 1

    return sorted(given, key=bucket)

"""Keys come out in the order of Java's hash maps; the expected orders and hashes are those that Java printed."""

from __future__ import annotations

from barnabas.cli.java_order import in_hash_order, partition_hash, string_hash
from barnabas.log.checkpoint import TopicPartition


def test_strings_have_javas_hash() -> None:
    assert string_hash("") == 0
    assert string_hash("abc") == 96354
    assert string_hash("cleanup.policy") == -537988164 & 0xFFFF_FFFF
    # A character outside the basic plane counts as two.
    assert string_hash("\U0001f600") == 0xD83D * 31 + 0xDE00


def test_partitions_have_javas_hash() -> None:
    assert partition_hash(TopicPartition("abc", 2)) == (31 + 2) * 31 + 96354


def test_keys_are_listed_by_bucket_and_within_one_as_they_came() -> None:
    names = ["b", "a", "q", "c", "segment.bytes", "retention.ms", "cleanup.policy", "min.insync.replicas"]
    assert in_hash_order(names, string_hash) == [
        *("a", "q", "b", "cleanup.policy", "c", "min.insync.replicas", "segment.bytes", "retention.ms"),
    ]
    assert in_hash_order(["x", "y"], {"x": 1, "y": 17}.__getitem__) == ["x", "y"]
    assert in_hash_order(["y", "x"], {"x": 1, "y": 17}.__getitem__) == ["y", "x"]


def test_a_map_that_fills_up_has_more_buckets() -> None:
    assert in_hash_order(range(17, 5, -1), lambda key: key) == [16, 17, *range(6, 16)]
    # Thirteen do not fit into three quarters of sixteen.
    assert in_hash_order(range(17, 4, -1), lambda key: key) == list(range(5, 18))


def test_a_map_may_begin_with_little_room() -> None:
    names = ["plain", "tuned", "wide", "other", "more"]
    assert in_hash_order(names, string_hash, capacity=3) == ["other", "wide", "tuned", "plain", "more"]

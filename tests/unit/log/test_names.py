"""File and directory names: what Apache Kafka would write, and only that is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log import names
from barnabas.log.names import OffsetName, PartitionName

LEGAL = "abcXYZ019._-"


def test_an_offset_is_padded_to_twenty_digits() -> None:
    assert names.offset_name(42, names.LOG) == "00000000000000000042.log"
    assert names.offset_name(2**63 - 1, names.TIME_INDEX, names.SWAP) == "09223372036854775807.timeindex.swap"


@given(
    st.integers(0, 2**63 - 1),
    st.sampled_from([*names.SEGMENT_FILES, names.PRODUCER_SNAPSHOT]),
    st.sampled_from(["", names.DELETED, names.CLEANED, names.SWAP]),
)
def test_a_file_name_gives_its_parts_back(offset: int, kind: str, suffix: str) -> None:
    assert names.parse_offset_name(names.offset_name(offset, kind, suffix)) == OffsetName(offset, kind, suffix)


@pytest.mark.parametrize(
    "name",
    [
        "leader-epoch-checkpoint",
        "partition.metadata",
        ".log",
        "00000000000000000012",
        "x00000000000000000012.log",
        "00000000000000000012.log~",
        "12.log",
        "0000000000000000001\u0662.log",
        "09223372036854775808.log",
    ],
)
def test_other_files_are_not_mistaken_for_a_segment(name: str) -> None:
    assert names.parse_offset_name(name) is None


@given(st.text(LEGAL, min_size=1, max_size=100), st.integers(0, 2**31 - 1))
def test_a_partition_directory_gives_topic_and_partition_back(topic: str, partition: int) -> None:
    name = names.partition_directory(topic, partition)
    assert names.parse_partition_directory(name) == PartitionName(topic, partition, "")


@given(
    st.text(LEGAL, min_size=1, max_size=100),
    st.integers(0, 99),
    st.sampled_from([names.DELETE_DIRECTORY, names.FUTURE_DIRECTORY, names.STRAY_DIRECTORY]),
)
def test_a_moved_directory_gives_topic_and_partition_back(topic: str, partition: int, suffix: str) -> None:
    name = names.moved_directory(topic, partition, "f" * 32, suffix)
    assert names.parse_partition_directory(name) == PartitionName(topic, partition, suffix)


def test_a_deleted_directory_of_the_longest_topic_still_fits_the_file_system() -> None:
    assert len(names.moved_directory("t" * 249, 12, "f" * 32, names.DELETE_DIRECTORY)) == 255
    assert len(names.moved_directory("t" * 249, 12, "f" * 32, names.FUTURE_DIRECTORY)) > 255


@pytest.mark.parametrize(
    "name", ["", "topic", "-0", "topic-", "topic-x", "topic-1-delete", "topic-1.2-x", "topic-\u0661"]
)
def test_other_directories_are_not_mistaken_for_a_partition(name: str) -> None:
    assert names.parse_partition_directory(name) is None

"""The partition of a key, as Java reckons it."""

from __future__ import annotations

import pytest

from barnabas.coordinator.partitions import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "hashed"),
    [("", 0), ("g", 103), ("my-group", -1_906_497_762), ("polygenelubricants", -(2**31)), ("\N{SNAKE}", 1_772_400)],
)
def test_text_is_hashed_as_java_does_it(text: str, hashed: int) -> None:
    assert java_hash(text) == hashed


def test_every_key_has_a_partition() -> None:
    assert partition_for("polygenelubricants", 50) == 0
    assert {partition_for(f"group-{number}", 5) for number in range(100)} == set(range(5))

"""The levels of metadata.version: names, releases, what a downgrade loses, and the version of each record."""

from __future__ import annotations

import pytest

from barnabas.metadata.versions import (
    LATEST_METADATA_VERSION,
    OLDEST_METADATA_VERSION,
    MetadataVersion,
    is_metadata_changed,
)
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.schema import Message, Uuid
from declared_messages import blank

SOME_ID = Uuid(bytes(range(16)))


def test_the_levels_go_from_dynamic_voters_to_cordoned_directories() -> None:
    assert [version.label for version in (OLDEST_METADATA_VERSION, LATEST_METADATA_VERSION)] == ["3.9-IV0", "4.3-IV0"]
    assert list(map(int, MetadataVersion)) == list(range(21, 31))


@pytest.mark.parametrize(
    ("text", "level"), [("3.9", 21), ("4.0", 25), ("4.0-IV1", 23), ("4.1.2", 27), ("4.3", 30), ("4.3-IV0", 30)]
)
def test_a_level_is_found_by_its_name_and_by_its_release(text: str, level: int) -> None:
    assert MetadataVersion.parse(text) == level


@pytest.mark.parametrize("text", ["3.8", "4.4-IV0", "", "4", "latest", "4.0-IV9"])
def test_a_name_that_is_no_level_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(ValueError, match=r"Supported metadata.version are: 3.9-IV0, 4.0-IV0, .*, 4.3-IV0"):
        MetadataVersion.parse(text)


@pytest.mark.parametrize("level", [20, 31, -1])
def test_a_level_that_is_not_known_is_refused_with_the_range(level: int) -> None:
    with pytest.raises(ValueError, match=r"21 \(3.9-IV0\) to 30 \(4.3-IV0\)"):
        MetadataVersion.of_level(level)


def test_a_step_loses_metadata_where_it_crosses_a_level_that_changed_records() -> None:
    changing = {23, 30}
    for low in MetadataVersion:
        for high in MetadataVersion:
            crossed = any(min(low, high) < level <= max(low, high) for level in changing)
            assert is_metadata_changed(low, high) == crossed


def test_records_are_written_in_the_version_of_the_level() -> None:
    def versions(level: MetadataVersion) -> dict[str, int]:
        records: list[Message] = [blank(record) for record in RECORDS.values()]
        written = {type(record).__name__: level.record_version(record) for record in records}
        return {name: version for name, version in written.items() if version}

    assert versions(MetadataVersion.V3_9_IV0) == versions(MetadataVersion.V4_0_IV0)
    assert versions(MetadataVersion.V4_0_IV0) == {
        "RegisterBrokerRecord": 3,
        "PartitionRecord": 1,
        "PartitionChangeRecord": 1,
    }
    assert versions(MetadataVersion.V4_2_IV1) == {
        "RegisterBrokerRecord": 3,
        "PartitionRecord": 2,
        "PartitionChangeRecord": 2,
    }
    assert versions(MetadataVersion.V4_3_IV0)["RegisterBrokerRecord"] == 4


def test_a_change_of_a_broker_is_written_in_the_least_version_that_carries_it() -> None:
    def version(**changes: object) -> int:
        record = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=1, **changes)  # type: ignore[arg-type]
        return MetadataVersion.V4_3_IV0.record_version(record)

    assert version(fenced=1) == 0
    assert version(fenced=-1, in_controlled_shutdown=1) == 1
    assert version(in_controlled_shutdown=1, log_dirs=[SOME_ID]) == 2
    assert version(cordoned_log_dirs=[]) == 3

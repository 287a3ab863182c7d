"""What is read past the codec is what the codec reads, and whatever is not of the usual form is left to it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata.errors import MetadataError, UnwritableMetadataError
from barnabas.metadata.framing import VersionedRecord, decode_record, encode_record
from barnabas.metadata.partition_bytes import PartitionReader, topic_values
from barnabas.metadata.topics import TopicsDelta, TopicsImage
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.uuid import Uuid

TOPIC_ID, OTHER_ID = Uuid(b"t" * 16), Uuid(b"o" * 16)
DIRECTORIES = [Uuid(bytes(16)), Uuid(b"d" * 16), Uuid(b"e" * 16)]
REPLICAS = st.lists(st.sampled_from([0, 1, 2, -1, 2**31 - 1]), max_size=4) | st.just([5] * 126) | st.just([5] * 127)


@st.composite
def partition_records(draw: st.DrawFn) -> VersionedRecord:
    version = draw(st.sampled_from([0, 1, 2, 2, 2]))
    replicas = draw(REPLICAS)
    directories = [draw(st.sampled_from(DIRECTORIES)) for _ in replicas[:4]] or []
    directories += [DIRECTORIES[0]] * (len(replicas) - len(directories))
    record = PartitionRecord(
        partition_id=draw(st.integers(0, 3)),
        topic_id=TOPIC_ID,
        replicas=replicas,
        isr=draw(REPLICAS),
        removing_replicas=draw(REPLICAS),
        adding_replicas=draw(REPLICAS),
        leader=draw(st.integers(-1, 3)),
        leader_epoch=draw(st.integers(0, 2**31 - 1)),
        partition_epoch=draw(st.integers(0, 2**31 - 1)),
        leader_recovery_state=draw(st.sampled_from([0, 0, 0, 1])),
        directories=directories if version else [],
    )
    if version == 2:
        record.eligible_leader_replicas = draw(st.none() | REPLICAS)
        record.last_known_elr = draw(st.none() | REPLICAS)
    return VersionedRecord(record, version)


def topics() -> TopicsDelta:
    delta = TopicsDelta(TopicsImage())
    delta.create_topic(TopicRecord(name="t", topic_id=TOPIC_ID))
    return delta


def by_the_codec(delta: TopicsDelta, value: bytes) -> None:
    message = decode_record(value).message
    assert isinstance(message, PartitionRecord)
    delta.set_partition(message)


@given(st.lists(partition_records(), max_size=8))
def test_partitions_are_those_that_the_codec_reads(records: list[VersionedRecord]) -> None:
    values = list(map(encode_record, records))
    delta, expected = topics(), topics()
    for value in PartitionReader(delta).take(values):
        assert value is not None
        by_the_codec(delta, value)
    for value in values:
        by_the_codec(expected, value)
    assert delta.apply() == expected.apply()


@given(st.lists(partition_records(), max_size=8), st.sampled_from(MetadataVersion), st.booleans())
def test_what_is_written_is_what_the_codec_writes(
    records: list[VersionedRecord], version: MetadataVersion, is_elr_enabled: bool
) -> None:
    delta = topics()
    for record in records:
        by_the_codec(delta, encode_record(record))
    image = delta.apply()
    try:
        messages = list(image.records(version, is_elr_enabled=is_elr_enabled))
    except UnwritableMetadataError:
        with pytest.raises(UnwritableMetadataError):
            list(topic_values(image, version, is_elr_enabled=is_elr_enabled))
        return
    expected = [encode_record(VersionedRecord(each, version.record_version(each))) for each in messages]
    assert list(topic_values(image, version, is_elr_enabled=is_elr_enabled)) == expected


@given(partition_records(), st.data())
def test_damaged_bytes_are_what_the_codec_takes_them_for(record: VersionedRecord, data: st.DataObject) -> None:
    value = bytearray(encode_record(record))
    at = data.draw(st.integers(0, len(value) - 1))
    value[at] = data.draw(st.integers(0, 255))
    damaged = bytes(value[: data.draw(st.sampled_from([len(value), len(value) - 1, at]))])
    delta, expected = topics(), topics()
    # One that is right comes first, so that its bytes are known.
    by_the_codec(expected, encode_record(record))
    left = list(PartitionReader(delta).take([encode_record(record), damaged]))
    if damaged not in left:
        by_the_codec(expected, damaged)
        for unusual in left:
            assert unusual is not None
            by_the_codec(delta, unusual)
        assert delta.apply() == expected.apply()


def test_the_usual_form_does_not_need_the_codec_and_shares_its_tuples() -> None:
    def record(partition_id: int) -> bytes:
        fields = PartitionRecord(
            partition_id=partition_id,
            topic_id=TOPIC_ID,
            replicas=[1, 2],
            isr=[1],
            removing_replicas=[],
            adding_replicas=[],
            leader=1,
            directories=DIRECTORIES[1:],
        )
        return encode_record(VersionedRecord(fields, 2))

    delta = topics()
    assert list(PartitionReader(delta).take([record(0), record(1)])) == []
    first, second = delta.changed[TOPIC_ID].apply().partitions.contents()
    assert first.replicas is second.replicas
    assert first.directories is second.directories


@pytest.mark.parametrize("value", [None, b"", b"\x01\x03", encode_record(VersionedRecord(NoOpRecord(), 0))])
def test_other_records_come_back(value: bytes | None) -> None:
    assert list(PartitionReader(topics()).take([value])) == [value]


def test_a_partition_without_its_topic_comes_back() -> None:
    record = PartitionRecord(topic_id=OTHER_ID, replicas=[], isr=[], removing_replicas=[], adding_replicas=[])
    value = encode_record(VersionedRecord(record, 2))
    delta = topics()
    assert list(PartitionReader(delta).take([value])) == [value]
    with pytest.raises(MetadataError):
        by_the_codec(delta, value)


@pytest.mark.parametrize("length", [0, 5, 127, 128, 255])
def test_lengths_that_lead_nowhere_come_back(length: int) -> None:
    """Lengths of nothing, and long ones, at every place where a length stands."""
    value = b"\x01\x03\x02" + struct.pack(">i", 0) + TOPIC_ID + bytes([length]) * 40 + b"\x00"
    assert list(PartitionReader(topics()).take([value])) == [value]

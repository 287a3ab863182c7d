"""Images of random histories: they are what the model says, and a snapshot equals the log that it replaces."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata.cluster import BrokerRegistration, ClusterImage
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.errors import UnwritableMetadataError
from barnabas.metadata.finalized_features import FeaturesImage
from barnabas.metadata.framing import (
    MetadataBatch,
    VersionedRecord,
    build_batches,
    decode_record,
    encode_record,
    read_values,
)
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.loader import MetadataLoader, SnapshotLoad
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import Partition, Topic, TopicsImage
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records import RECORDS
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.uuid import Uuid
from metadata_history import History, random_history
from metadata_text import describe

SEEDS = st.integers(0, 2**32)
TOPIC_ID = Uuid(bytes(range(16)))


def loaded(history: History) -> MetadataImage:
    loader = MetadataLoader()
    loader.load(history.batches)
    return loader.image


def from_snapshot(records: list[VersionedRecord], provenance: Provenance) -> MetadataImage:
    """The image of a snapshot that has been through its bytes."""
    batches = build_batches(records, base_offset=0, epoch=1, timestamp_ms=1, batch_bytes_max=1000)
    return SnapshotLoad(read_values(b"".join(batches)), provenance).load()


def batch_from(batch: MetadataBatch, offset: int) -> MetadataBatch:
    """What of a batch is at or behind an offset."""
    skipped = max(offset - batch.base_offset, 0)
    return batch._replace(base_offset=batch.base_offset + skipped, records=batch.records[skipped:])


@pytest.mark.parametrize("version", MetadataVersion)
@given(seed=SEEDS, batches=st.integers(0, 30))
def test_an_image_is_what_the_history_says_and_a_snapshot_equals_its_log(
    version: MetadataVersion, seed: int, batches: int
) -> None:
    history = random_history(seed, version, batches)
    image = loaded(history)
    assert describe(image) == history.model
    assert from_snapshot(list(image.records()), image.provenance) == image
    assert list(image.values()) == [encode_record(record) for record in image.records()]


@given(seed=SEEDS, version=st.sampled_from(MetadataVersion), at=st.integers(0, 20))
def test_a_snapshot_in_the_middle_and_the_log_behind_it_end_in_the_same_image(
    seed: int, version: MetadataVersion, at: int
) -> None:
    """Also on top of another image, which the snapshot replaces."""
    batches = random_history(seed, version, 20).batches
    ahead, behind = MetadataLoader(), MetadataLoader(loaded(random_history(seed + 1, version, 10)))
    ahead.load(batches[:at] or batches[:1])
    behind.adopt(from_snapshot(list(ahead.image.records()), ahead.image.provenance))
    assert behind.image == ahead.image
    # The image may lie before the begin of a transaction that is open at this point of the log.
    last_offset = ahead.image.provenance.last_contained_offset
    ahead.load(batches[at or 1 :])
    behind.load(batch_from(batch, last_offset + 1) for batch in batches if batch.last_offset > last_offset)
    assert behind.image == ahead.image


@given(seed=SEEDS, records_max=st.integers(1, 20))
def test_a_snapshot_in_pieces_is_the_snapshot(seed: int, records_max: int) -> None:
    image = loaded(random_history(seed, MetadataVersion.V4_3_IV0, 10))
    records = list(image.records())
    load = SnapshotLoad(map(encode_record, records), image.provenance)
    pieces = 1
    while (got := load.load_piece(records_max)) is None:
        pieces += 1
    assert got == image
    assert pieces == len(records) // records_max + 1


@given(seed=SEEDS, version=st.sampled_from(MetadataVersion), is_same_history=st.booleans())
def test_the_difference_between_two_images_leads_from_one_to_the_other(
    seed: int, version: MetadataVersion, is_same_history: bool
) -> None:
    before = loaded(random_history(seed, version, 10))
    after = loaded(random_history(seed if is_same_history else seed + 1, version, 20))
    delta = MetadataDelta.between(before, after)
    assert delta.apply(after.provenance) == after
    assert set(delta.topics.deleted) == {*before.topics.by_id} - {*after.topics.by_id}
    assert {topic_id for topic_id, topic in delta.topics.changed.items() if topic.is_new} == (
        {*after.topics.by_id} - {*before.topics.by_id}
    )
    for topic_id, topic in delta.topics.changed.items():
        for partition_id in topic.partitions.changes:
            assert before.topics.partition(topic_id, partition_id) != after.topics.partition(topic_id, partition_id)


@given(seed=SEEDS)
def test_between_equal_images_nothing_differs(seed: int) -> None:
    image = loaded(random_history(seed, MetadataVersion.V4_3_IV0, 20))
    delta = MetadataDelta.between(image, from_snapshot(list(image.records()), image.provenance))
    again = delta.apply(image.provenance)
    for part in MetadataImage.__dataclass_fields__:
        assert getattr(again, part) is getattr(image, part)


@given(seed=SEEDS, version=st.sampled_from(MetadataVersion))
def test_images_do_not_depend_on_how_the_log_was_cut_into_loads(seed: int, version: MetadataVersion) -> None:
    history, random = random_history(seed, version, 20), Random(seed)
    loader, rest = MetadataLoader(), list(history.batches)
    while rest:
        count = random.randint(1, 4)
        loader.load(rest[:count])
        del rest[:count]
    assert loader.image == loaded(history)


@given(seed=SEEDS, version=st.sampled_from(MetadataVersion))
def test_an_image_that_was_published_never_changes(seed: int, version: MetadataVersion) -> None:
    loader, seen = MetadataLoader(), []
    for batch in random_history(seed, version, 15).batches:
        seen += [(published.image, describe(published.image)) for published in loader.load([batch])]
    assert all(describe(image) == text for image, text in seen)


def test_histories_have_every_record_in_every_version_that_the_levels_write() -> None:
    """Else the tests above would prove less than they say."""
    seen, written = set(), set()
    for seed in range(60):
        version = list(MetadataVersion)[seed % len(MetadataVersion)]
        history = random_history(seed, version, 30)
        seen |= {(type(record.message), record.version) for batch in history.batches for record in batch.records}
        written |= {(type(record.message), record.version) for record in loaded(history).records()}
    assert {record for record, _ in seen} == set(RECORDS.values())
    versions = {(record.__name__, version) for record, version in seen | written if version}
    assert versions == {
        ("RegisterBrokerRecord", 3),
        ("RegisterBrokerRecord", 4),
        *(("BrokerRegistrationChangeRecord", version) for version in (1, 2, 3)),
        *((name, version) for name in ("PartitionRecord", "PartitionChangeRecord") for version in (1, 2)),
    }


def test_a_snapshot_begins_with_the_level_that_its_records_are_written_in() -> None:
    for version in MetadataVersion:
        image = loaded(random_history(5, version, 0))
        first, *_ = image.records()
        assert first == (FeatureLevelRecord(name="metadata.version", feature_level=version), 0)


def test_an_image_without_a_level_cannot_be_written() -> None:
    for written in (EMPTY_IMAGE.records(), EMPTY_IMAGE.values()):
        with pytest.raises(UnwritableMetadataError, match=r"without a metadata\.version"):
            next(written)


def test_cordoned_directories_are_not_lost_in_silence() -> None:
    broker = BrokerRegistration(
        id=1,
        epoch=1,
        incarnation_id=TOPIC_ID,
        endpoints=SortedMap(),
        supported_features=SortedMap(),
        cordoned_directories=(),
    )
    image = MetadataImage(
        features=FeaturesImage(MetadataVersion.V4_3_IV0), cluster=ClusterImage(SortedMap({1: broker}))
    )
    assert len(list(image.records())) == 2
    with pytest.raises(UnwritableMetadataError, match=r"cordoned log directories of broker 1 .* 4.2-IV1"):
        list(image.records(MetadataVersion.V4_2_IV1))


def image_with_elr(version: MetadataVersion, *, is_enabled: bool) -> MetadataImage:
    partition = Partition((1, 2), (TOPIC_ID, TOPIC_ID), (1,), 1, 0, 0, eligible_leader_replicas=(2,))
    levels = SortedMap({"eligible.leader.replicas.version": 1} if is_enabled else {})
    topics = TopicsImage(
        SortedMap({TOPIC_ID: Topic("t", TOPIC_ID, SortedMap({0: partition}))}), SortedMap({"t": TOPIC_ID})
    )
    return MetadataImage(features=FeaturesImage(version, levels), topics=topics)


def test_eligible_leader_replicas_are_written_where_the_feature_is_enabled() -> None:
    def written(is_enabled: bool) -> list[int] | None:
        image = image_with_elr(MetadataVersion.V4_3_IV0, is_enabled=is_enabled)
        *_, last = image.records()
        replicas: list[int] | None = decode_record(encode_record(last)).message.eligible_leader_replicas  # type: ignore[attr-defined]
        return replicas

    assert written(True) == [2]
    assert written(False) is None


def test_eligible_leader_replicas_are_not_lost_in_silence() -> None:
    image = image_with_elr(MetadataVersion.V4_3_IV0, is_enabled=True)
    with pytest.raises(UnwritableMetadataError, match=r"eligible leader replicas of t-0 .* 4.0-IV0"):
        list(image.records(MetadataVersion.V4_0_IV0))
    cleared = MetadataDelta(image)
    cleared.replay(ClearElrRecord(topic_name="t"))
    assert list(cleared.apply(image.provenance).records(MetadataVersion.V4_0_IV0))


def test_a_delta_without_changes_gives_the_same_parts() -> None:
    image = loaded(random_history(7, MetadataVersion.V4_3_IV0, 30))
    again = MetadataDelta(image).apply(image.provenance)
    for part in MetadataImage.__dataclass_fields__:
        assert getattr(again, part) is getattr(image, part)

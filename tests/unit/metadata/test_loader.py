"""What the loader publishes when: once a load, not while a transaction is open, and aligned to batches or not."""

from __future__ import annotations

from itertools import count

import pytest

from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.errors import ReplayError
from barnabas.metadata.framing import MetadataBatch, VersionedRecord, encode_record
from barnabas.metadata.image import Provenance
from barnabas.metadata.loader import MetadataLoader, Published, SnapshotLoad
from barnabas.protocol.metadata_records.abort_transaction import AbortTransactionRecord
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.end_transaction import EndTransactionRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.producer_ids import ProducerIdsRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

BEGIN, END, ABORT = BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()


def ids(next_producer_id: int) -> ProducerIdsRecord:
    return ProducerIdsRecord(broker_id=1, next_producer_id=next_producer_id)


class Log:
    """Makes batches whose offsets follow each other."""

    def __init__(self) -> None:
        self._offsets = count()

    def batch(self, *records: Message, epoch: int = 1) -> MetadataBatch:
        offsets = [next(self._offsets) for _ in records]
        versioned = [VersionedRecord(record, 0) for record in records]
        return MetadataBatch(offsets[0], offsets[-1], epoch, 1000 + offsets[-1], 50, versioned)


def seen(published: list[Published]) -> list[tuple[int, int, bool]]:
    """What was published: up to which offset, with which next producer id, and whether a batch ends there."""
    return [
        (
            each.image.provenance.last_contained_offset,
            each.image.next_producer_id,
            each.image.provenance.is_batch_aligned,
        )
        for each in published
    ]


def test_several_batches_of_one_load_are_published_once() -> None:
    log, loader = Log(), MetadataLoader()
    published = loader.load([log.batch(ids(10), NoOpRecord()), log.batch(ids(20), epoch=3)])
    assert seen(published) == [(2, 20, True)]
    assert published[0].size_bytes == 100
    assert loader.image.provenance == Provenance(2, 3, 1002, True)
    assert seen(loader.load([log.batch(NoOpRecord())])) == [(3, 20, True)]
    assert loader.load([]) == []


def test_a_control_batch_moves_the_offset_of_the_image() -> None:
    loader = MetadataLoader()
    published = loader.load([MetadataBatch(0, 2, 1, 5, 80, [])])
    assert seen(published) == [(2, -1, True)]
    assert published[0].delta.next_producer_id is None


def test_a_transaction_takes_effect_at_its_end() -> None:
    log, loader = Log(), MetadataLoader()
    loader.load([log.batch(ids(10))])
    assert loader.load([log.batch(BEGIN, ids(20))]) == []
    assert loader.is_in_transaction
    assert loader.load([log.batch(ids(30))]) == []
    assert (loader.image.next_producer_id, loader.image.provenance.last_contained_offset) == (10, 0)
    assert seen(loader.load([log.batch(END)])) == [(4, 30, True)]
    assert not loader.is_in_transaction


def test_what_comes_before_a_transaction_is_published_before_it() -> None:
    log, loader = Log(), MetadataLoader()
    assert seen(loader.load([log.batch(ids(10)), log.batch(BEGIN, ids(20))])) == [(0, 10, True)]
    assert seen(loader.load([log.batch(END)])) == [(3, 20, True)]


def test_an_image_that_ends_within_a_batch_is_not_aligned() -> None:
    log, loader = Log(), MetadataLoader()
    assert seen(loader.load([log.batch(ids(10), BEGIN, ids(20), END)])) == [(0, 10, False), (3, 20, True)]


def test_a_transaction_at_the_very_beginning_has_nothing_before_it() -> None:
    log, loader = Log(), MetadataLoader()
    assert seen(loader.load([log.batch(BEGIN, ids(10), END)])) == [(2, 10, True)]


def test_an_aborted_transaction_leaves_nothing_but_offsets() -> None:
    log, loader = Log(), MetadataLoader()
    loader.load([log.batch(ids(10))])
    loader.load([log.batch(BEGIN, ids(20))])
    published = loader.load([log.batch(ABORT)])
    assert seen(published) == [(3, 10, True)]
    assert published[0].delta.next_producer_id is None


def test_records_behind_an_abort_count_even_in_its_batch() -> None:
    log, loader = Log(), MetadataLoader()
    level = FeatureLevelRecord(name="group.version", feature_level=1)
    assert seen(loader.load([log.batch(BEGIN, ids(20), ABORT, level)])) == [(3, -1, True)]
    assert loader.image.features.level("group.version") == 1


def test_transactions_follow_each_other_in_one_load() -> None:
    log, loader = Log(), MetadataLoader()
    first, second = log.batch(BEGIN, ids(10), END), log.batch(BEGIN, ids(20), END)
    assert seen(loader.load([first, second])) == [(2, 10, True), (5, 20, True)]


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([BEGIN, BEGIN], "at offset 1 of the metadata log: BeginTransactionRecord inside a transaction"),
        ([END], "EndTransactionRecord outside a transaction"),
        ([BEGIN, END, ABORT], "AbortTransactionRecord outside a transaction"),
        ([NoOpRecord(), FeatureLevelRecord(name="metadata.version", feature_level=1)], "at offset 1 of the metadata"),
    ],
)
def test_a_record_out_of_place_is_named_by_its_offset(records: list[Message], reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        MetadataLoader().load([Log().batch(*records)])


def test_a_snapshot_replaces_everything_and_ends_an_open_transaction() -> None:
    log, loader = Log(), MetadataLoader()
    loader.load([log.batch(TopicRecord(name="old", topic_id=Uuid(bytes(16)))), log.batch(BEGIN, ids(20))])
    kept = Uuid(b"k" * 16)
    provenance = Provenance(40, 7, 99, True)
    before = loader.image
    loader.adopt(
        SnapshotLoad([encode_record(VersionedRecord(TopicRecord(name="kept", topic_id=kept), 0))], provenance).load()
    )
    delta = MetadataDelta.between(before, loader.image)
    assert [topic.name for topic in delta.topics.deleted.values()] == ["old"]
    assert [(topic.base.name, topic.is_new) for topic in delta.topics.changed.values()] == [("kept", True)]
    assert dict(loader.image.topics.ids) == {"kept": kept}
    assert loader.image.provenance == provenance
    assert not loader.is_in_transaction


def test_a_name_that_a_snapshot_gives_to_another_topic_leads_to_that_one() -> None:
    loader, old, new = MetadataLoader(), Uuid(b"o" * 16), Uuid(b"n" * 16)
    loader.load([Log().batch(TopicRecord(name="t", topic_id=old))])
    snapshot = SnapshotLoad(
        [encode_record(VersionedRecord(TopicRecord(name="t", topic_id=new), 0))], Provenance(9, 1, 1, True)
    )
    delta = MetadataDelta.between(loader.image, snapshot.load())
    image = delta.apply(Provenance(9, 1, 1, True))
    assert dict(image.topics.ids) == {"t": new}
    assert list(image.topics.by_id) == [new]

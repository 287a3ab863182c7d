"""One table replays every record; records that do not fit what came before are refused, and say what does not fit."""

from __future__ import annotations

import pytest

from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.delta import REPLAY, MetadataDelta
from barnabas.metadata.errors import ReplayError
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.loader import TRANSACTION_RECORDS
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from barnabas.protocol.metadata_records import RECORDS, register_broker
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.fence_broker import FenceBrokerRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.metadata_records.remove_access_control_entry import RemoveAccessControlEntryRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

TOPIC_ID, OTHER_ID = Uuid(bytes(range(16))), Uuid(bytes(range(1, 17)))
DIRECTORIES = [Uuid(bytes((number,)) * 16) for number in (1, 2, 200)]
T_CONFIG = ConfigResource(ConfigResourceType.TOPIC, "t")


def topic(name: str = "t", topic_id: Uuid = TOPIC_ID) -> TopicRecord:
    return TopicRecord(name=name, topic_id=topic_id)


def partition(**changes: object) -> PartitionRecord:
    values: dict[str, object] = {"partition_id": 0, "topic_id": TOPIC_ID, "replicas": [1, 2, 3], "isr": [1, 2, 3]}
    values |= {"removing_replicas": [], "adding_replicas": [], "leader": 1, "leader_epoch": 4, "partition_epoch": 9}
    return PartitionRecord(**values | changes)  # type: ignore[arg-type]


def broker(**changes: object) -> RegisterBrokerRecord:
    values: dict[str, object] = {"broker_id": 1, "broker_epoch": 10, "incarnation_id": OTHER_ID, "rack": None}
    return RegisterBrokerRecord(**{**values, "end_points": [], "features": [], **changes})  # type: ignore[arg-type]


def replay(*records: Message, onto: MetadataImage = EMPTY_IMAGE) -> MetadataDelta:
    delta = MetadataDelta(onto)
    for record in records:
        delta.replay(record)
    return delta


def image_of(*records: Message, onto: MetadataImage = EMPTY_IMAGE) -> MetadataImage:
    return replay(*records, onto=onto).apply(Provenance())


def test_the_table_and_the_loader_know_every_record() -> None:
    assert {*REPLAY, *TRANSACTION_RECORDS} == set(RECORDS.values())
    assert not REPLAY.keys() & set(TRANSACTION_RECORDS)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (partition(), f"topic {TOPIC_ID} is changed but not there"),
        (PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID), f"topic {TOPIC_ID} is changed but not there"),
        (RemoveTopicRecord(topic_id=TOPIC_ID), f"topic {TOPIC_ID} is changed but not there"),
        (ClearElrRecord(topic_name="t"), "no such topic"),
        (FenceBrokerRecord(id=1, epoch=1), "broker 1 is changed but not registered"),
        (RemoveAccessControlEntryRecord(id=TOPIC_ID), "is removed but not there"),
        (FeatureLevelRecord(name="metadata.version", feature_level=20), "No metadata.version with feature level 20"),
        (BeginTransactionRecord(), "BeginTransactionRecord does not change an image"),
        (
            broker(end_points=[register_broker.BrokerEndpoint(name="P", host="h", port=1, security_protocol=9)]),
            "security protocol that is not known",
        ),
    ],
)
def test_a_record_about_what_is_not_there_is_refused(record: Message, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason.replace("(", r"\(")):
        replay(record)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID), "partition 1 of topic t is changed but not there"),
        (PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, replicas=[1]), "not as many directories as replicas"),
        (partition(directories=DIRECTORIES[:2]), "not as many directories as replicas"),
        (partition(leader_recovery_state=2), "leader recovery state that is not known"),
        (BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=11), "in epoch 11 but registered in 10"),
        (BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=10, fenced=2), "that is not known"),
        (BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=10, in_controlled_shutdown=-1), "that is not known"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: Message, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        replay(broker(), topic(), partition(directories=DIRECTORIES), record)


def test_a_change_raises_the_partition_epoch_and_a_named_leader_the_leader_epoch() -> None:
    def changed(**changes: object) -> tuple[int, int, int]:
        change = PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, **changes)  # type: ignore[arg-type]
        found = image_of(topic(), partition(), change).topics.partition(TOPIC_ID, 0)
        assert found is not None
        return found.leader, found.leader_epoch, found.partition_epoch

    assert changed(isr=[1]) == (1, 4, 10)
    assert changed(leader=2) == (2, 5, 10)
    assert changed(leader=1) == (1, 5, 10), "naming the same leader again is a new epoch of it"
    assert changed(leader=-1) == (-1, 5, 10)


def test_directories_that_nobody_knows_are_as_before_directories_had_ids() -> None:
    unknown = image_of(topic(), partition()).topics.partition(TOPIC_ID, 0)
    assert unknown is not None
    assert unknown.directories == (MIGRATING_DIRECTORY,) * 3
    replaced = image_of(
        topic(), partition(), PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, replicas=[1, 2])
    ).topics.partition(TOPIC_ID, 0)
    assert replaced is not None
    assert replaced.directories == (MIGRATING_DIRECTORY,) * 2
    assert len({MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY}) == 3


def test_a_partition_answers_for_its_replicas() -> None:
    found = image_of(topic(), partition(directories=DIRECTORIES, leader=-1)).topics.partition(TOPIC_ID, 0)
    assert found is not None
    assert (found.has_leader, found.preferred_leader, found.directory(3)) == (False, 1, DIRECTORIES[2])
    with pytest.raises(ValueError):
        found.directory(4)
    assert found._replace(replicas=()).preferred_leader == -1


def test_a_broker_keeps_its_directories_in_kafkas_order() -> None:
    """Kafka compares the halves of an id as signed numbers: ids from 80… on come first."""
    registered = image_of(broker(log_dirs=DIRECTORIES)).cluster.brokers[1]
    assert registered.directories == (DIRECTORIES[2], DIRECTORIES[0], DIRECTORIES[1])


def test_a_change_that_changes_nothing_about_a_broker_is_no_change() -> None:
    image = image_of(broker(fenced=True))
    same = replay(BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=10, fenced=1), onto=image)
    assert not same.cluster.brokers.changes
    assert same.apply(Provenance()).cluster is image.cluster


def test_kraft_version_is_not_a_finalized_feature_of_the_image() -> None:
    image = image_of(FeatureLevelRecord(name="kraft.version", feature_level=1))
    assert image.features.level("kraft.version") == 0
    assert image.features.level("metadata.version") == 0


def test_a_deleted_topic_takes_its_settings_along_and_its_name_can_be_used_again() -> None:
    config = ConfigRecord(resource_type=2, resource_name="t", name="a", value="1")
    image = image_of(topic(), partition(), config)
    assert dict(image.configs) == {T_CONFIG: SortedMap({"a": "1"})}
    delta = replay(RemoveTopicRecord(topic_id=TOPIC_ID), topic(topic_id=OTHER_ID), onto=image)
    assert set(delta.topics.deleted) == {TOPIC_ID}
    assert set(delta.topics.changed) == {OTHER_ID}
    after = delta.apply(Provenance())
    assert not after.configs
    assert after.topics.by_name("t") == after.topics.by_id[OTHER_ID]
    assert after.topics.partition(TOPIC_ID, 0) is None
    assert image.topics.by_name("t") is not None


@pytest.mark.parametrize("onto", [EMPTY_IMAGE, image_of(topic(), partition())], ids=["new", "known"])
def test_a_topic_that_is_gone_cannot_be_changed(onto: MetadataImage) -> None:
    records = [] if onto.topics.by_id else [topic(), partition()]
    delta = replay(*records, RemoveTopicRecord(topic_id=TOPIC_ID), onto=onto)
    with pytest.raises(ReplayError, match="is changed but not there"):
        delta.replay(PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=[1]))
    with pytest.raises(ReplayError, match="no such topic"):
        delta.replay(ClearElrRecord(topic_name="t"))


def test_a_topic_that_came_and_went_within_a_delta_leaves_nothing() -> None:
    config = ConfigRecord(resource_type=2, resource_name="t", name="a", value="1")
    delta = replay(topic(), partition(), config, RemoveTopicRecord(topic_id=TOPIC_ID))
    assert not delta.topics.changed
    assert not delta.topics.deleted
    assert delta.apply(Provenance()) == MetadataImage()


def test_a_delta_tells_new_topics_from_changed_ones() -> None:
    image = image_of(topic(), partition())
    delta = replay(PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=[1]), topic("u", OTHER_ID), onto=image)
    assert {each.base.name: each.is_new for each in delta.topics.changed.values()} == {"t": False, "u": True}
    changed = delta.topics.changed[TOPIC_ID].partitions
    assert list(changed.changes) == [0]
    assert changed.base[0].isr == (1, 2, 3)


def test_partitions_with_the_same_replicas_share_them() -> None:
    records = [partition(partition_id=index, directories=list(DIRECTORIES)) for index in range(3)]
    partitions = image_of(topic(), *records).topics.by_id[TOPIC_ID].partitions
    assert len({id(each.replicas) for each in partitions.values()}) == 1
    assert len({id(each.directories) for each in partitions.values()}) == 1
    assert partitions[0].isr is partitions[0].replicas


def test_a_change_to_one_partition_copies_neither_the_other_topics_nor_their_names() -> None:
    ids = [Uuid(bytes((number % 256, number // 256)) * 8) for number in range(3000)]
    image = image_of(*(topic(f"t{number}", each) for number, each in enumerate(ids)), partition(topic_id=ids[7]))
    after = image_of(PartitionChangeRecord(partition_id=0, topic_id=ids[7], isr=[1]), onto=image)
    assert after.topics.ids is image.topics.ids
    kept = {id(leaf) for leaf in image.topics.by_id._leaves()} & {id(leaf) for leaf in after.topics.by_id._leaves()}
    assert len(kept) == len(list(image.topics.by_id._leaves())) - 1

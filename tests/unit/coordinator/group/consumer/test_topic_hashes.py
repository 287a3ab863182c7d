"""The hash of a group's topics is the one that Apache's broker computes; the numbers here are from its own classes."""

from __future__ import annotations

from barnabas.coordinator.group.consumer.topic_hashes import NO_TOPICS, TopicHashes, topic_hash
from barnabas.metadata.cluster import BrokerRegistration, ClusterImage
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import Partition, Topic, TopicsImage
from barnabas.protocol.uuid import ZERO_UUID, Uuid

ORDERS, PAYMENTS, BOTH = 825463246020475908, -1419904410876607281, 4815461256442028670


def partition(*replicas: int) -> Partition:
    return Partition(replicas, (ZERO_UUID,) * len(replicas), replicas, replicas[0], 0, 0)


def broker(number: int, rack: str | None) -> BrokerRegistration:
    return BrokerRegistration(
        id=number, epoch=0, incarnation_id=ZERO_UUID, endpoints=SortedMap(), supported_features=SortedMap(), rack=rack
    )


# Brokers 5 and 6 are not there, or in no rack.
RACKS = {1: "rack0", 2: "rack1", 3: "rack1", 5: None}
TOPICS = [
    Topic("orders", Uuid.parse("vKcl5jQQTnG4TX1OAvYTWw"), SortedMap({0: partition(2, 3, 1), 1: partition(1, 5)})),
    Topic("payments", Uuid.parse("AAECAwQFBgcICQoLDA0ODw"), SortedMap({0: partition(6)})),
]
IMAGE = MetadataImage(
    topics=TopicsImage(
        SortedMap({topic.id: topic for topic in TOPICS}), SortedMap({topic.name: topic.id for topic in TOPICS})
    ),
    cluster=ClusterImage(SortedMap({number: broker(number, rack) for number, rack in RACKS.items()})),
)


def test_a_topic_is_hashed_with_the_racks_of_its_replicas() -> None:
    assert [topic_hash(topic, IMAGE) for topic in TOPICS] == [ORDERS, PAYMENTS]


def test_a_group_is_hashed_by_the_names_of_the_topics_that_exist() -> None:
    hashes = TopicHashes()
    assert hashes.of({"payments", "orders"}, IMAGE) == BOTH
    assert hashes.of(["payments", "none", "orders"], IMAGE) == BOTH
    assert hashes.of({"none"}, IMAGE) == NO_TOPICS == 0


def test_a_topic_that_changes_is_hashed_anew() -> None:
    hashes = TopicHashes()
    before = hashes.of({"orders"}, IMAGE)
    grown = TOPICS[0]._replace(partitions=SortedMap({0: partition(2, 3, 1), 1: partition(1, 5), 2: partition(1)}))
    topics = TopicsImage(IMAGE.topics.by_id.updated({grown.id: grown}), IMAGE.topics.ids)
    assert hashes.of({"orders"}, MetadataImage(topics=topics, cluster=IMAGE.cluster)) != before
    assert hashes.of({"orders"}, IMAGE) == before


def test_what_is_forgotten_is_computed_again() -> None:
    hashes = TopicHashes()
    hashes.of({"orders"}, IMAGE)
    without_racks = MetadataImage(topics=IMAGE.topics)
    known = hashes.of({"orders"}, without_racks)
    hashes.forget({"orders", "none"})
    assert hashes.of({"orders"}, without_racks) != known

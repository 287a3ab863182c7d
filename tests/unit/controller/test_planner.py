"""Many partitions that are changed alike are changed as each would be by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.controller.planner import PartitionPlanner
from barnabas.controller.settings import ControllerSettings
from barnabas.metadata.cluster import BrokerRegistration, ClusterImage
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.finalized_features import FeaturesImage
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY, Partition, Topic, TopicsImage
from barnabas.metadata.versions import LATEST_METADATA_VERSION
from barnabas.protocol.uuid import Uuid

BROKERS = range(4)
SETTINGS = ControllerSettings(node_id=3000, cluster_id="AAAAAAAAAAAAAAAAAAAAAQ")


@st.composite
def partitions(draw: st.DrawFn) -> Partition:
    replicas = tuple(draw(st.permutations(BROKERS))[: draw(st.integers(1, 3))])
    in_sync = draw(st.integers(0, len(replicas)))
    isr, out = replicas[:in_sync], replicas[in_sync:]
    return Partition(
        replicas,
        (UNASSIGNED_DIRECTORY,) * len(replicas),
        isr,
        draw(st.sampled_from(isr)) if isr else -1,
        draw(st.integers(0, 9)),
        draw(st.integers(0, 9)),
        eligible_leader_replicas=out[: draw(st.integers(0, 1))],
    )


@st.composite
def images(draw: st.DrawFn) -> MetadataImage:
    """Two topics with like partitions, one of which allows unclean elections or wants more replicas in sync."""
    fenced = draw(st.sets(st.sampled_from(BROKERS)))
    brokers = {
        each: BrokerRegistration(
            id=each,
            epoch=each,
            incarnation_id=Uuid(bytes(16)),
            endpoints=SortedMap(),
            supported_features=SortedMap(),
            is_fenced=each in fenced,
        )
        for each in BROKERS
    }
    shapes = draw(st.lists(partitions(), min_size=1, max_size=3))
    alike = st.builds(Partition.with_epochs, st.sampled_from(shapes), st.integers(0, 9), st.integers(0, 9))
    topics = [
        Topic(name, Uuid(name.encode() * 16), SortedMap(enumerate(draw(st.lists(alike, max_size=4)))))
        for name in ("t", "u")
    ]
    configs = draw(st.sampled_from([{"min.insync.replicas": "2"}, {"unclean.leader.election.enable": "true"}]))
    return MetadataImage(
        features=FeaturesImage(
            LATEST_METADATA_VERSION, SortedMap({"eligible.leader.replicas.version": draw(st.integers(0, 1))})
        ),
        cluster=ClusterImage(SortedMap(brokers)),
        topics=TopicsImage(
            SortedMap({topic.id: topic for topic in topics}), SortedMap({topic.name: topic.id for topic in topics})
        ),
        configs=SortedMap({ConfigResource(ConfigResourceType.TOPIC, "u"): SortedMap(configs)}),
    )


@given(images(), st.booleans())
def test_taking_a_broker_out_of_many_is_taking_it_out_of_each(image: MetadataImage, is_unclean: bool) -> None:
    many = PartitionPlanner(image, SETTINGS, leaving={1})
    each = PartitionPlanner(image, SETTINGS, leaving={1})
    assert many.take_out(1, many.select(lambda partition: 1 in partition.replicas), is_unclean=is_unclean)
    for topic, index in each.select(lambda partition: 1 in partition.replicas):
        was = topic.partitions[index]
        wanted = was._replace(isr=tuple(replica for replica in was.isr if replica != 1))
        stopped = (1,) if is_unclean else ()
        each.change(topic, index, wanted, each.allowed_election(topic), uncleanly_stopped=stopped)
    assert many.records == each.records
    for topic in image.topics.by_id.contents():
        for index in topic.partitions:
            assert many.partition(topic, index) == each.partition(topic, index)


@given(images())
def test_an_election_for_many_is_one_for_each(image: MetadataImage) -> None:
    many, each = PartitionPlanner(image, SETTINGS), PartitionPlanner(image, SETTINGS)
    many.elect_for_leaderless()
    for topic, index in each.select(lambda partition: not partition.has_leader):
        each.change(topic, index, topic.partitions[index], each.allowed_election(topic))
    assert many.records == each.records

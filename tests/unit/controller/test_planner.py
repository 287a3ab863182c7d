"""Many partitions that are changed alike are changed as each would be by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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


def image_of(
    topics: Sequence[Topic], configs_of_u: Mapping[str, str], *, has_elr: bool, fenced: Collection[int] = ()
) -> MetadataImage:
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
    levels = SortedMap({"eligible.leader.replicas.version": 1} if has_elr else {})
    return MetadataImage(
        features=FeaturesImage(LATEST_METADATA_VERSION, levels),
        cluster=ClusterImage(SortedMap(brokers)),
        topics=TopicsImage(
            SortedMap({topic.id: topic for topic in topics}), SortedMap({topic.name: topic.id for topic in topics})
        ),
        configs=SortedMap({ConfigResource(ConfigResourceType.TOPIC, "u"): SortedMap(configs_of_u)}),
    )


@st.composite
def images(draw: st.DrawFn) -> MetadataImage:
    """Two topics with like partitions, one of which allows unclean elections or wants more replicas in sync."""
    shapes = draw(st.lists(partitions(), min_size=1, max_size=3))
    alike = st.builds(Partition.with_epochs, st.sampled_from(shapes), st.integers(0, 9), st.integers(0, 9))
    topics = [
        Topic(name, Uuid(name.encode() * 16), SortedMap(enumerate(draw(st.lists(alike, max_size=4)))))
        for name in ("t", "u")
    ]
    configs = draw(st.sampled_from([{"min.insync.replicas": "2"}, {"unclean.leader.election.enable": "true"}]))
    fenced = draw(st.sets(st.sampled_from(BROKERS)))
    return image_of(topics, configs, has_elr=draw(st.booleans()), fenced=fenced)


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


def test_partitions_that_differ_in_what_counts_are_planned_apart() -> None:
    """By their leaders, and by how many replicas their topics want in sync."""
    leader_leaves = Partition((1, 2), (UNASSIGNED_DIRECTORY,) * 2, (1, 2), 1, 0, 0)
    leader_stays = leader_leaves._replace(leader=2)
    topics = [
        Topic(name, Uuid(name.encode() * 16), SortedMap(enumerate([leader_leaves, leader_stays])))
        for name in ("t", "u")
    ]
    image = image_of(topics, {"min.insync.replicas": "2"}, has_elr=True)
    planner = PartitionPlanner(image, SETTINGS, leaving={1})
    planner.take_out(1, planner.select(lambda partition: 1 in partition.isr))
    changed = [planner.partition(topic, index) for topic in topics for index in (0, 1)]
    assert [(each.isr, each.leader, each.leader_epoch, each.eligible_leader_replicas) for each in changed if each] == [
        ((2,), 2, 1, ()),
        ((2,), 2, 0, ()),
        ((2,), 2, 1, (1,)),
        ((2,), 2, 0, (1,)),
    ]

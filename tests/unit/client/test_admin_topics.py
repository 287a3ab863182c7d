"""Topics, settings and what else belongs to them are asked of the right node, and each part has its own outcome."""

from __future__ import annotations

import pytest

from barnabas.client.admin.configs import alter_configs, describe_configs, list_config_resources
from barnabas.client.admin.elections import ElectionType, elect_leaders
from barnabas.client.admin.groups import list_groups
from barnabas.client.admin.log_dirs import Replica, ReplicaLogDirs, alter_replica_log_dirs, describe_replica_log_dirs
from barnabas.client.admin.offsets import OffsetTime, delete_records, list_offsets
from barnabas.client.admin.topics import (
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
    describe_topic_by_id,
    describe_topics,
    list_topics,
)
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.log.checkpoint import TopicPartition
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from barnabas.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from barnabas.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from barnabas.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource as ListedResource,
)
from barnabas.protocol.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import ZERO_UUID
from unit.client.scripted_node import Script, ScriptedNode
from unit.client.test_admin import opened
from unit.client.topic_node import Partition, Topic, TopicNode

REFUSED = ErrorCode.POLICY_VIOLATION


def codes(outcomes: dict[str, ClientError | None]) -> dict[str, ErrorCode | None]:
    return {name: None if error is None else error.code for name, error in outcomes.items()}


def test_topics_are_listed() -> None:
    with TopicNode({"a": Topic(), "__consumer_offsets": Topic()}) as node, opened(node) as cluster:
        found = list_topics(cluster)
    assert [(topic.name, topic.is_internal) for topic in found] == [("a", False), ("__consumer_offsets", True)]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_topics_are_described_whole_however_small_the_pages_are(limit: int) -> None:
    topics = {"a": Topic([Partition()] * 3), "b": Topic(), "c": Topic([Partition(-1, [1, 2], [2], [1])] * 4)}
    with TopicNode(topics) as node, opened(node) as cluster:
        found = describe_topics(cluster, ["c", "no", "a", "b"], partitions_per_response=limit)
    unknown = found.pop("no")
    assert isinstance(unknown, ClientError)
    assert unknown.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    described = raise_first(found)
    assert {name: [each.index for each in topic.partitions] for name, topic in described.items()} == {
        "a": [0, 1, 2],
        "b": [0],
        "c": [0, 1, 2, 3],
    }
    last = described["c"].partitions[3]
    assert (last.leader_id, last.replicas, last.isr, last.elr) == (None, [1, 2], [2], [1])


def test_a_node_without_pages_is_asked_for_metadata() -> None:
    with TopicNode({"a": Topic([Partition()] * 2)}, is_old=True) as node, opened(node) as cluster:
        found = describe_topics(cluster, ["a", "no"])
    described = found["a"]
    assert not isinstance(described, ClientError)
    assert [(each.index, each.elr) for each in described.partitions] == [(0, None), (1, None)]
    assert isinstance(found["no"], ClientError)


def test_a_topic_is_described_by_its_id() -> None:
    with TopicNode({"a": Topic()}) as node, opened(node) as cluster:
        assert describe_topic_by_id(cluster, Topic().topic_id).name == "a"
        with pytest.raises(ClientError):
            describe_topic_by_id(cluster, ZERO_UUID)


def test_each_topic_has_its_own_outcome() -> None:
    def made(name: str, code: ErrorCode) -> CreatableTopicResult:
        return CreatableTopicResult(name=name, error_code=code, error_message=None)

    answers: dict[type[Message], Script] = {
        CreateTopicsRequest: CreateTopicsResponse(
            throttle_time_ms=0, topics=[made("a", ErrorCode.NONE), made("b", REFUSED)]
        ),
        DeleteTopicsRequest: DeleteTopicsResponse(
            throttle_time_ms=0, responses=[DeletableTopicResult(name="a", error_code=REFUSED)]
        ),
        CreatePartitionsRequest: CreatePartitionsResponse(
            throttle_time_ms=0, results=[CreatePartitionsTopicResult(name="a", error_code=REFUSED)]
        ),
    }
    with ScriptedNode(answers) as node, opened(node) as cluster:
        wanted = [NewTopic("a"), NewTopic("b", 3, 2, configs={"x": "y"}), NewTopic("c", assignment={0: [1, 2]})]
        outcomes = create_topics(cluster, wanted)
        assert codes(outcomes) == {"a": None, "b": REFUSED, "c": ErrorCode.UNKNOWN_SERVER_ERROR}
        assert codes(delete_topics(cluster, ["a"])) == {"a": REFUSED}
        assert codes(create_partitions(cluster, {"a": 4}, {"a": [[1], [2]]})) == {"a": REFUSED}
        (created,) = node.asked(CreateTopicsRequest)
        (raised,) = node.asked(CreatePartitionsRequest)
    assert [(each.num_partitions, each.replication_factor) for each in created.topics] == [(-1, -1), (3, 2), (-1, -1)]
    assert created.topics[2].assignments[0].broker_ids == [1, 2]
    assert [each.broker_ids for each in raised.topics[0].assignments] == [[1], [2]]


def test_a_node_that_is_not_in_charge_is_not_an_outcome() -> None:
    def answer(code: ErrorCode) -> CreateTopicsResponse:
        result = CreatableTopicResult(name="a", error_code=code, error_message=None)
        return CreateTopicsResponse(throttle_time_ms=0, topics=[result])

    answers: dict[type[Message], Script] = {
        CreateTopicsRequest: [answer(ErrorCode.NOT_CONTROLLER), answer(ErrorCode.NONE)]
    }
    with ScriptedNode(answers) as node, opened(node) as cluster:
        assert create_topics(cluster, [NewTopic("a")]) == {"a": None}
        assert len(node.asked(CreateTopicsRequest)) == 2


def test_what_only_brokers_answer_is_refused_where_controllers_are_asked() -> None:
    with ScriptedNode() as node, opened(node, controllers=True) as cluster:
        with pytest.raises(ClientError, match="listTopics is answered by brokers") as refused:
            list_topics(cluster)
        assert node.requests == []
    assert refused.value.code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE


def described(request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            DescribeConfigsResult(
                error_code=REFUSED if each.resource_name == "bad" else ErrorCode.NONE,
                error_message=None,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
                configs=[],
            )
            for each in request.resources
        ],
    )


def altered(request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=ErrorCode.NONE,
                error_message=None,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
            )
            for each in request.resources
        ],
    )


def test_what_concerns_a_broker_is_asked_of_that_broker() -> None:
    answers: dict[type[Message], Script] = {DescribeConfigsRequest: described, IncrementalAlterConfigsRequest: altered}
    with ScriptedNode(answers) as first, ScriptedNode(answers, node_id=2) as second:
        first.peers = second.peers = [first, second]
        resources = {
            "topic": ConfigResource(ConfigResourceType.TOPIC, "a"),
            "bad": ConfigResource(ConfigResourceType.TOPIC, "bad"),
            "broker": ConfigResource(ConfigResourceType.BROKER, "2"),
            "default": ConfigResource(ConfigResourceType.BROKER, ""),
            "logger": ConfigResource(ConfigResourceType.BROKER_LOGGER, "2"),
        }
        with opened(first) as cluster:
            found = describe_configs(cluster, resources.values())
            assert {resource: isinstance(each, ClientError) for resource, each in found.items()} == {
                resource: name == "bad" for name, resource in resources.items()
            }
            alter_configs(cluster, {resources["broker"]: {"a": "1", "b": None}})
            (change,) = second.asked(IncrementalAlterConfigsRequest)
        with opened(first, controllers=True) as cluster:
            alter_configs(cluster, {resources["broker"]: {}, resources["logger"]: {}})
            assert [each.resources[0].resource_type for each in first.asked(IncrementalAlterConfigsRequest)] == [4]
            assert [each.resources[0].resource_type for each in second.asked(IncrementalAlterConfigsRequest)] == [4, 8]
        asked = [[each.resource_name for each in request.resources] for request in second.asked(DescribeConfigsRequest)]
    assert asked[:2] == [["2"], ["2"]]
    assert [(each.name, each.config_operation, each.value) for each in change.resources[0].configs] == [
        ("a", 0, "1"),
        ("b", 1, None),
    ]


def test_resources_with_settings_are_listed_by_kind() -> None:
    listed = [ListedResource(resource_name="a", resource_type=16), ListedResource(resource_name="b", resource_type=2)]
    answer = ListConfigResourcesResponse(throttle_time_ms=0, error_code=0, config_resources=listed)
    with ScriptedNode({ListConfigResourcesRequest: answer}) as node, opened(node) as cluster:
        assert list_config_resources(cluster, ConfigResourceType.CLIENT_METRICS) == ["a"]


def test_groups_of_all_brokers_are_listed_once() -> None:
    def groups(*ids: str) -> ListGroupsResponse:
        return ListGroupsResponse(error_code=0, groups=[ListedGroup(group_id=each, protocol_type="") for each in ids])

    starting = ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, groups=[])
    with (
        ScriptedNode({ListGroupsRequest: [starting, groups("a", "b")]}) as first,
        ScriptedNode({ListGroupsRequest: groups("b", "c")}, node_id=2) as second,
    ):
        first.peers = second.peers = [first, second]
        with opened(first) as cluster:
            assert [group.group_id for group in list_groups(cluster)] == ["a", "b", "c"]


def offsets(codes: dict[int, ErrorCode]) -> ListOffsetsResponse:
    partitions = [
        ListOffsetsPartitionResponse(partition_index=index, error_code=code, offset=index * 10)
        for index, code in codes.items()
    ]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="a", partitions=partitions)])


def test_every_leader_is_asked_for_its_partitions_again_after_what_passes() -> None:
    none, moved, final = ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    topics = {"a": Topic([Partition(1), Partition(2), Partition(2)])}
    with (
        TopicNode(topics, {ListOffsetsRequest: offsets({0: none})}) as first,
        TopicNode(
            topics, {ListOffsetsRequest: [offsets({1: moved, 2: final}), offsets({1: none})]}, node_id=2
        ) as second,
    ):
        first.peers = second.peers = [first, second]
        with opened(first) as cluster:
            found = list_offsets(cluster, [TopicPartition("a", index) for index in range(3)], OffsetTime.LATEST)
        last = second.asked(ListOffsetsRequest)[-1]
    assert {partition.partition: offset for partition, offset in found.items() if isinstance(offset, int)} == {
        0: 0,
        1: 10,
    }
    failed = found[TopicPartition("a", 2)]
    assert isinstance(failed, ClientError)
    assert failed.code == final
    assert [each.partition_index for each in last.topics[0].partitions] == [1]


def test_a_leader_that_cannot_answer_costs_only_its_own_partitions() -> None:
    topics = {"a": Topic([Partition(1), Partition(2)])}
    with (
        TopicNode(topics, {ListOffsetsRequest: offsets({0: ErrorCode.NONE})}) as first,
        TopicNode(topics, node_id=2) as second,
    ):
        first.peers = second.peers = [first, second]
        with opened(first) as cluster:
            found = list_offsets(cluster, [TopicPartition("a", 0), TopicPartition("a", 1)], OffsetTime.LATEST)
    failed = found[TopicPartition("a", 1)]
    assert found[TopicPartition("a", 0)] == 0
    assert isinstance(failed, ClientError)
    assert failed.code == ErrorCode.UNSUPPORTED_VERSION


def test_a_partition_that_nobody_leads_is_given_up_in_the_end() -> None:
    with TopicNode({}, {ListOffsetsRequest: offsets({})}) as node, opened(node) as cluster:
        found = list_offsets(cluster, [TopicPartition("no", 0)], OffsetTime.EARLIEST)
    failed = found[TopicPartition("no", 0)]
    assert isinstance(failed, ClientError)
    assert failed.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_records_are_deleted_where_their_partition_is_led() -> None:
    result = DeleteRecordsPartitionResult(partition_index=0, low_watermark=7, error_code=ErrorCode.NONE)
    answer = DeleteRecordsResponse(throttle_time_ms=0, topics=[DeleteRecordsTopicResult(name="a", partitions=[result])])
    with TopicNode({"a": Topic()}, {DeleteRecordsRequest: answer}) as node, opened(node) as cluster:
        assert delete_records(cluster, {TopicPartition("a", 0): 7}) == {TopicPartition("a", 0): 7}
        (request,) = node.asked(DeleteRecordsRequest)
    assert request.topics[0].partitions[0].offset == 7


def test_elections_have_the_outcomes_that_the_controller_tells() -> None:
    results = [
        PartitionResult(partition_id=0, error_code=ErrorCode.NONE, error_message=None),
        PartitionResult(partition_id=1, error_code=ErrorCode.ELECTION_NOT_NEEDED, error_message=None),
    ]
    answer = ElectLeadersResponse(
        throttle_time_ms=0, replica_election_results=[ReplicaElectionResult(topic="a", partition_result=results)]
    )
    with ScriptedNode({ElectLeadersRequest: answer}) as node, opened(node) as cluster:
        outcomes = elect_leaders(cluster, ElectionType.UNCLEAN, None)
        (request,) = node.asked(ElectLeadersRequest)
    assert (request.election_type, request.topic_partitions) == (1, None)
    assert {partition.partition: error and error.code for partition, error in outcomes.items()} == {
        0: None,
        1: ErrorCode.ELECTION_NOT_NEEDED,
    }


def directory(path: str, *, is_future: bool, code: ErrorCode = ErrorCode.NONE) -> DescribeLogDirsResult:
    partition = DescribeLogDirsPartition(partition_index=0, partition_size=5, offset_lag=0, is_future_key=is_future)
    return DescribeLogDirsResult(
        error_code=code, log_dir=path, topics=[DescribeLogDirsTopic(name="a", partitions=[partition])]
    )


def test_a_replica_may_be_in_two_directories_while_it_moves() -> None:
    results = [
        directory("/one", is_future=False),
        directory("/two", is_future=True),
        directory("/off", is_future=False, code=ErrorCode.KAFKA_STORAGE_ERROR),
    ]
    answers: dict[type[Message], Script] = {
        DescribeLogDirsRequest: DescribeLogDirsResponse(throttle_time_ms=0, results=results),
        AlterReplicaLogDirsRequest: AlterReplicaLogDirsResponse(
            throttle_time_ms=0,
            results=[
                AlterReplicaLogDirTopicResult(
                    topic_name="a",
                    partitions=[AlterReplicaLogDirPartitionResult(partition_index=0, error_code=ErrorCode.NONE)],
                )
            ],
        ),
    }
    replica, other = Replica("a", 0, 1), Replica("b", 0, 1)
    with ScriptedNode(answers) as node, opened(node) as cluster:
        found = describe_replica_log_dirs(cluster, [replica, other])
        assert found == {replica: ReplicaLogDirs("/one", "/two"), other: ReplicaLogDirs(None, None)}
        assert alter_replica_log_dirs(cluster, {replica: "/two"}) == {replica: None}
        (request,) = node.asked(AlterReplicaLogDirsRequest)
    assert [(each.path, each.topics[0].partitions) for each in request.dirs] == [("/two", [0])]


def test_a_broker_that_shows_no_directory_lacks_the_rights_to() -> None:
    answer = DescribeLogDirsResponse(throttle_time_ms=0, results=[])
    with (
        ScriptedNode({DescribeLogDirsRequest: answer}) as node,
        opened(node) as cluster,
        pytest.raises(ClientError) as refused,
    ):
        describe_replica_log_dirs(cluster, [Replica("a", 0, 1)])
    assert refused.value.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED

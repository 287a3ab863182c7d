"""A node that is broker and controller, over real sockets: what clients are answered, and what a stop leaves."""

from __future__ import annotations

import asyncio
from typing import Any

from barnabas.broker.lifecycle import BrokerState
from barnabas.log.checkpoint import TopicPartition
from barnabas.log.clean_shutdown import read_clean_shutdown
from barnabas.protocol.api import APIS, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest
from barnabas.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker_nodes import DIRECTORIES, NODE_ID, BrokerNode, broker_node
from controller_nodes import run

BROKER = 4
BROKER_LOGGER = 8
SET = 0


async def alter(node: BrokerNode, kind: int, name: str, **configs: str) -> Any:
    changes = [
        AlterableConfig(name=key.replace("__", "-").replace("_", "."), config_operation=SET, value=value)
        for key, value in configs.items()
    ]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
    response = await node.ask(IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    return response.responses[0]


async def describe(node: BrokerNode, kind: int, name: str) -> dict[str, str | None]:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    response = await node.ask(
        DescribeConfigsRequest(resources=[resource], include_synonyms=False, include_documentation=False)
    )
    assert response.results[0].error_code == 0, response.results[0]
    return {config.name: config.value for config in response.results[0].configs}


def test_a_node_serves_as_a_broker_of_the_cluster_that_it_controls() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            cluster = await node.ask(DescribeClusterRequest(include_cluster_authorized_operations=True))
            assert [(each.broker_id, each.port) for each in cluster.brokers] == [(NODE_ID, node.port)]
            assert cluster.controller_id == NODE_ID
            await node.create_topic("t", 3)
            metadata = await node.ask(MetadataRequest(topics=[MetadataRequestTopic(name="t")]))
            assert [each.leader_id for each in metadata.topics[0].partitions] == [NODE_ID] * 3
            quorum = await node.ask(
                DescribeQuorumRequest(
                    topics=[
                        RequestTopicData(
                            topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=0)]
                        ),
                    ]
                )
            )
            assert quorum.topics[0].partitions[0].leader_id == NODE_ID
            coordinator = await node.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
            assert coordinator.coordinators[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    run(scenario)


def test_what_is_advertised_is_kafkas_and_left_out_is_only_what_does_not_work() -> None:
    """Transactions, share groups and streams have nobody to coordinate them, and telemetry has no receiver."""
    expected_missing = {
        *("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit"),
        *(
            "DescribeTransactions",
            "ListTransactions",
            "GetTelemetrySubscriptions",
            "PushTelemetry",
        ),
        *(name for api in APIS.values() if "Share" in (name := api.name) or "Streams" in name),
    }

    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            response = await node.ask(ApiVersionsRequest(client_software_name="t", client_software_version="1"))
            offered = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
            for api in APIS.values():
                if Listener.BROKER not in api.listeners:
                    assert api.key not in offered, api.name
                    continue
                assert (api.key not in offered) == (api.name in expected_missing), api.name
                if api.key in offered:
                    oldest = 0 if api.name == "Produce" else api.stable_versions[0]
                    assert offered[api.key] == (oldest, api.stable_versions[-1]), api.name

    run(scenario)


def test_a_clean_stop_leaves_its_epoch_and_a_start_finds_everything() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            await node.create_topic("t", 4)
            epoch = node.broker.life.broker_epoch
            await node.stop()
            assert [read_clean_shutdown(node.disk, path) for path in DIRECTORIES] == [epoch] * 2
            await node.start()
            assert node.broker.life.life.registration.previous_broker_epoch == epoch
            assert node.broker.life.broker_epoch > epoch
            await node.until(lambda: len(node.broker.directories.logs) == 4)
            assert node.broker.replicas.find_leader("t", 3).name == TopicPartition("t", 3)

    run(scenario)


def test_a_power_cut_leaves_no_mark_of_a_clean_stop() -> None:
    async def scenario() -> None:
        async with broker_node(broker_session_timeout_ms="600000") as node:
            await node.start()
            await node.create_topic("t")
            await node.cut_power()
            await node.start()
            assert node.broker.life.life.registration.previous_broker_epoch == -1
            await node.until(lambda: node.broker.replicas.image.topics.by_name("t") is not None)

    run(scenario)


def test_producer_ids_are_given_out_once_across_restarts_and_blocks() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
            given = [(await node.ask(request)).producer_id for _ in range(3)]
            await node.stop()
            await node.start()
            given.append((await node.ask(request)).producer_id)
            assert given[:3] == [0, 1, 2]
            assert given[3] == 1_000

    run(scenario)


def test_a_topic_that_is_asked_for_is_made_once_unless_that_is_forbidden() -> None:
    async def scenario() -> None:
        async with broker_node(num_partitions="2") as node:
            await node.start()
            asked = [MetadataRequestTopic(name="wanted"), MetadataRequestTopic(name="not a name")]
            answers = await asyncio.gather(*(node.ask(MetadataRequest(topics=asked)) for _ in range(5)))
            first = {topic.name: topic.error_code for topic in answers[0].topics}
            assert first == {
                "wanted": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                "not a name": ErrorCode.INVALID_TOPIC_EXCEPTION,
            }
            await node.until(lambda: node.broker.replicas.image.topics.by_name("wanted") is not None)
            again = await node.ask(MetadataRequest(topics=asked[:1]))
            assert len(again.topics[0].partitions) == 2
            other = [MetadataRequestTopic(name="other")]
            await node.ask(MetadataRequest(topics=other, allow_auto_topic_creation=False))
            listed = await node.ask(MetadataRequest(topics=None))
            assert [topic.name for topic in listed.topics] == ["wanted"]

    run(scenario)


def test_settings_of_a_running_broker_change_where_kafkas_do_and_only_there() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            changed = await alter(node, BROKER, "", log_retention_ms="123456", max_connections="7")
            assert changed.error_code == 0, changed
            await node.until(lambda: node.broker.settings.current.integer("max.connections") == 7)
            assert (await describe(node, BROKER, str(NODE_ID)))["log.retention.ms"] == "123456"
            own = await alter(node, BROKER, str(NODE_ID), max_connections="8")
            assert own.error_code == 0, own
            await node.until(lambda: node.broker.settings.current.integer("max.connections") == 8)
            refused = await alter(node, BROKER, str(NODE_ID), process_roles="broker")
            assert refused.error_code == ErrorCode.INVALID_REQUEST
            other = await alter(node, BROKER, "2", max_connections="8")
            assert other.error_code == ErrorCode.INVALID_REQUEST

    run(scenario)


def test_the_level_of_a_logger_is_this_nodes_own() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            name = "barnabas.broker.producer_ids_of_nobody"
            unknown = await alter(node, BROKER_LOGGER, str(NODE_ID), **{name: "DEBUG"})
            assert unknown.error_code == ErrorCode.INVALID_CONFIG

    run(scenario)


def test_a_broker_is_reached_only_when_it_is_among_the_living() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            starting = asyncio.ensure_future(node.start())
            await asyncio.sleep(0)
            cluster = await node.ask(DescribeClusterRequest(include_cluster_authorized_operations=False))
            assert [each.broker_id for each in cluster.brokers] == [NODE_ID]
            await starting

    run(scenario)


def test_a_second_wish_to_stop_skips_the_wait_for_the_controller() -> None:
    async def scenario() -> None:
        async with broker_node() as node:
            await node.start()
            node.running.quorum.driver.close()
            node.running.stop()
            await node.until(lambda: node.broker.life.life.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN)
            node.running.stop()
            await node.until(lambda: node.broker.life.life.state is BrokerState.SHUTTING_DOWN)

    run(scenario)

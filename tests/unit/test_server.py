"""Nodes of the controller role, from their directories to their answers: starting, refusing, failing, catching up."""

from __future__ import annotations

import asyncio
import errno
import os
from random import Random

import pytest

from barnabas.cli.formatting.directories import FIRST_SNAPSHOT
from barnabas.config.setting import ConfigError
from barnabas.log.checkpoint import read_whole
from barnabas.log.meta_properties import MetaProperties, write_meta_properties
from barnabas.protocol.errors import ErrorCode
from barnabas.raft.quorum_state import QuorumState
from barnabas.runtime.metrics import Gauge
from barnabas.runtime.peer import PeerLost
from barnabas.server import Node, NodeRefused
from barnabas.sim.disk import SimDisk
from controller_nodes import DIRECTORY, Controllers, config_change, controllers, run

SETTING = "log.retention.ms"


async def set_retention(nodes: Controllers, value: str) -> None:
    """Have it written by whoever is active; a change of leader in between is another try."""
    while True:
        response = await nodes.ask(await nodes.active(), config_change(SETTING, value))
        (answer,) = response.responses
        if answer.error_code != ErrorCode.NOT_CONTROLLER:
            assert answer.error_code == ErrorCode.NONE, answer
            return


def test_a_single_voter_elects_itself_and_commits() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await set_retention(nodes, "123456")
            assert nodes.setting(1, SETTING) == "123456"
            await nodes.until(lambda: nodes.part(1).registration.is_registered)

    run(scenario)


@pytest.mark.parametrize("is_graceful", [True, False])
def test_what_was_answered_is_there_after_a_restart(is_graceful: bool) -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await set_retention(nodes, "123456")
            await (nodes.stop(1) if is_graceful else nodes.cut_power(1))
            nodes.start()
            await nodes.active()
            assert nodes.setting(1, SETTING) == "123456"

    run(scenario)


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_failed_flush_stops_the_node_before_it_answers(error: int) -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await nodes.active()
            await nodes.until(lambda: nodes.part(1).registration.is_registered)
            nodes.disks[1].fail("flush", ".log", error)
            asked = asyncio.ensure_future(nodes.ask(1, config_change(SETTING, "123456")))
            with pytest.raises(OSError, match=os.strerror(error)):
                await nodes.running[1].stopped
            await nodes.running[1].abandon()
            with pytest.raises(PeerLost):
                await asked

    run(scenario)


def test_a_full_disk_stops_the_node_before_it_answers() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await nodes.active()
            await nodes.until(lambda: nodes.part(1).registration.is_registered)
            nodes.disks[1].free_bytes = 10
            asked = asyncio.ensure_future(nodes.ask(1, config_change(SETTING, "123456")))
            with pytest.raises(Exception, match="no room on the disk"):
                await nodes.running[1].stopped
            await nodes.running[1].abandon()
            with pytest.raises(PeerLost):
                await asked

    run(scenario)


def test_three_voters_replicate_and_fail_over() -> None:
    async def scenario() -> None:
        async with controllers(3) as nodes:
            nodes.start()
            await set_retention(nodes, "1000001")
            first = await nodes.active()
            await nodes.cut_power(first)
            await set_retention(nodes, "1000002")
            assert await nodes.active() != first
            nodes.start(first)
            end = nodes.offset(await nodes.active())
            await nodes.until(lambda: nodes.offset(first) >= end)
            assert nodes.setting(first, SETTING) == "1000002"
            await nodes.until(lambda: all(nodes.part(each).registration.is_registered for each in nodes.running))

    run(scenario)


def test_votes_and_epochs_are_durable_once_they_were_acted_on() -> None:
    async def scenario() -> None:
        async with controllers(3) as nodes:
            nodes.start()
            await nodes.active()
            for node_id in list(nodes.running):
                acted_on = nodes.running[node_id].quorum.raft.quorum.persisted
                await nodes.cut_power(node_id)
                saved = read_whole(nodes.disks[node_id], f"{DIRECTORY}/__cluster_metadata-0/quorum-state")
                assert QuorumState.from_json(saved.decode()) == acted_on

    run(scenario)


def test_five_voters_go_on_without_two_and_commit_nothing_without_three() -> None:
    async def scenario() -> None:
        async with controllers(5) as nodes:
            nodes.start()
            for value in ("1000001", "1000002", "1000003"):
                await set_retention(nodes, value)
                if len(nodes.running) > 3:
                    await nodes.cut_power(await nodes.active())
            end = max(map(nodes.offset, nodes.running))
            await nodes.until(lambda: all(nodes.offset(each) >= end for each in nodes.running))
            assert {nodes.setting(each, SETTING) for each in nodes.running} == {"1000003"}

            leader = await nodes.active()
            third = next(each for each in nodes.running if each != leader)
            await nodes.cut_power(third)
            asked = asyncio.ensure_future(set_retention(nodes, "1000004"))
            await nodes.until(lambda: nodes.part(leader).controller.active_epoch is None)
            assert {nodes.setting(each, SETTING) for each in nodes.running} == {"1000003"}
            assert not asked.done()

            nodes.start(third)
            await asked
            end = max(map(nodes.offset, nodes.running))
            await nodes.until(lambda: all(nodes.offset(each) >= end for each in nodes.running))
            assert {nodes.setting(each, SETTING) for each in nodes.running} == {"1000004"}

    run(scenario)


def test_a_leader_that_stops_hands_over() -> None:
    async def scenario() -> None:
        async with controllers(3) as nodes:
            nodes.start()
            first = await nodes.active()
            epoch = nodes.running[first].quorum.raft.epoch
            await nodes.stop(first)
            second = await nodes.active()
            assert nodes.running[second].quorum.raft.epoch == epoch + 1

    run(scenario)


def test_a_node_that_is_far_behind_catches_up_from_a_snapshot() -> None:
    async def scenario() -> None:
        settings = {
            "metadata.log.max.record.bytes.between.snapshots": "400",
            "metadata.max.retention.bytes": "1",
            "internal.metadata.log.segment.bytes": "600",
        }
        async with controllers(1, observers=1, **settings) as nodes:
            nodes.start(1)
            for value in range(1000, 1010):
                await set_retention(nodes, str(value))
            await nodes.until(lambda: nodes.running[1].quorum.log.start_offset > 0)
            nodes.start(2)
            end = nodes.offset(1)
            await nodes.until(lambda: nodes.offset(2) >= end)
            assert nodes.setting(2, SETTING) == "1009"
            assert nodes.running[2].quorum.log.start_offset > 0
            # What was given up is not needed for a start, either.
            await nodes.stop(2)
            await nodes.cut_power(1)
            nodes.start()
            await nodes.active()
            assert nodes.setting(1, SETTING) == "1009"

    run(scenario)


def test_an_observer_that_may_joins_by_itself() -> None:
    async def scenario() -> None:
        async with controllers(1, observers=1, **{"controller.quorum.auto.join.enable": "true"}) as nodes:
            nodes.start()
            await nodes.until(lambda: nodes.running[1].quorum.raft.history.voters.ids == {1, 2})
            await nodes.until(lambda: nodes.running[2].quorum.raft.history.voters.ids == {1, 2})

    run(scenario)


def test_a_disk_that_fails_at_the_very_end_does_not_keep_the_node_from_stopping() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await nodes.active()
            node = nodes.running[1]
            await nodes.until(lambda: node.quorum.driver.flushed_offset == node.quorum.log.end.offset)
            nodes.disks[1].fail("flush", ".log", errno.EIO)
            node.stop()
            with pytest.raises(OSError, match=os.strerror(errno.EIO)):
                await node.stopped

    run(scenario)


def test_directories_of_two_clusters_do_not_make_a_node() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            disk = nodes.disks[1]
            disk.make_directory("/other")
            meta = MetaProperties(cluster_id="otherOtherOtherOtherOt", node_id=1)
            write_meta_properties(disk, "/other", meta, 0)
            config = nodes.config(1, **{"log.dirs": f"{DIRECTORY},/other"})
            with pytest.raises(NodeRefused, match="otherOtherOtherOtherOt"):
                Node(config, disk, asyncio.get_running_loop())

    run(scenario)


def test_a_damaged_log_of_the_quorum_is_not_started_with() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            snapshot = nodes.disks[1].open(f"{DIRECTORY}/__cluster_metadata-0/{FIRST_SNAPSHOT}")
            snapshot.write_at(snapshot.size() // 2, b"\xff" * 20)
            with pytest.raises(NodeRefused, match="metadata log in /data cannot be read"):
                nodes.start()

    run(scenario)


def test_numbers_about_the_quorum_are_kept() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await nodes.active()
            node = nodes.running[1]
            numbers = {
                each.name: each.instrument.read() for each in node.registry if isinstance(each.instrument, Gauge)
            }
            assert numbers["active_controller"] == 1
            assert numbers["quorum_leader_id"] == 1
            assert numbers["quorum_epoch"] == node.quorum.raft.epoch
            assert 0 < numbers["metadata_replayed_offset"] <= numbers["metadata_log_end_offset"]

    run(scenario)


def test_a_damaged_quorum_state_is_not_started_with() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            await nodes.active()
            await nodes.stop(1)
            nodes.disks[1].open(f"{DIRECTORY}/__cluster_metadata-0/quorum-state").truncate(3)
            with pytest.raises(NodeRefused, match="quorum-state"):
                nodes.start()

    run(scenario)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"listener.security.protocol.map": "CONTROLLER:SSL"}, "listener.security.protocol.map"),
        ({"authorizer.class.name": "org.example.Authorizer"}, "authorizer.class.name"),
        (
            {
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "process.roles": "broker,controller",
                "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
            },
            "brokers do not",
        ),
        ({"create.topic.policy.class.name": "org.example.Policy"}, "create.topic.policy.class.name"),
        ({"log.dirs": "/elsewhere"}, "log.dirs"),
        ({"metadata.log.dir": "/elsewhere"}, "metadata.log.dir"),
        ({"node.id": "7"}, "node.id"),
    ],
)
def test_a_node_that_cannot_be_run_names_the_setting(settings: dict[str, str], named: str) -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            with pytest.raises((NodeRefused, ConfigError), match=named):
                Node(nodes.config(1, **settings), nodes.disks[1], asyncio.get_running_loop())

    run(scenario)


def test_directories_are_used_by_one_process_at_a_time() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            with pytest.raises(NodeRefused, match="in use by another process"):
                Node(nodes.config(1), nodes.disks[1], asyncio.get_running_loop())
            await nodes.stop(1)
            nodes.start()
            await nodes.active()

    run(scenario)


def test_a_directory_without_a_name_is_not_started_with() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            empty = SimDisk()
            empty.make_directory(DIRECTORY)
            with pytest.raises(NodeRefused, match="kafka-storage format"):
                Node(nodes.config(1), empty, asyncio.get_running_loop())
            assert empty.names(DIRECTORY) == []

    run(scenario)


def test_a_port_that_is_taken_is_named() -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            nodes.start()
            other = nodes.disks[1].after_power_cut(Random(0))
            with pytest.raises(NodeRefused, match="listeners: CONTROLLER"):
                Node(nodes.config(1), other, asyncio.get_running_loop())

    run(scenario)

"""The nodes of `barnabas up`: their roles, ports and settings, and the folder that they live in."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from barnabas.cli.up.command import check_ports, describe, prepare
from barnabas.cli.up.data_folder import (
    DataFolderError,
    PreparedNode,
    default_folder,
    find_nodes,
    read_cluster_id,
    remove_nodes,
)
from barnabas.cli.up.layout import lay_out
from barnabas.config.node_rules import parse_node
from barnabas.log.meta_properties import read_meta_properties
from barnabas.runtime.disk import PosixDisk


def up(data: Path, brokers: int | None = None, port: int | None = None, *, fresh: bool = False) -> list[PreparedNode]:
    return prepare(data, broker_count=brokers, port=port, is_fresh=fresh)


@pytest.mark.parametrize(("brokers", "controllers"), [(1, [0]), (2, [0]), (3, [0, 1, 2]), (5, [0, 1, 2])])
def test_a_cluster_has_one_controller_or_three(brokers: int, controllers: list[int]) -> None:
    nodes = [parse_node(node.settings) for node in lay_out(Path("/data"), brokers, 9092)]
    assert [node.node_id for node in nodes if node.is_controller] == controllers
    assert all(node.is_broker for node in nodes)
    quorums = {node.bootstrap_servers for node in nodes}
    assert quorums == {tuple(("127.0.0.1", 9093 + 2 * node_id) for node_id in controllers)}


def test_every_listener_has_a_port_of_its_own() -> None:
    nodes = [parse_node(node.settings) for node in lay_out(Path("/data"), 4, 9092)]
    assert [at.port for node in nodes for at in node.broker_listeners] == [9092, 9094, 9096, 9098]
    assert [at.port for node in nodes for at in node.controller_listeners] == [9093, 9095, 9097]


@pytest.mark.parametrize(
    ("brokers", "factor", "in_sync_min"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_kafkas_own_topics_are_replicated_as_far_as_the_cluster_goes(
    brokers: int, factor: str, in_sync_min: str
) -> None:
    for node in lay_out(Path("/data"), brokers, 9092):
        factors = {value for name, value in node.settings.items() if name.endswith("replication.factor")}
        least = {value for name, value in node.settings.items() if name.endswith("min.isr")}
        assert (factors, least) == ({factor}, {in_sync_min})


def test_a_node_is_given_the_settings_that_stand_in_kafkas_own_file() -> None:
    (node,) = lay_out(Path("/data"), 1, 9092)
    assert parse_node(node.settings).node_id == 0
    customary = {"log.segment.bytes", "log.retention.hours", "log.retention.check.interval.ms", "num.partitions"}
    assert customary <= node.settings.keys()


def test_new_nodes_are_formatted_as_one_cluster(tmp_path: Path) -> None:
    nodes = up(tmp_path, 4)
    assert [node.node_id for node in nodes] == [0, 1, 2, 3]
    assert len({read_cluster_id(node) for node in nodes}) == 1
    for node in nodes:
        meta = read_meta_properties(PosixDisk(), node.config.metadata_log_dir)
        assert meta is not None
        assert meta.node_id == node.node_id
        assert node.settings_file == tmp_path / f"node-{node.node_id}" / "server.properties"
        assert Path(node.config.log_dirs[0]).is_relative_to(tmp_path)


def test_a_cluster_is_found_again_with_what_its_user_has_changed(tmp_path: Path) -> None:
    (first,) = up(tmp_path, port=19092)
    cluster_id = read_cluster_id(first)
    with first.settings_file.open("a") as file:
        file.write("num.partitions=7\n")
    (again,) = up(tmp_path)
    assert read_cluster_id(again) == cluster_id
    assert again.address == ("127.0.0.1", 19092)
    assert again.config.settings.values["num.partitions"] == 7
    assert again.overrides == {}


def test_another_port_moves_the_brokers_and_leaves_the_controllers(tmp_path: Path) -> None:
    up(tmp_path, 2)
    moved = up(tmp_path, port=19092)
    assert [node.address for node in moved] == [("127.0.0.1", 19092), ("127.0.0.1", 19094)]
    assert [at.port for at in moved[0].config.controller_listeners] == [9093]
    assert moved[1].overrides == {
        "listeners": "PLAINTEXT://127.0.0.1:19094",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:19094",
    }
    assert [node.address[1] for node in up(tmp_path)] == [9092, 9094]


def test_a_cluster_does_not_change_its_size(tmp_path: Path) -> None:
    up(tmp_path, 1)
    with pytest.raises(DataFolderError, match=r"holds a cluster of 1 node, which cannot become one of 3; .*--fresh"):
        up(tmp_path, 3)
    assert len(up(tmp_path, 1)) == 1
    assert len(up(tmp_path, 3, fresh=True)) == 3


def test_fresh_deletes_nodes_and_nothing_else(tmp_path: Path) -> None:
    before = read_cluster_id(*up(tmp_path))
    (tmp_path / "mine").write_text("x")
    (tmp_path / "node-9").mkdir()
    (tmp_path / "node-9" / "mine").write_text("x")
    (after,) = up(tmp_path, fresh=True)
    assert read_cluster_id(after) != before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "node-0", "node-9"]
    assert find_nodes(tmp_path) == [after.settings_file]


def test_a_folder_that_is_not_there_has_no_nodes(tmp_path: Path) -> None:
    assert find_nodes(tmp_path / "absent") == []
    remove_nodes(tmp_path / "absent")


def test_a_settings_file_that_cannot_be_followed_is_named(tmp_path: Path) -> None:
    (node,) = up(tmp_path)
    node.settings_file.write_text("process.roles=broker\n")
    with pytest.raises(DataFolderError, match=r"node-0/server\.properties: .*node\.id"):
        up(tmp_path)


def test_data_is_kept_where_the_users_state_is() -> None:
    assert default_folder({"XDG_STATE_HOME": "/state"}) == Path("/state/barnabas")
    assert default_folder({}) == Path.home() / ".local/state/barnabas"


def test_a_port_that_is_taken_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        nodes = up(tmp_path, port=port)
        with pytest.raises(DataFolderError, match=rf"127\.0\.0\.1:{port} cannot be listened at .*--port"):
            check_ports(nodes)


def test_the_banner_says_where_the_cluster_is_and_what_to_try(tmp_path: Path) -> None:
    nodes = up(tmp_path, 2)
    text = describe(tmp_path, nodes, "the-id")
    servers = "127.0.0.1:9092,127.0.0.1:9094"
    assert "2 brokers in cluster the-id" in text
    assert f"listens at  {servers}\n" in text
    assert f"{tmp_path} (node-0 to node-1: " in text
    assert f"{tmp_path} (node-0: " in describe(tmp_path, nodes[:1], "the-id")
    assert f"kafka-topics --bootstrap-server {servers} --create --topic greetings " in text
    assert " --replication-factor 2\n" in text
    assert f"kafka-console-consumer --bootstrap-server {servers} --topic greetings --from-beginning" in text

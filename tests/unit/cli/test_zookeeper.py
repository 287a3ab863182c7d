"""A command of the days of ZooKeeper is answered with the one to type now."""

from __future__ import annotations

import pytest

from barnabas.cli import configs, topics
from unit.cli.tool_runs import call


@pytest.mark.parametrize(
    ("arguments", "now"),
    [
        (
            "--zookeeper zk1:2181 --create --topic chat-test --partitions 3 --replication-factor 3",
            "kafka-topics --bootstrap-server localhost:9092 --create --topic chat-test --partitions 3 "
            "--replication-factor 3",
        ),
        ("--list --zookeeper=zk1:2181", "kafka-topics --bootstrap-server localhost:9092 --list"),
        ("--list --zookeeper zk1 --bootstrap-server b:1", "kafka-topics --list --bootstrap-server b:1"),
        ("--list --topic a~b --zookeeper", "kafka-topics --bootstrap-server localhost:9092 --list --topic 'a b'"),
    ],
)
def test_the_command_to_type_now_is_shown(arguments: str, now: str) -> None:
    said = call(topics.run, arguments)
    assert (said.status, said.out, said.complaint) == (1, "", "zookeeper is not a recognized option")
    assert said.err.splitlines()[-1] == f"  {now}"


def test_settings_are_not_in_zookeeper_either() -> None:
    said = call(configs.run, "--zookeeper z:1 --describe --entity-type topics")
    assert said.err.endswith("  kafka-configs --bootstrap-server localhost:9092 --describe --entity-type topics\n")

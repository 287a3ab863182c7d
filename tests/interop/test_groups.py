"""Apache's consumer, librdkafka and Apache's own broker judge our groups: members share, commits last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from interop.apache_broker import STARTED
from interop.java_members import JavaMembers, until
from interop.our_broker import OurBroker
from interop.referee import QUICK_START, Tools, java_command
from interop.watched_process import WatchedProcess

pytestmark = pytest.mark.referee

PARTITIONS = 4
RECORDS = 40
ALL = {f"t-{partition}" for partition in range(PARTITIONS)}
ASSIGNOR = "org.apache.kafka.clients.consumer."
GROUP_TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
QUIET = {"log_level": 0}


def fill(bootstrap_servers: str) -> None:
    """A topic with as many records in each partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic("t", PARTITIONS, 1)])["t"].result(30)
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number in range(RECORDS):
        producer.produce("t", b"%d" % number, partition=number % PARTITIONS)
    assert producer.flush(30) == 0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[OurBroker]:
    with OurBroker(tmp_path) as running:
        fill(running.bootstrap_servers)
        yield running


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaMembers]:
    """Consumers of a broker that stays up."""
    with OurBroker(tmp_path_factory.mktemp("groups")) as running:
        fill(running.bootstrap_servers)
        with closing(JavaMembers(running.bootstrap_servers)) as consumers:
            yield consumers


def read_all(members: JavaMembers, *names: str) -> None:
    """Wait until these have seen every record between them."""
    until(
        lambda: sum(sum(members.seen(name).values()) for name in names) >= RECORDS or None,
        f"{names} to see {RECORDS} records",
    )


@pytest.mark.parametrize(
    "assignor", ["RangeAssignor", "RoundRobinAssignor", "StickyAssignor", "CooperativeStickyAssignor"]
)
def test_members_share_the_partitions_and_take_over_from_one_that_leaves(members: JavaMembers, assignor: str) -> None:
    names = [f"{assignor}-{number}" for number in range(3)]
    settings = {"partition_assignment_strategy": ASSIGNOR + assignor}
    members.join(names[0], assignor, ["t"], **settings)
    members.settle(names[:1], ALL)
    read_all(members, names[0])
    assert members.commit(names[0]) == "done"
    for name in names[1:]:
        members.join(name, assignor, ["t"], **settings)
    members.settle(names, ALL)
    assert members.committed(assignor) == dict.fromkeys(sorted(ALL), RECORDS // PARTITIONS)
    members.leave(names[0])
    members.settle(names[1:], ALL)
    for name in names[1:]:
        members.leave(name)


def test_one_member_too_many_has_nothing_to_do(members: JavaMembers) -> None:
    names = [f"crowd-{number}" for number in range(PARTITIONS + 1)]
    for name in names:
        members.join(name, "crowd", ["t"])
    owned = members.settle(names, ALL)
    assert sorted(map(len, owned.values())) == [0, *[1] * PARTITIONS]
    for name in names:
        members.leave(name)


def test_a_static_member_comes_back_without_a_rebalance(members: JavaMembers) -> None:
    members.join("stays", "static", ["t"], group_instance_id="one")
    members.join("returns", "static", ["t"], group_instance_id="two")
    before = members.settle(["stays", "returns"], ALL)
    generation, member_id = members.generation("stays"), members.member_id("returns")
    members.leave("returns")
    members.join("returns", "static", ["t"], group_instance_id="two")
    assert members.settle(["stays", "returns"], ALL) == before
    assert members.generation("stays") == members.generation("returns") == generation
    assert members.member_id("returns") != member_id
    for name in ("stays", "returns"):
        members.leave(name)


def test_a_commit_of_a_generation_that_is_over_is_refused(members: JavaMembers) -> None:
    members.join("slow", "moves-on", ["t"], group_instance_id="same")
    members.settle(["slow"], ALL)
    members.join("taker", "moves-on", ["t"], group_instance_id="same")
    members.settle(["taker"], ALL)
    assert members.commit("slow") in ("FencedInstanceIdException", "CommitFailedException")
    assert members.commit("taker") == "done"
    members.leave("taker")


def test_java_and_librdkafka_share_a_group(broker: OurBroker) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "mixed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": "range",
            "heartbeat.interval.ms": 200,
        }
    )
    consumer.subscribe(["t"])

    def own() -> set[str]:
        consumer.poll(0.05)
        return {f"{place.topic}-{place.partition}" for place in consumer.assignment()}

    until(lambda: own() == ALL or None, "librdkafka to own everything")
    with closing(JavaMembers(broker.bootstrap_servers)) as members:
        members.join("java", "mixed", ["t"], partition_assignment_strategy=ASSIGNOR + "RangeAssignor")

        def is_shared() -> bool | None:
            ours, theirs = own(), members.assignment("java")
            return (len(ours) == len(theirs) == PARTITIONS // 2 and ours | theirs == ALL) or None

        until(is_shared, "both to own a half")
        places = [TopicPartition("t", partition, partition) for partition in range(PARTITIONS)]
        committed = consumer.commit(offsets=places[:1], asynchronous=False)
        assert [place.error for place in committed or []] == [None]
        consumer.close()
        members.settle(["java"], ALL)
        assert members.committed("mixed") == {"t-0": 0}


def describe(tools: Tools, bootstrap_servers: str) -> list[str]:
    output = tools.run(GROUP_TOOL, "--bootstrap-server", bootstrap_servers, "--describe", "--all-groups")
    assert output.status == 0, output
    return sorted(line.rstrip() for line in output.out.splitlines() if line.strip())


def test_kill_9_between_commits_loses_none(broker: OurBroker) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "killed", **QUIET})
    for offset in range(1, 4):
        consumer.commit(offsets=[TopicPartition("t", 0, offset)], asynchronous=False)
        broker.kill()
        broker.start()
        (found,) = consumer.committed([TopicPartition("t", 0)], timeout=30)
        assert found.offset == offset
    consumer.close()


def test_apaches_broker_goes_on_with_our_groups_and_ours_with_its(broker: OurBroker, tools: Tools) -> None:
    members = JavaMembers(broker.bootstrap_servers)
    with closing(members):
        # Nobody is dropped while the brokers change.
        members.join("a", "pair", ["t"], session_timeout_ms="120000")
        members.join("b", "pair", ["t"], session_timeout_ms="120000")
        members.settle(["a", "b"], ALL)
        members.join("alone", "static", ["t"], group_instance_id="one", session_timeout_ms="120000")
        members.settle(["alone"], ALL)
        read_all(members, "alone")
        for name in ("a", "b", "alone"):
            assert members.commit(name) == "done"
        expected = describe(tools, broker.bootstrap_servers)
    assert sum("t" in line.split() for line in expected) == 2 * PARTITIONS
    broker.stop()
    with ApacheOn(broker.settings_file):
        until(lambda: describe(tools, broker.bootstrap_servers) == expected or None, "Apache's node to load the groups")
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "theirs", **QUIET})
        consumer.commit(offsets=[TopicPartition("t", 1, 7)], asynchronous=False)
        consumer.close()
    broker.start()
    with closing(JavaMembers(broker.bootstrap_servers)) as members:
        assert members.committed("theirs") == {"t-1": 7}
        assert members.committed("static") == dict.fromkeys(sorted(ALL), RECORDS // PARTITIONS)


class ApacheOn(WatchedProcess):
    """Apache's node in the place of ours: the same settings, the same directories."""

    def __init__(self, settings_file: Path) -> None:
        super().__init__()
        self._settings_file = settings_file

    def start(self) -> None:
        audible = "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info"
        self.launch(java_command("kafka.Kafka", self._settings_file, options=[*QUICK_START, audible]))
        self.wait_for_line(STARTED)

"""Apache's consumer and librdkafka in the newer group protocol on our broker, with each other and with classic members.

Apache's own broker goes on with what ours wrote, and ours with what that wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from interop.java_members import JavaMembers, until
from interop.our_broker import OurBroker
from interop.referee import Tools
from interop.test_groups import ALL, ASSIGNOR, PARTITIONS, QUIET, RECORDS, ApacheOn, fill, read_all

pytestmark = pytest.mark.referee

GROUP_TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
# Short intervals, so that nobody waits for what five seconds would not show better.
SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.assignment.interval.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
}
NEWER = {"group_protocol": "consumer"}


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaMembers]:
    """Consumers of a broker that stays up."""
    with OurBroker(tmp_path_factory.mktemp("consumers"), SETTINGS) as running:
        fill(running.bootstrap_servers)
        with closing(JavaMembers(running.bootstrap_servers)) as started:
            yield started


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_members_share_the_partitions_and_take_over_from_one_that_leaves(members: JavaMembers, assignor: str) -> None:
    names = [f"{assignor}-{number}" for number in range(PARTITIONS + 1)]
    settings = {**NEWER, "group_remote_assignor": assignor}
    members.join(names[0], assignor, ["t"], **settings)
    members.settle(names[:1], ALL)
    read_all(members, names[0])
    assert members.commit(names[0]) == "done"
    for name in names[1:]:
        members.join(name, assignor, ["t"], **settings)
    owned = members.settle(names, ALL)
    assert sorted(map(len, owned.values())) == [0, *[1] * PARTITIONS]
    assert members.committed(assignor) == dict.fromkeys(sorted(ALL), RECORDS // PARTITIONS)
    for name in names[:3]:
        members.leave(name)
    members.settle(names[3:], ALL)
    for name in names[3:]:
        members.leave(name)


def test_a_pattern_finds_its_topics(members: JavaMembers) -> None:
    members.join("matching", "pattern", [], pattern="t|none", **NEWER)
    members.settle(["matching"], ALL)
    members.leave("matching")


def test_a_static_member_comes_back_without_a_rebalance(members: JavaMembers) -> None:
    members.join("stays", "static", ["t"], group_instance_id="one", **NEWER)
    members.join("returns", "static", ["t"], group_instance_id="two", **NEWER)
    before = members.settle(["stays", "returns"], ALL)
    epoch = members.generation("stays")
    members.leave("returns")
    members.join("returns", "static", ["t"], group_instance_id="two", **NEWER)
    assert members.settle(["stays", "returns"], ALL) == before
    assert members.generation("stays") == epoch
    for name in ("stays", "returns"):
        members.leave(name)


@pytest.mark.parametrize("classic", ["RangeAssignor", "CooperativeStickyAssignor"])
def test_a_live_group_goes_over_to_the_newer_protocol_member_by_member_and_back(
    members: JavaMembers, classic: str
) -> None:
    group = f"migrates-{classic}"
    old = {"partition_assignment_strategy": ASSIGNOR + classic}
    names = [f"{group}-{number}" for number in range(2)]
    for name in names:
        members.join(name, group, ["t"], **old)
    members.settle(names, ALL)
    for settings in (NEWER, old):
        for name in names:
            members.leave(name)
            members.join(name, group, ["t"], **settings)
            members.settle(names, ALL)
            assert members.commit(name) == "done"
    for name in names:
        members.leave(name)


def test_java_and_librdkafka_share_a_group(tmp_path: Path) -> None:
    with OurBroker(tmp_path, SETTINGS) as broker:
        fill(broker.bootstrap_servers)
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "mixed",
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
                **QUIET,
            }
        )
        consumer.subscribe(["t"])

        def own() -> set[str]:
            consumer.poll(0.05)
            return {f"{place.topic}-{place.partition}" for place in consumer.assignment()}

        until(lambda: own() == ALL or None, "librdkafka to own everything")
        with closing(JavaMembers(broker.bootstrap_servers)) as members:
            members.join("java", "mixed", ["t"], **NEWER)

            def is_shared() -> bool | None:
                ours, theirs = own(), members.assignment("java")
                return (len(ours) == len(theirs) == PARTITIONS // 2 and ours | theirs == ALL) or None

            until(is_shared, "both to own a half")
            consumer.close()
            members.settle(["java"], ALL)


def describe(tools: Tools, bootstrap_servers: str, *what: str) -> list[list[str]]:
    output = tools.run(GROUP_TOOL, "--bootstrap-server", bootstrap_servers, "--describe", "--all-groups", *what)
    assert output.status == 0, output
    return sorted(line.split() for line in output.out.splitlines() if line.strip())


def test_apaches_broker_goes_on_with_our_groups_and_ours_with_its(tmp_path: Path, tools: Tools) -> None:
    # Nobody is dropped while the brokers change.
    lasting = {
        **SETTINGS,
        "group.consumer.max.session.timeout.ms": "600000",
        "group.consumer.session.timeout.ms": "600000",
    }
    with OurBroker(tmp_path, lasting) as broker:
        fill(broker.bootstrap_servers)
        with closing(JavaMembers(broker.bootstrap_servers)) as members:
            members.join("a", "pair", ["t"], **NEWER)
            members.join("b", "pair", ["t"], **NEWER)
            owned = members.settle(["a", "b"], ALL)
            epoch = members.generation("a")
            broker.stop()
            with ApacheOn(broker.settings_file):
                until(lambda: members.commit("a") == "done" or None, "Apache's broker to take a commit")
                assert members.settle(["a", "b"], ALL) == owned
                assert members.generation("a") == epoch, "it found the group as we had left it"
                members.join("c", "pair", ["t"], **NEWER)
                shared = members.settle(["a", "b", "c"], ALL)
                described = describe(tools, broker.bootstrap_servers, "--members", "--verbose")
            broker.start()
            until(lambda: members.commit("a") == "done" or None, "our broker to take a commit")
            assert members.settle(["a", "b", "c"], ALL) == shared
            assert describe(tools, broker.bootstrap_servers, "--members", "--verbose") == described

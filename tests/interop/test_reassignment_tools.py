"""Apache Kafka judges how our tools show and change partitions that are moving from one of its brokers to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from interop.admin_tools import (
    PERFORMANCE,
    Bootstrap,
    compare,
    fill,
    run_ours,
    servers,
    settings,
    wait_until_described,
    wait_until_listed,
)
from interop.apache_broker import ApacheBroker
from interop.referee import Tools
from interop.watched_process import free_ports

pytestmark = pytest.mark.referee

# Of which so many bytes take hours at the throttles that are set here.
LOAD = "--topic plain --num-records 20000 --record-size 1000 --throughput -1 --producer-props bootstrap.servers={s}"


@pytest.fixture(scope="module")
def bootstrap(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bootstrap]:
    home = tmp_path_factory.mktemp("cluster")
    first = settings(home)
    with ExitStack() as stack:
        stack.enter_context(ApacheBroker(home / "1", first))
        stack.enter_context(ApacheBroker(home / "2", second_broker(first, home)))
        found = Bootstrap(*servers(first), home)
        fill(found, tools)
        assert tools.run(PERFORMANCE, *found.words(LOAD)).status == 0
        yield found


def second_broker(first: dict[str, str], home: Path) -> dict[str, str]:
    (port,) = free_ports(1)
    address = f"BROKER://127.0.0.1:{port}"
    own = {"process.roles": "broker", "node.id": "2", "log.dirs": str(home / "2" / "logs")}
    return first | own | {"listeners": address, "advertised.listeners": address}


def swap_replicas(bootstrap: Bootstrap) -> None:
    """A plan by which every partition of a topic goes to the other broker."""
    wait_until_listed(bootstrap, "plain")
    said = run_ours("topics", bootstrap.words("{server} --describe --topic plain")).out
    partitions = [
        {"topic": "plain", "partition": int(index), "replicas": [3 - int(broker_id)]}
        for index, broker_id in re.findall(r"Partition: (\d+)\t.*Replicas: (\d+)\t", said)
    ]
    assert len(partitions) == 3
    bootstrap.write("plan.json", {"version": 1, "partitions": partitions})


def test_both_tools_move_partitions_between_brokers(tools: Tools, bootstrap: Bootstrap) -> None:
    swap_replicas(bootstrap)
    plan = "--reassignment-json-file {home}/plan.json"
    started = run_ours("reassign", bootstrap.words("{server} --execute --throttle 2000 " + plan))
    assert started.out.endswith("\nSuccessfully started partition reassignments for plain-0,plain-1,plain-2\n")
    wait_until_described(bootstrap, "--topic plain", "follower.replication.throttled.replicas", is_there=True)
    wait_until_described(bootstrap, "--broker 2", "leader.replication.throttled.rate", is_there=True)
    listed = compare(tools, bootstrap, "reassign", "{server} --list")
    assert re.search(r"plain-0: replicas: \S+\. adding: \d\. removing: \d\.\n", listed.out)
    compare(tools, bootstrap, "reassign", "{controller} --list")
    compare(tools, bootstrap, "reassign", "{server} --execute " + plan)
    verified = compare(tools, bootstrap, "reassign", "{server} --verify " + plan)
    assert "Reassignment of partition plain-2 is still in progress.\n" in verified.out
    described = compare(tools, bootstrap, "topics", "{server} --describe --topic plain")
    assert "\tAdding Replicas: " in described.out
    compare(tools, bootstrap, "topics", "{server} --describe --under-replicated-partitions")
    compare(tools, bootstrap, "configs", "{server} --describe --topic plain")
    compare(tools, bootstrap, "configs", "{server} --describe --broker 2")
    compare(tools, bootstrap, "reassign", "{server} --execute --additional --throttle 3000 " + plan)
    cancelled = run_ours("reassign", bootstrap.words("{server} --cancel " + plan))
    assert cancelled.out.startswith("Successfully cancelled partition reassignments for: plain-0,plain-1,plain-2\n")
    wait_until_described(bootstrap, "--topic plain", "follower.replication.throttled.replicas", is_there=False)
    compare(tools, bootstrap, "reassign", "{server} --cancel " + plan)
    compare(tools, bootstrap, "reassign", "{server} --verify " + plan)
    compare(tools, bootstrap, "topics", "{server} --describe")
    compare(tools, bootstrap, "log-dirs", "{server} --describe")
    compare(tools, bootstrap, "configs", "{server} --describe --entity-type brokers")

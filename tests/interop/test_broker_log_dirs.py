"""A broker of ours with two log directories under a controller of Apache's: where it says that its replicas are."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.dump_log import run as run_dump
from barnabas.log.meta_properties import read_meta_properties
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from barnabas.runtime.disk import PosixDisk
from interop.mixed_cluster import MixedCluster, running
from interop.quorum_questions import ask
from interop.referee import Tools
from interop.test_broker_life import FIRST, OurBroker, consume, produce

pytestmark = pytest.mark.referee

DIRECTORIES = ("logs", "more")


@pytest.fixture
def cluster(tmp_path: Path, tools: Tools) -> Iterator[MixedCluster]:
    cluster = MixedCluster(tmp_path / "controllers", tools, "a", brokers=0)
    with running(cluster):
        yield cluster


@pytest.fixture
def broker(cluster: MixedCluster, tmp_path: Path) -> Iterator[OurBroker]:
    broker = OurBroker(tmp_path / "broker", FIRST, cluster.controller_addresses, directories=DIRECTORIES)
    try:
        broker.start()
        yield broker
    finally:
        broker.end()


def move(broker: OurBroker, path: Path) -> int:
    topic = AlterReplicaLogDirTopic(name="t", partitions=[0])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=str(path), topics=[topic])])
    response: AlterReplicaLogDirsResponse | None = ask(broker.port, request)
    assert response is not None
    return response.results[0].partitions[0].error_code


def last_assigned(cluster: MixedCluster) -> str:
    """The last record in the controller's log that says where a replica is."""
    (log,) = cluster.home.glob("**/__cluster_metadata-0/*.log")
    out = StringIO()
    assert run_dump(["--cluster-metadata-decoder", "--files", str(log)], out, StringIO()) == 0
    changes = [
        line for line in out.getvalue().splitlines() if "PARTITION_CHANGE_RECORD" in line and "directories" in line
    ]
    return changes[-1] if changes else ""


def test_apaches_controller_learns_where_a_replica_was_put_and_moved(cluster: MixedCluster, broker: OurBroker) -> None:
    paths = {directory: broker.logs.parent / directory for directory in DIRECTORIES}
    ids = {}
    for directory, path in paths.items():
        meta = read_meta_properties(PosixDisk(), str(path))
        assert meta is not None
        ids[directory] = str(meta.directory_id)

    def is_in(directory: str) -> bool:
        return any(paths[directory].glob("t-0/*.log"))

    assert broker.create_topic("t", FIRST) == ErrorCode.NONE
    cluster.wait_until(lambda: any(map(is_in, DIRECTORIES)), "the topic has no log")
    source = next(filter(is_in, DIRECTORIES))
    (target,) = set(DIRECTORIES) - {source}
    cluster.wait_until(lambda: ids[source] in last_assigned(cluster), "the controller does not know the directory")
    produce(broker, "t", "one", "two")
    assert move(broker, paths[target]) == ErrorCode.NONE
    cluster.wait_until(lambda: is_in(target) and not is_in(source), "the replica has not moved")
    assert ids[target] in last_assigned(cluster)
    produce(broker, "t", "three")
    assert consume(broker, "t", 3) == ["one", "two", "three"]

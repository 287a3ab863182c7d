"""AlterReplicaLogDirs: every partition has its own answer, in every version."""

from __future__ import annotations

import pytest

from barnabas.broker.errors import LogDirNotFound
from barnabas.broker.handlers.replica_log_dirs import AlterReplicaLogDirs, refuse
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from unit.broker.handlers.asking import serve
from unit.broker.hosting import Hosting


def request(**dirs: list[tuple[str, list[int]]]) -> AlterReplicaLogDirsRequest:
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=f"/{path}",
                topics=[AlterReplicaLogDirTopic(name=name, partitions=partitions) for name, partitions in topics],
            )
            for path, topics in dirs.items()
        ]
    )


def codes(response: AlterReplicaLogDirsResponse) -> dict[tuple[str, int], int]:
    return {
        (topic.topic_name, each.partition_index): each.error_code
        for topic in response.results
        for each in topic.partitions
    }


@pytest.mark.parametrize("version", APIS[ApiKey.ALTER_REPLICA_LOG_DIRS].versions)
def test_each_partition_is_moved_or_refused_by_itself(version: int) -> None:
    moved = {}

    def alter(name: TopicPartition, path: str) -> None:
        if path == "/x":
            raise LogDirNotFound(path)
        moved[name] = path

    hosting = serve(Hosting(), AlterReplicaLogDirs(alter))
    response = hosting.ask(request(a=[("t", [0, 1]), ("u", [0])], x=[("t", [2])]), version)
    assert moved == {("t", 0): "/a", ("t", 1): "/a", ("u", 0): "/a"}
    assert codes(response) == {
        ("t", 0): ErrorCode.NONE,
        ("t", 1): ErrorCode.NONE,
        ("u", 0): ErrorCode.NONE,
        ("t", 2): ErrorCode.LOG_DIR_NOT_FOUND,
    }
    assert len(response.results) == 2


def test_of_two_directories_for_a_partition_the_last_counts() -> None:
    moved = []
    hosting = serve(Hosting(), AlterReplicaLogDirs(lambda _, path: moved.append(path)))
    assert codes(hosting.ask(request(a=[("t", [0])], b=[("t", [0])]))) == {("t", 0): ErrorCode.NONE}
    assert moved == ["/b"]


def test_a_request_that_is_refused_as_a_whole_is_refused_for_every_partition() -> None:
    response = refuse(request(a=[("t", [0, 1])]), ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert set(codes(response).values()) == {ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
    assert len(codes(response)) == 2

"""Five controllers of ours, each a process: they commit without two of them, not without three, and again with three.

Apache's tool changes a setting of all brokers, which needs no broker, and reads it back.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.protocol.errors import ErrorCode
from controller_nodes import config_change
from interop.mixed_cluster import MixedCluster, running
from interop.referee import ToolOutput, Tools

pytestmark = pytest.mark.referee

CONFIGS_TOOL = "kafka.admin.ConfigCommand"
SETTING = "log.retention.ms"


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[MixedCluster]:
    with running(MixedCluster(tmp_path_factory.mktemp("five"), tools, "ooooo", brokers=0)) as cluster:
        yield cluster


def run_tool(cluster: MixedCluster, *arguments: str) -> ToolOutput:
    leader = cluster.address(cluster.leader_id())
    flags = ("--bootstrap-controller", leader, "--entity-type", "brokers", "--entity-default")
    done = cluster.tools.run(CONFIGS_TOOL, *flags, *arguments)
    assert done.status == 0, (done, cluster.logs())
    return done


def commit(cluster: MixedCluster, value: int) -> None:
    run_tool(cluster, "--alter", "--add-config", f"{SETTING}={value}")


def test_five_controllers_need_three(cluster: MixedCluster) -> None:
    killed = []
    for value in (1_000_001, 1_000_002):
        killed.append(cluster.leader_id())
        commit(cluster, value)
        cluster.controllers[killed[-1]].kill()
    leader_id = cluster.leader_id()
    commit(cluster, 1_000_003)

    third_id = min(set(cluster.controllers) - {*killed, leader_id})
    cluster.controllers[third_id].kill()
    # Apache's tool would wait for half a minute.
    answer = cluster.ask(leader_id, config_change(SETTING, "1000004"))
    assert answer is None or answer.responses[0].error_code != ErrorCode.NONE

    cluster.controllers[third_id].start()
    commit(cluster, 1_000_005)
    described = run_tool(cluster, "--describe").out
    assert f"{SETTING}=1000005 sensitive=false synonyms={{DYNAMIC_DEFAULT_BROKER_CONFIG:{SETTING}=1000005" in described

"""A disk that fails under the metadata log ends the node: its last line says why, and nothing false was answered."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barnabas import server
from barnabas.client.errors import ConnectionLostError, check_code
from barnabas.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from barnabas.runtime.peer import PeerLost
from barnabas.sim.disk import SimDisk
from controller_nodes import LISTENER, config_change, controllers, free_ports, run
from node_log import node_log
from node_process import NodeProcess

SETTING = "log.retention.ms"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log of a node that runs in this process."""
    with node_log() as written:
        yield written


def fail_flushes(error: int) -> Callable[[SimDisk], None]:
    return lambda disk: disk.fail("flush", ".log", error)


def fill_up(disk: SimDisk) -> None:
    disk.free_bytes = 10


@pytest.mark.parametrize(
    ("break_disk", "reason"),
    [
        (fail_flushes(errno.EIO), os.strerror(errno.EIO)),
        (fail_flushes(errno.ENOSPC), os.strerror(errno.ENOSPC)),
        (fill_up, "no room on the disk"),
    ],
    ids=["a flush that fails", "a flush without room", "a full disk"],
)
def test_a_disk_that_fails_is_the_last_line_and_the_status(
    break_disk: Callable[[SimDisk], None], reason: str, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with controllers(1) as nodes:
            monkeypatch.setattr(server, "PosixDisk", lambda: nodes.disks[1])
            running = asyncio.ensure_future(server.run(nodes.config(1)))
            while "controller registered" not in log.getvalue():
                await asyncio.sleep(0.002)
            kept = await nodes.ask(1, config_change(SETTING, "1000001"))
            assert kept.responses[0].error_code == 0
            break_disk(nodes.disks[1])
            with pytest.raises(PeerLost):
                await nodes.ask(1, config_change(SETTING, "1000002"))
            assert await running == 1
            last = log.getvalue().splitlines()[-1]
            assert "CRITICAL stopped by a failure" in last
            assert reason in last
            assert "__cluster_metadata-0" in last, "it says where"
            # Nothing that was answered is gone.
            monkeypatch.undo()
            nodes.disks[1] = nodes.disks[1].after_kill()
            nodes.disks[1].free_bytes = None
            nodes.start()
            await nodes.active()
            assert nodes.setting(1, SETTING) in ("1000001", "1000002")

    run(scenario)


class Process(NodeProcess):
    """A process of a controller."""

    def __init__(self, home: Path) -> None:
        (port,) = free_ports(1)
        self.metadata_log = home / "logs" / "__cluster_metadata-0" / f"{0:020}.log"
        super().__init__(
            home / "server.properties",
            "process.roles=controller\nnode.id=1\n"
            f"controller.listener.names={LISTENER}\nlisteners={LISTENER}://127.0.0.1:{port}\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{port}\nlog.dirs={home / 'logs'}\n"
            "metadata.max.idle.interval.ms=0\n",
            port=port,
            ready="controller registered",
        )

    def configure(self, value: str) -> None:
        (answer,) = self.ask(config_change(SETTING, value), IncrementalAlterConfigsResponse).responses
        check_code(answer.error_code)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the files of a process that runs")
def test_a_process_that_cannot_write_ends_and_loses_nothing_it_has_answered(tmp_path: Path) -> None:
    node = Process(tmp_path)
    with node:
        node.configure("1000001")
        size_bytes = node.metadata_log.stat().st_size
        # The write is cut in the middle of the batch.
        resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (size_bytes + 20, size_bytes + 20))
        with pytest.raises(ConnectionLostError):
            node.configure("1000002")
        status, last = node.end()
        assert status == 1
        assert "CRITICAL stopped by a failure" in last
        assert f"{os.strerror(errno.EFBIG)}: '{node.metadata_log.parent}'" in last
    kept = node.metadata_log.read_bytes()
    assert b"1000001" in kept
    assert b"1000002" not in kept
    with node:
        node.configure("1000003")

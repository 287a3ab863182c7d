"""A disk that fails under the metadata log ends the node: its last line says why, and nothing false was answered."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barnabas import server
from barnabas.cli.storage import run as run_storage
from barnabas.client.addresses import Address
from barnabas.client.connection import Connection
from barnabas.client.errors import ConnectionLostError, check_code
from barnabas.client.patience import Deadline
from barnabas.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from barnabas.protocol.schema import Message
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.peer import PeerLost
from barnabas.sim.disk import SimDisk
from controller_nodes import CLUSTER_ID, LISTENER, LONG_MS, config_change, controllers, free_ports, run
from node_log import node_log

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


class Process:
    """A process of kafka-server-start, the only voter of its quorum."""

    def __init__(self, home: Path) -> None:
        (self._port,) = free_ports(1)
        self._settings = home / "server.properties"
        self.metadata_log = home / "logs" / "__cluster_metadata-0" / f"{0:020}.log"
        self._settings.write_text(
            "process.roles=controller\nnode.id=1\n"
            f"controller.listener.names={LISTENER}\nlisteners={LISTENER}://127.0.0.1:{self._port}\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{self._port}\nlog.dirs={home / 'logs'}\n"
            "metadata.max.idle.interval.ms=0\n"
        )
        arguments = ["format", "--standalone", "--cluster-id", CLUSTER_ID, "--config", str(self._settings)]
        assert run_storage(arguments, io.StringIO(), io.StringIO()) == 0

    def __enter__(self) -> Process:
        command = [sys.executable, "-m", "barnabas.cli.server_start", str(self._settings)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        while "controller registered" not in (line := self._process.stderr.readline()):
            assert line, "the node ended before it was registered"
        self.pid = self._process.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> tuple[int, str]:
        """Wait until it ends by itself: its status and its last line."""
        _, err = self._process.communicate(timeout=LONG_MS / 1000)
        return self._process.returncode, err.splitlines()[-1]

    def ask(self, request: Message) -> None:
        deadline = Deadline(SystemClock(), LONG_MS)
        connection = Connection.open(Address("127.0.0.1", self._port), "test", deadline, deadline)
        try:
            (answer,) = connection.request(request, IncrementalAlterConfigsResponse, deadline).responses
            check_code(answer.error_code)
        finally:
            connection.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the files of a process that runs")
def test_a_process_that_cannot_write_ends_and_loses_nothing_it_has_answered(tmp_path: Path) -> None:
    node = Process(tmp_path)
    with node:
        node.ask(config_change(SETTING, "1000001"))
        size_bytes = node.metadata_log.stat().st_size
        # The write is cut in the middle of the batch.
        resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (size_bytes + 20, size_bytes + 20))
        with pytest.raises(ConnectionLostError):
            node.ask(config_change(SETTING, "1000002"))
        status, last = node.end()
        assert status == 1
        assert "CRITICAL stopped by a failure" in last
        assert f"{os.strerror(errno.EFBIG)}: '{node.metadata_log.parent}'" in last
    kept = node.metadata_log.read_bytes()
    assert b"1000001" in kept
    assert b"1000002" not in kept
    with node:
        node.ask(config_change(SETTING, "1000003"))

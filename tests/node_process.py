"""A node in a process of its own, the only one of its quorum: formatted once, started as often as a test wants."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Self, TypeVar

from barnabas.cli.storage import run as run_storage
from barnabas.client.addresses import Address
from barnabas.client.connection import Connection
from barnabas.client.patience import Deadline
from barnabas.protocol.schema import Message
from barnabas.runtime.clock import SystemClock
from controller_nodes import CLUSTER_ID, LONG_MS

R = TypeVar("R", bound=Message)


class NodeProcess:
    """Runs within `with`, from the line `ready` of its log on. Requests go to `port`."""

    def __init__(self, settings_file: Path, settings: str, *, port: int, ready: str) -> None:
        self._settings_file = settings_file
        self._port = port
        self._ready = ready
        settings_file.write_text(settings)
        arguments = ["format", "--standalone", "--cluster-id", CLUSTER_ID, "--config", str(settings_file)]
        assert run_storage(arguments, io.StringIO(), io.StringIO()) == 0

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "barnabas.cli.server_start", str(self._settings_file)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        while self._ready not in (line := self._process.stderr.readline()):
            assert line, f"the node ended before it said: {self._ready}"
        self.pid = self._process.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> tuple[int, str]:
        """Wait until it ends by itself: its status and its last line."""
        _, err = self._process.communicate(timeout=LONG_MS / 1000)
        return self._process.returncode, err.splitlines()[-1]

    def ask(self, request: Message, response: type[R]) -> R:
        deadline = Deadline(SystemClock(), LONG_MS)
        connection = Connection.open(Address("127.0.0.1", self._port), "test", deadline, deadline)
        try:
            return connection.request(request, response, deadline)
        finally:
            connection.close()

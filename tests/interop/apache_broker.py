"""One node of Apache Kafka, broker and controller at once, that a test can start, stop, kill and start again.

Its ports and its log directory stay the same over restarts. Waiting is for a line of its log, never for a time; the
process is ended by its id when the context ends.
"""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from interop.referee import PROGRAMS, QUICK_START, JvmError, java_command

CLUSTER_ID = "barnabasBarnabasBarnab"
STARTED = r"Kafka Server started"

# The loggers whose lines tests wait for; everything else speaks only from WARN on.
AUDIBLE = (
    "kafka.server.KafkaRaftServer",
    "org.apache.kafka.storage.internals.log.LogCleaner",
    "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread",
    "org.apache.kafka.storage.internals.log.UnifiedLog",
    "org.apache.kafka.storage.internals.log.LogLoader",
)


class ApacheBroker:
    def __init__(self, directory: Path, properties: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.log_directory = directory / "logs"
        broker_port, controller_port = _free_ports(2)
        self.bootstrap_servers = f"127.0.0.1:{broker_port}"
        self._settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "listeners": f"BROKER://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"BROKER://127.0.0.1:{broker_port}",
            "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "BROKER",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(self.log_directory),
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            # A killed broker is let back in when its session has ended.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "group.initial.rebalance.delay.ms": "0",
            "num.network.threads": "1",
            "num.io.threads": "2",
        } | dict(properties or {})
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._lines: list[str] = []
        self._arrived = threading.Condition()

    def start(self, limit_s: float = 60) -> None:
        """Format the storage if it is new, start, and return when the broker serves."""
        assert self._process is None
        self.directory.mkdir(parents=True, exist_ok=True)
        properties = self.directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._settings.items()))
        loud = [f"-Dorg.slf4j.simpleLogger.log.{name}=info" for name in AUDIBLE]
        node = PROGRAMS / "Node.java"
        self._lines.clear()
        self._process = subprocess.Popen(
            java_command(node, properties, CLUSTER_ID, self.log_directory, options=[*QUICK_START, *loud]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        self.wait_for_line(STARTED, limit_s=limit_s)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                with self._arrived:
                    self._lines.append(line)
                    self._arrived.notify_all()
        process.wait()
        with self._arrived:
            self._arrived.notify_all()

    def mark(self) -> int:
        """A place in the node's log: lines before it are not looked at by a wait that starts from it."""
        return len(self._lines)

    def wait_for_line(self, pattern: str, *, since: int = 0, limit_s: float = 60) -> str:
        """The first line of its log that the pattern is found in; JvmError where it ends or stays silent."""
        expression = re.compile(pattern)
        seen = since
        with self._arrived:
            while True:
                while seen < len(self._lines):
                    seen += 1
                    if expression.search(self._lines[seen - 1]):
                        return self._lines[seen - 1]
                ended = self._process is None or self._process.poll() is not None
                if ended or not self._arrived.wait(limit_s):
                    raise JvmError(f"No line with {pattern!r} in the node's log:\n{self.log()}")

    def log(self) -> str:
        return "".join(self._lines)

    def stop(self) -> None:
        """Shut down as an operator would."""
        assert self._process is not None
        self._process.terminate()
        self._reap()

    def kill(self) -> None:
        """kill -9: nothing is flushed, trimmed or said."""
        assert self._process is not None
        self._process.kill()
        self._reap()

    def _reap(self) -> None:
        assert self._process is not None
        assert self._reader is not None
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            self._reader.join()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self.kill()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports

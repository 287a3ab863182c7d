"""One node that is broker and controller at once, ours or Apache's, and the load that is put on it.

Both kinds get the same settings and a directory that was formatted alike, and run as their start scripts run them.
The load comes from a small program around librdkafka, so that the client takes little of what the broker is to have.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.cli.storage import run as run_storage
from barnabas.client.addresses import Address
from barnabas.client.connection import Connection
from barnabas.client.errors import ClientError
from barnabas.client.patience import Deadline
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.runtime.clock import SystemClock
from bench.controllers import CLUSTER_ID, JVM_OPTIONS, PAUSE_S, Kind, free_ports
from interop.referee import java_command
from interop.watched_process import WatchedProcess

LOAD = Path(__file__).parent / "c" / "load.c"
LIMIT_S = 60
TICKS_PER_S = 100


class Cost(NamedTuple):
    """What a piece of work took: seconds by the clock, and of the broker's process on all cores."""

    seconds: float
    cpu_s: float


class Produced(NamedTuple):
    cost: Cost
    requests: int

    @property
    def cpu_us_per_request(self) -> float:
        return self.cost.cpu_s / self.requests * 1e6


class Latency(NamedTuple):
    p50_us: float
    p99_us: float


class BrokerNode(WatchedProcess):
    """A node on a directory of its own; `home` is made anew and holds nothing else."""

    def __init__(self, kind: Kind, home: Path, more_settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.kind = kind
        port, controller_port = free_ports(2)
        self.address = Address("127.0.0.1", port)
        self.bootstrap = f"127.0.0.1:{port}"
        self._properties = home / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "log.dirs": home / "logs",
            "offsets.topic.replication.factor": 1,
            **(more_settings or {}),
        }
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        err = StringIO()
        arguments = ["format", "--cluster-id", CLUSTER_ID, "--config", str(self._properties)]
        status = run_storage(arguments, StringIO(), err)
        assert status == 0, err.getvalue()

    def start(self) -> None:
        if self.kind == "ours":
            self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._properties)])
        else:
            self.launch(java_command("kafka.Kafka", self._properties, options=JVM_OPTIONS))

    def start_s(self) -> float:
        """Start it; the seconds until it tells clients of itself."""
        began = time.perf_counter()
        self.start()
        deadline = Deadline(SystemClock(), LIMIT_S * 1000)
        while not deadline.is_over:
            with suppress(ClientError):
                connection = Connection.open(self.address, "bench", connecting=deadline, asking=deadline)
                try:
                    answer = connection.request(MetadataRequest(topics=[]), MetadataResponse, deadline)
                    if answer.brokers:
                        return time.perf_counter() - began
                finally:
                    connection.close()
            time.sleep(PAUSE_S)
        raise AssertionError(f"{self.kind} does not serve after {LIMIT_S} s:\n{self.log()}")

    def create_topic(self, name: str, partitions: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(LIMIT_S)
        while len(admin.list_topics(name, LIMIT_S).topics[name].partitions) < partitions:
            time.sleep(PAUSE_S)

    # What it takes

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    # Load

    def produce(
        self,
        topic: str,
        partitions: int,
        record_bytes: int,
        batch_bytes: int,
        count: int,
        *,
        is_idempotent: bool = False,
    ) -> Produced:
        idempotence = "true" if is_idempotent else "false"
        arguments = (topic, partitions, record_bytes, batch_bytes, count, idempotence)
        begin_s = self.cpu_s()
        seconds, requests, errors = _load("produce", self.bootstrap, *arguments)
        assert errors == 0, f"{errors:.0f} records were not taken by {self.kind}"
        return Produced(Cost(seconds, self.cpu_s() - begin_s), int(requests))

    def consume(self, topic: str, partitions: int, count: int) -> Cost:
        begin_s = self.cpu_s()
        seconds, _ = _load("consume", self.bootstrap, topic, partitions, count)
        return Cost(seconds, self.cpu_s() - begin_s)

    def latency(self, topic: str, per_second: int, count: int) -> Latency:
        return Latency(*_load("latency", self.bootstrap, topic, per_second, count))


@contextmanager
def new_node(kind: Kind) -> Iterator[BrokerNode]:
    """A node that is not started yet; it ends, and its directory goes, with this."""
    home = Path(mkdtemp(prefix="barnabas-bench-"))
    node = BrokerNode(kind, home)
    try:
        yield node
    finally:
        node.end()
        shutil.rmtree(home)


def _load(*arguments: str | int) -> list[float]:
    command = [str(_load_program()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


@cache
def _load_program() -> Path:
    """Compile the program against the library in the confluent-kafka wheel."""
    spec = find_spec("confluent_kafka")
    assert spec is not None, "confluent-kafka is not installed"
    assert spec.origin is not None
    libraries = Path(spec.origin).parent.parent / "confluent_kafka.libs"
    (library,) = libraries.glob("librdkafka-*")
    program = Path(mkdtemp(prefix="barnabas-bench-")) / "load"
    subprocess.run(
        ["cc", "-O2", "-o", program, LOAD, library, f"-Wl,-rpath,{libraries}", "-lpthread"], check=True, timeout=60
    )
    return program

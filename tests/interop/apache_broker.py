"""One node of Apache Kafka, broker and controller at once, that a test can start, stop, kill and start again.

Its ports and its log directory stay the same over restarts. Waiting is for a line of its log, never for a time; the
process is ended by its id when the context ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from interop.referee import PROGRAMS, QUICK_START, java_command
from interop.watched_process import WatchedProcess, free_ports

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


class ApacheBroker(WatchedProcess):
    def __init__(self, directory: Path, properties: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.directory = directory
        self.log_directory = directory / "logs"
        broker_port, controller_port = free_ports(2)
        self.bootstrap_servers = f"127.0.0.1:{broker_port}"
        self.settings = {
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

    def start(self, limit_s: float = 60) -> None:
        """Format the storage if it is new, start, and return when the broker serves."""
        self.directory.mkdir(parents=True, exist_ok=True)
        properties = self.directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self.settings.items()))
        loud = [f"-Dorg.slf4j.simpleLogger.log.{name}=info" for name in AUDIBLE]
        node = PROGRAMS / "Node.java"
        self.launch(java_command(node, properties, CLUSTER_ID, self.log_directory, options=[*QUICK_START, *loud]))
        self.wait_for_line(STARTED, limit_s=limit_s)

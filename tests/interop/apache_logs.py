"""Log directories that an Apache broker wrote, with all that a log can hold, after a clean stop and after kill -9.

They are written once a run. Tests read them where they are and change only copies of them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from interop.apache_broker import ApacheBroker
from interop.referee import PROGRAMS, JvmProcess

# A user may not ask for less than a megabyte a segment, but this setting, made for Kafka's own tests, may.
SMALL_SEGMENTS = {"internal.segment.bytes": "4000", "index.interval.bytes": "512", "retention.ms": "-1"}
INDEX_BYTES_MAX = 100_000
COMPACTED = SMALL_SEGMENTS | {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
TOPICS: Mapping[str, Mapping[str, str]] = {
    "codec-none": SMALL_SEGMENTS,
    "codec-gzip": SMALL_SEGMENTS,
    "codec-snappy": SMALL_SEGMENTS,
    "codec-lz4": SMALL_SEGMENTS,
    "codec-zstd": SMALL_SEGMENTS,
    "append-time": SMALL_SEGMENTS | {"message.timestamp.type": "LogAppendTime"},
    "trimmed": SMALL_SEGMENTS,
    "transactions": SMALL_SEGMENTS,
    "compacted": COMPACTED,
    "compacted-transactions": COMPACTED,
}
BROKER_SETTINGS = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "log.cleaner.backoff.ms": "100",
    # Active indexes are preallocated at this size; the default would fill a copied directory with megabytes of zeros.
    "log.index.size.max.bytes": str(INDEX_BYTES_MAX),
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    # The kill must find data that nothing has flushed, and no background work may change a copied directory.
    "log.flush.offset.checkpoint.interval.ms": "3600000",
    "log.flush.start.offset.checkpoint.interval.ms": "3600000",
}
ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


class ReadRecord(NamedTuple):
    """A record as Apache's consumer showed it; bytes are hexadecimal."""

    offset: int
    timestamp: int
    leader_epoch: int
    key: str | None
    value: str | None
    headers: list[list[str | None]]


class Clients:
    """Apache Kafka's clients in one JVM."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._jvm = JvmProcess(PROGRAMS / "Clients.java", bootstrap_servers)

    def do(self, command: str, *args: object) -> Any:
        return json.loads(self._jvm.ask(json.dumps([command, *args])))

    def read(self, topic: str, isolation: str = "read_uncommitted") -> list[ReadRecord]:
        return [ReadRecord(*record) for record in self.do("read", topic, isolation)]

    def close(self) -> None:
        self._jvm.close()


@dataclass(frozen=True)
class ApacheLogs:
    """A log directory and what Apache's consumer read from it, by topic and isolation level."""

    directory: Path
    records: Mapping[tuple[str, str], list[ReadRecord]]


def write_logs(folder: Path) -> tuple[ApacheLogs, ApacheLogs]:
    """The directories as a clean stop and as a later kill -9 left them."""
    broker = ApacheBroker(folder / "broker", BROKER_SETTINGS)
    clients = Clients(broker.bootstrap_servers)
    try:
        with broker:
            for topic, configs in TOPICS.items():
                clients.do("create", topic, configs)
            clients.do("change_metadata")
            _write(clients, seed=1)
            clients.do("use_groups", "codec-none")
            clients.do("use_share_group", "codec-none")
            clients.do("leave_open", "transactions", "open-at-stop")
            _wait_until_cleaned(broker)
            read = _read_all(clients)
            broker.stop()
            stopped = ApacheLogs(_copied(broker, folder / "stopped"), read)

            # Restarted, the leader has a new epoch, and the transaction left open holds the last stable offset.
            broker.start()
            _write(clients, seed=2)
            clients.do("leave_open", "codec-none", "open-at-kill")
            clients.do("delete_before", "trimmed", 300)
            _wait_until_cleaned(broker)
            read = _read_all(clients)
            broker.kill()
            killed = ApacheLogs(_copied(broker, folder / "killed"), read)
    finally:
        clients.close()
    return stopped, killed


def _write(clients: Clients, seed: int) -> None:
    clients.do("write", seed)
    clients.do("delete_before", "trimmed", 150)
    clients.do("write_transactions", "transactions", seed)
    clients.do("write_transactions", "compacted-transactions", seed)
    clients.do("write_compacted", "compacted", seed)


def _wait_until_cleaned(broker: ApacheBroker) -> None:
    """Until the cleaner has reached the active segment and so has nothing left to do."""
    for topic in ("compacted", "compacted-transactions"):
        segments = (broker.log_directory / f"{topic}-0").glob("*.log")
        active = max(int(path.stem) for path in segments)
        broker.wait_for_line(rf"cleaned log {topic}-0 \(dirty section = \[\d+, {active}\]")


def _read_all(clients: Clients) -> dict[tuple[str, str], list[ReadRecord]]:
    return {(topic, isolation): clients.read(topic, isolation) for topic in TOPICS for isolation in ISOLATION_LEVELS}


def _copied(broker: ApacheBroker, target: Path) -> Path:
    shutil.copytree(broker.log_directory, target)
    return target

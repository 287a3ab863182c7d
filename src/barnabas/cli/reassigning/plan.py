"""Plans of `kafka-reassign-partitions`, as its JSON files hold them: replicas by partition, directories by replica."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.java_order import in_hash_order, partition_hash
from barnabas.cli.json_input import JsonObject, read_json
from barnabas.client.admin.log_dirs import Replica
from barnabas.log.checkpoint import TopicPartition

ANY_DIRECTORY: Final = "any"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """Entries as the file has them, a partition perhaps twice; only replicas whose directory is chosen have one."""

    entries: Sequence[tuple[TopicPartition, Sequence[int]]]
    directories: Mapping[Replica, str]

    @property
    def targets(self) -> dict[TopicPartition, Sequence[int]]:
        return dict(self.entries)

    def check_executable(self) -> None:
        if not self.entries:
            raise ToolError("Partition reassignment list cannot be empty")
        if not all(replicas for _, replicas in self.entries):
            raise ToolError("Partition replica list cannot be empty")
        repeated = find_repeated(partition for partition, _ in self.entries)
        if repeated:
            names = ",".join(map(str, in_hash_order(repeated, partition_hash)))
            raise ToolError(f"Partition reassignment contains duplicate topic partitions: {names}")
        doubled = {partition: find_repeated(replicas) for partition, replicas in self.entries}
        said = [
            f"{partition} contains multiple entries for {','.join(map(str, replicas))}"
            for partition, replicas in doubled.items()
            if replicas
        ]
        if said:
            raise ToolError(f"Partition replica lists may not contain duplicate entries: {'. '.join(said)}")


def read_plan(path: str) -> Plan:
    file = read_json(path)
    file.check_version()
    entries: list[tuple[TopicPartition, Sequence[int]]] = []
    directories: dict[Replica, str] = {}
    for entry in file.objects("partitions") or ():
        partition, replicas = (
            TopicPartition(entry.text("topic"), entry.integer("partition")),
            entry.integers("replicas"),
        )
        entries.append((partition, replicas))
        directories |= _read_directories(entry, partition, replicas)
    return Plan(entries, directories)


def read_topics(path: str) -> list[str]:
    """The topics of a file that a plan is to be made for."""
    file = read_json(path)
    file.check_version()
    topics = [entry.text("topic") for entry in file.objects("topics") or ()]
    repeated = find_repeated(topics)
    if repeated:
        raise ToolError(f"List of topics to reassign contains duplicate entries: [{', '.join(repeated)}]")
    return topics


def show_plan(replicas: Mapping[TopicPartition, Sequence[int]], directories: Mapping[Replica, str]) -> str:
    """The JSON of a plan; a replica without a directory may be in any."""
    partitions = [
        {
            "topic": topic,
            "partition": index,
            "replicas": list(replicas[TopicPartition(topic, index)]),
            "log_dirs": [
                directories.get(Replica(topic, index, broker_id), ANY_DIRECTORY)
                for broker_id in replicas[TopicPartition(topic, index)]
            ],
        }
        for topic, index in sorted(replicas)
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"), ensure_ascii=False)


def find_repeated(members: Iterable[T]) -> list[T]:
    """Those that come more than once, each once."""
    seen: set[T] = set()
    repeated: dict[T, None] = {}
    for member in members:
        if member in seen:
            repeated[member] = None
        seen.add(member)
    return list(repeated)


def _read_directories(entry: JsonObject, partition: TopicPartition, replicas: Sequence[int]) -> dict[Replica, str]:
    directories = entry.texts("log_dirs")
    if directories is None:
        return {}
    if len(directories) != len(replicas):
        raise ToolError(
            f"Size of replicas list {list(replicas)} is different from size of log dirs list "
            f"[{', '.join(directories)}] for partition {partition}"
        )
    return {
        Replica(partition.topic, partition.partition, broker_id): directory
        for broker_id, directory in zip(replicas, directories, strict=True)
        if directory != ANY_DIRECTORY
    }

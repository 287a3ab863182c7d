"""Topics put straight into the log, for tests of what happens to partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.controller.brokers import default_directory
from barnabas.metadata.configs import ConfigResourceType
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from unit.controller.controlled_cluster import ControlledCluster


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().rjust(16, b"t"))


def write_topic(
    cluster: ControlledCluster,
    name: str,
    assignments: Sequence[Sequence[int]],
    *,
    configs: Mapping[str, str] | None = None,
    **changes: Any,
) -> None:
    """Let another controller, which led for a moment, have created a topic whose brokers were all in sync."""
    records: list[Message] = [TopicRecord(name=name, topic_id=topic_id(name))]
    for key, value in (configs or {}).items():
        records.append(ConfigRecord(resource_type=ConfigResourceType.TOPIC, resource_name=name, name=key, value=value))
    for index, replicas in enumerate(assignments):
        fields: dict[str, Any] = {
            "partition_id": index,
            "topic_id": topic_id(name),
            "replicas": list(replicas),
            "isr": list(replicas),
            "removing_replicas": [],
            "adding_replicas": [],
            "leader": replicas[0],
            "leader_epoch": 0,
            "partition_epoch": 0,
            "directories": [default_directory(cluster.image, replica) for replica in replicas],
        }
        records.append(PartitionRecord(**fields | changes))
    cluster.resign()
    cluster.write(records)
    cluster.lead()

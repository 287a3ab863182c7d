"""A quorum as a node describes it, any part of it changed."""

from __future__ import annotations

from typing import Any

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_quorum import (
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.uuid import Uuid

DIRECTORY_ID = Uuid.parse("JEXY6aqzQY-32P5TStzaFg")


def quorum(**changed: Any) -> DescribeQuorumResponse:
    """A quorum of two voters and an observer; some field of the partition, or `topic`, changed."""
    topic = changed.pop("topic", "__cluster_metadata")
    facts: dict[str, Any] = {
        "partition_index": 0,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "leader_id": 1,
        "leader_epoch": 4,
        "high_watermark": 90,
        "current_voters": [
            ReplicaState(
                replica_id=1,
                replica_directory_id=DIRECTORY_ID,
                log_end_offset=100,
                last_fetch_timestamp=50,
                last_caught_up_timestamp=50,
            ),
            ReplicaState(replica_id=2, log_end_offset=90, last_fetch_timestamp=30, last_caught_up_timestamp=20),
        ],
        "observers": [ReplicaState(replica_id=3, log_end_offset=7)],
    }
    return DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        error_message=None,
        topics=[ResponseTopicData(topic_name=topic, partitions=[ResponsePartitionData(**facts | changed)])],
        nodes=[
            Node(
                node_id=1,
                listeners=[
                    Listener(name="CONTROLLER", host="h", port=9093),
                    Listener(name="OTHER", host="::1", port=9094),
                ],
            )
        ],
    )

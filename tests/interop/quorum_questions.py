"""Asks controllers, ours or Apache's, for the state of their quorum; Apache's tool gives up where nobody leads it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from barnabas.raft.log_view import METADATA_TOPIC
from barnabas.runtime.peer import Peer, PeerLost

TIMEOUT_MS = 2_000
PAUSE_S = 0.05


def find_quorum(ports: Iterable[int], limit_s: float = 30) -> ResponsePartitionData:
    """The quorum as its leader describes it, as soon as there is one."""
    deadline_s = time.monotonic() + limit_s
    asked = list(ports)
    while time.monotonic() < deadline_s:
        for port in asked:
            described = asyncio.run(_ask(port))
            if described is not None:
                return described
        time.sleep(PAUSE_S)
    raise AssertionError(f"nobody led within {limit_s} s")


async def _ask(port: int) -> ResponsePartitionData | None:
    request = DescribeQuorumRequest(
        topics=[RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])]
    )
    with suppress(PeerLost):
        peer = await Peer.connect("127.0.0.1", port, timeout_ms=TIMEOUT_MS)
        try:
            await peer.negotiate(TIMEOUT_MS)
            version = peer.newest_version(DescribeQuorumRequest)
            response: DescribeQuorumResponse = await peer.send(request, version, TIMEOUT_MS)
        finally:
            peer.close("answered")
        partition = response.topics[0].partitions[0] if response.topics else None
        if partition is not None and partition.error_code == ErrorCode.NONE:
            return partition
    return None

"""Asks controllers, ours or Apache's, for the state of their quorum; Apache's tool gives up where nobody leads it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from barnabas.protocol.schema import Message
from barnabas.raft.log_view import METADATA_TOPIC
from barnabas.runtime.peer import Peer, PeerLost

TIMEOUT_MS = 2_000
PAUSE_S = 0.05


def find_quorum(ports: Iterable[int], limit_s: float = 30) -> ResponsePartitionData:
    """The quorum as its leader describes it, as soon as there is one."""
    request = DescribeQuorumRequest(
        topics=[RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])]
    )
    deadline_s = time.monotonic() + limit_s
    asked = list(ports)
    while time.monotonic() < deadline_s:
        for port in asked:
            response: DescribeQuorumResponse | None = ask(port, request)
            partition = response.topics[0].partitions[0] if response and response.topics else None
            if partition is not None and partition.error_code == ErrorCode.NONE:
                return partition
        time.sleep(PAUSE_S)
    raise AssertionError(f"nobody led within {limit_s} s")


def ask(port: int, request: Message) -> Any:
    """A controller's answer, None where it gives none within two seconds."""
    return asyncio.run(_ask(port, request))


async def _ask(port: int, request: Message) -> Any:
    with suppress(PeerLost):
        peer = await Peer.connect("127.0.0.1", port, timeout_ms=TIMEOUT_MS)
        try:
            await peer.negotiate(TIMEOUT_MS)
            return await peer.send(request, peer.newest_version(type(request)), TIMEOUT_MS)
        finally:
            peer.close("answered")
    return None

"""What a controller's listener makes of bytes and requests that it should never get: it answers and stays up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from barnabas.protocol.messages.begin_quorum_epoch import RequestPartitionData as BeginPartition
from barnabas.protocol.messages.begin_quorum_epoch import RequestTopicData as BeginTopic
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from barnabas.protocol.messages.vote import RequestPartitionData as VotePartition
from barnabas.protocol.messages.vote import RequestTopicData as VoteTopic
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.protocol.uuid import Uuid
from barnabas.raft.log_view import METADATA_TOPIC, METADATA_TOPIC_ID
from controller_nodes import CLUSTER_ID, Controllers, config_change, controllers, run

OTHER_CLUSTER = "otherOtherOtherOtherOt"
STRANGER = Uuid(bytes(15) + b"\xee")
FRAME_BYTES_MAX = 1_000_000


def with_controller(scenario: Callable[[Controllers], Awaitable[None]]) -> None:
    """Run a scenario against an active controller, which must be able to commit afterwards."""

    async def whole() -> None:
        async with controllers(1, socket_request_max_bytes=str(FRAME_BYTES_MAX)) as nodes:
            nodes.start()
            await nodes.active()
            await scenario(nodes)
            answered = await nodes.ask(1, config_change("log.retention.ms", "123456"))
            assert answered.responses[0].error_code == ErrorCode.NONE

    run(whole)


async def send_raw(nodes: Controllers, data: bytes) -> bytes:
    """What comes back until the connection is closed, by either side."""
    reader, writer = await asyncio.open_connection("127.0.0.1", nodes.port(1))
    try:
        writer.write(data)
        writer.write_eof()
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@settings(max_examples=10)
@given(st.lists(st.binary(max_size=200), min_size=5, max_size=20))
def test_garbage_costs_its_connection(pieces: list[bytes]) -> None:
    async def scenario(nodes: Controllers) -> None:
        for piece in pieces:
            await send_raw(nodes, piece)
            await send_raw(nodes, len(piece).to_bytes(4, "big") + piece)

    with_controller(scenario)


@pytest.mark.parametrize(
    "data",
    [
        (FRAME_BYTES_MAX + 1).to_bytes(4, "big") + bytes(100),
        b"\xff\xff\xff\xff" + bytes(100),
        b"\x7f\xff\xff\xff" + bytes(100),
        bytes(4),
        b"GET / HTTP/1.1\r\n\r\n",
        # Produce, which no controller serves, and an API that there is not.
        (10).to_bytes(4, "big") + b"\0\0\0\x09" + bytes(6),
        (10).to_bytes(4, "big") + b"\x7f\x7f\0\0" + bytes(6),
    ],
)
def test_what_is_no_request_gets_no_answer(data: bytes) -> None:
    async def scenario(nodes: Controllers) -> None:
        assert await send_raw(nodes, data) == b""

    with_controller(scenario)


def fetch(*, cluster_id: str = CLUSTER_ID, epoch: int = 1, topic_id: Uuid = METADATA_TOPIC_ID) -> FetchRequest:
    partition = FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        partition_max_bytes=0,
        replica_directory_id=STRANGER,
    )
    return FetchRequest(
        cluster_id=cluster_id,
        replica_state=ReplicaState(replica_id=9),
        max_wait_ms=0,
        min_bytes=0,
        topics=[FetchTopic(topic_id=topic_id, partitions=[partition])],
    )


def vote(
    *, cluster_id: str = CLUSTER_ID, epoch: int = 1, voter_id: int = 1, topic: str = METADATA_TOPIC
) -> VoteRequest:
    partition = VotePartition(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=9,
        replica_directory_id=STRANGER,
        voter_directory_id=Uuid(bytes(16)),
        last_offset_epoch=0,
        last_offset=0,
        pre_vote=False,
    )
    return VoteRequest(
        cluster_id=cluster_id, voter_id=voter_id, topics=[VoteTopic(topic_name=topic, partitions=[partition])]
    )


def begin(*, cluster_id: str = CLUSTER_ID, epoch: int = 1) -> BeginQuorumEpochRequest:
    partition = BeginPartition(partition_index=0, leader_id=9, leader_epoch=epoch, voter_directory_id=Uuid(bytes(16)))
    return BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=1,
        topics=[BeginTopic(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[],
    )


def codes(response: Any) -> tuple[int, int | None]:
    """The error on top, and that of the only partition where there is one."""
    topics = getattr(response, "topics", None) or getattr(response, "responses", None)
    return response.error_code, topics[0].partitions[0].error_code if topics else None


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (fetch(cluster_id=OTHER_CLUSTER), (ErrorCode.INCONSISTENT_CLUSTER_ID, None)),
        (fetch(epoch=0), (ErrorCode.NONE, ErrorCode.FENCED_LEADER_EPOCH)),
        (fetch(epoch=7), (ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH)),
        (fetch(topic_id=STRANGER), (ErrorCode.INVALID_REQUEST, None)),
        (vote(cluster_id=OTHER_CLUSTER), (ErrorCode.INCONSISTENT_CLUSTER_ID, None)),
        # A candidate's epoch is later than that of the last record it has.
        (vote(epoch=0), (ErrorCode.NONE, ErrorCode.INVALID_REQUEST)),
        (vote(voter_id=5), (ErrorCode.NONE, ErrorCode.INVALID_VOTER_KEY)),
        (vote(topic="other"), (ErrorCode.INVALID_REQUEST, None)),
        (begin(cluster_id=OTHER_CLUSTER), (ErrorCode.INCONSISTENT_CLUSTER_ID, None)),
        (begin(epoch=0), (ErrorCode.NONE, ErrorCode.FENCED_LEADER_EPOCH)),
        (
            RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=9, voter_directory_id=STRANGER),
            (ErrorCode.VOTER_NOT_FOUND, None),
        ),
    ],
)
def test_requests_of_strangers_get_kafkas_errors(request_: Any, expected: tuple[int, int | None]) -> None:
    async def scenario(nodes: Controllers) -> None:
        assert nodes.running[1].quorum.raft.epoch == 1
        assert codes(await nodes.ask(1, request_)) == expected

    with_controller(scenario)

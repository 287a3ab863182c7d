"""The same wrong bytes and requests put to a controller of ours and to one of Apache's get the same answers from both.

Each is the only voter of its quorum, with the same ids, in the same epoch. Only what must differ is left out of the
comparison: ports, and the sentences that explain an error.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.json_form import to_json
from barnabas.protocol.messages import REQUESTS, RESPONSES
from barnabas.protocol.messages import add_raft_voter as add
from barnabas.protocol.messages import begin_quorum_epoch as begin
from barnabas.protocol.messages import end_quorum_epoch as end
from barnabas.protocol.messages import fetch as fetching
from barnabas.protocol.messages import fetch_snapshot as snapshot
from barnabas.protocol.messages import remove_raft_voter as remove
from barnabas.protocol.messages import update_raft_voter as update
from barnabas.protocol.messages import vote as voting
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft.log_view import METADATA_TOPIC, METADATA_TOPIC_ID
from interop.apache_broker import CLUSTER_ID
from interop.mixed_cluster import LISTENER, MixedCluster, running
from interop.referee import Tools

pytestmark = pytest.mark.referee

OTHER_CLUSTER = "otherOtherOtherOtherOt"
STRANGER_ID = 9
STRANGER = Uuid(bytes(15) + b"\xee")
NOBODY = Uuid(bytes(16))
FRAME_BYTES_MAX = 104_857_600  # The default of socket.request.max.bytes, which both have.
PATIENCE_S = 20
# Where they are, and why they say no, is each node's own.
OWN = {"nodeEndpoints", "host", "port", "errorMessage"}


@dataclass(frozen=True)
class Both:
    """The ports of the two."""

    ours: int
    apache: int

    def answers(self, data: bytes) -> tuple[bytes | None, bytes | None]:
        return exchange(self.ours, data), exchange(self.apache, data)


def exchange(port: int, data: bytes) -> bytes | None:
    """The frame that answers, None where the node closes the connection instead."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        try:
            connection.sendall(data)
            received = connection.makefile("rb")
            size = received.read(4)
            return received.read(int.from_bytes(size, "big")) if size else None
        except (ConnectionResetError, BrokenPipeError):
            return None


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[Both]:
    home: Path = tmp_path_factory.mktemp("both")
    with (
        running(MixedCluster(home / "ours", tools, "o", brokers=0)) as ours,
        running(MixedCluster(home / "apache", tools, "a", brokers=0)) as apache,
    ):
        assert (ours.leader_id(), apache.leader_id()) == (1, 1)
        yield Both(*(int(each.controller_addresses.rpartition(":")[2]) for each in (ours, apache)))
        assert (ours.leader_id(), apache.leader_id()) == (1, 1)
        # In the epoch of before: nothing that was sent has cost them their office.
        epochs = [epoch(int(each.controller_addresses.rpartition(":")[2])) for each in (ours, apache)]
        assert epochs == [1, 1]


def epoch(port: int) -> int:
    answer = ask(port, voting_request(epoch=0, pre_vote=True), 2)
    assert answer is not None
    return int(answer["topics"][0]["partitions"][0]["leaderEpoch"])


def ask(port: int, request: Message, version: int) -> dict[str, Any] | None:
    frame = exchange(port, b"".join(frame_request(request, version, 7, "test")))
    if frame is None:
        return None
    key = type(request).api_key
    assert key is not None
    correlation_id, answer = read_response(memoryview(frame), RESPONSES[key], version)
    assert correlation_id == 7
    return to_json(answer, version)


def shared(node: Any) -> Any:
    """The answer without what is each node's own."""
    if isinstance(node, list):
        return [shared(each) for each in node]
    if isinstance(node, dict):
        return {name: shared(value) for name, value in node.items() if name not in OWN}
    return node


# Bytes


def sized(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def header(key: int, version: int, correlation_id: int = 7) -> bytes:
    """The old header, without a client id."""
    return key.to_bytes(2, "big") + version.to_bytes(2, "big") + correlation_id.to_bytes(4, "big") + b"\xff\xff"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param((FRAME_BYTES_MAX + 1).to_bytes(4, "big") + bytes(100), id="an oversized frame"),
        pytest.param(b"\x7f\xff\xff\xff" + bytes(100), id="the largest size"),
        pytest.param(b"\xff\xff\xff\xff" + bytes(100), id="a negative size"),
        pytest.param(bytes(4), id="an empty frame"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="another protocol"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="a TLS greeting"),
        pytest.param(sized(b"\x00"), id="half a number of an API"),
        pytest.param(sized(header(0, 9) + bytes(6)), id="an API that no controller serves"),
        pytest.param(sized(header(0x7F7F, 0) + bytes(6)), id="an API that there is not"),
        pytest.param(sized(header(52, 99) + bytes(6)), id="a version that there is not"),
        pytest.param(sized(header(52, 2)), id="a request without a body"),
        pytest.param(sized(header(52, 2) + b"\0\xff\xff\xff\xff\x0f" + bytes(20)), id="a list longer than its frame"),
        pytest.param(sized(header(18, 99) + bytes(20)), id="versions asked for in one that there is not"),
    ],
)
def test_wrong_bytes_are_answered_alike(both: Both, data: bytes) -> None:
    ours, apache = both.answers(data)
    assert ours == apache


def test_damaged_requests_leave_a_controller_as_it_was(both: Both) -> None:
    """Bits are turned in requests that only read. Ours alone gets them, for some of them stop an Apache controller."""
    rng = Random(4)
    read_only = [each for each in WRONG.values() if isinstance(each[0], fetching.FetchRequest)]
    read_only += [(snapshot_request(), 1), (DescribeQuorumRequest(topics=[]), 2), (ApiVersionsRequest(), 4)]
    for _ in range(500):
        whole = bytearray(b"".join(frame_request(*rng.choice(read_only), 7, "test")))
        for _ in range(rng.randrange(1, 4)):
            whole[rng.randrange(8, len(whole))] ^= 1 << rng.randrange(8)
        exchange(both.ours, bytes(whole))
    assert epoch(both.ours) == 1


# Requests


def voting_request(
    *,
    cluster_id: str | None = CLUSTER_ID,
    epoch: int = 1,
    voter_id: int = 1,
    voter: Uuid = NOBODY,
    topic: str = METADATA_TOPIC,
    partition: int = 0,
    pre_vote: bool = False,
    last_offset_epoch: int = 0,
    last_offset: int = 0,
) -> voting.VoteRequest:
    asked = voting.RequestPartitionData(
        partition_index=partition,
        replica_epoch=epoch,
        replica_id=STRANGER_ID,
        replica_directory_id=STRANGER,
        voter_directory_id=voter,
        last_offset_epoch=last_offset_epoch,
        last_offset=last_offset,
        pre_vote=pre_vote,
    )
    return voting.VoteRequest(
        cluster_id=cluster_id,
        voter_id=voter_id,
        topics=[voting.RequestTopicData(topic_name=topic, partitions=[asked])],
    )


def fetch_request(
    *, cluster_id: str | None = CLUSTER_ID, epoch: int = 1, topic_id: Uuid = METADATA_TOPIC_ID
) -> fetching.FetchRequest:
    asked = fetching.FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        partition_max_bytes=0,
        replica_directory_id=STRANGER,
    )
    return fetching.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetching.ReplicaState(replica_id=STRANGER_ID),
        max_wait_ms=0,
        min_bytes=0,
        topics=[fetching.FetchTopic(topic_id=topic_id, partitions=[asked])],
    )


def begin_request(
    *, cluster_id: str | None = CLUSTER_ID, epoch: int = 1, voter_id: int = 1
) -> begin.BeginQuorumEpochRequest:
    asked = begin.RequestPartitionData(
        partition_index=0, leader_id=STRANGER_ID, leader_epoch=epoch, voter_directory_id=NOBODY
    )
    return begin.BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter_id,
        topics=[begin.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[asked])],
        leader_endpoints=[begin.LeaderEndpoint(name=LISTENER, host="127.0.0.1", port=1)],
    )


def end_request(*, cluster_id: str | None = CLUSTER_ID, epoch: int = 0) -> end.EndQuorumEpochRequest:
    asked = end.RequestPartitionData(partition_index=0, leader_id=STRANGER_ID, leader_epoch=epoch)
    return end.EndQuorumEpochRequest(
        cluster_id=cluster_id, topics=[end.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[asked])]
    )


def snapshot_request(
    *, cluster_id: str | None = CLUSTER_ID, epoch: int = 1, end_offset: int = 77, topic: str = METADATA_TOPIC
) -> snapshot.FetchSnapshotRequest:
    asked = snapshot.RequestPartitionSnapshot(
        partition=0,
        current_leader_epoch=epoch,
        snapshot_id=snapshot.RequestSnapshotId(end_offset=end_offset, epoch=1),
        position=0,
        replica_directory_id=STRANGER,
    )
    return snapshot.FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=STRANGER_ID,
        topics=[snapshot.RequestTopicSnapshot(name=topic, partitions=[asked])],
    )


def update_request(*, cluster_id: str = CLUSTER_ID, epoch: int = 1) -> update.UpdateRaftVoterRequest:
    return update.UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter_id=STRANGER_ID,
        voter_directory_id=STRANGER,
        listeners=[update.Listener(name=LISTENER, host="127.0.0.1", port=1)],
        kraft_version_feature=update.KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
    )


def add_request(*, cluster_id: str = CLUSTER_ID, voter_id: int = STRANGER_ID, listener: str = LISTENER) -> Message:
    return add.AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=1_000,
        voter_id=voter_id,
        voter_directory_id=STRANGER,
        listeners=[add.Listener(name=listener, host="127.0.0.1", port=1)],
    )


def remove_request(*, cluster_id: str = CLUSTER_ID, voter_id: int = STRANGER_ID) -> remove.RemoveRaftVoterRequest:
    return remove.RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=STRANGER)


WRONG: dict[str, tuple[Message, int]] = {
    "a vote in another cluster": (voting_request(cluster_id=OTHER_CLUSTER), 2),
    "a vote for a stale epoch": (voting_request(epoch=0, last_offset_epoch=-1), 2),
    "a vote for an epoch that the candidate's log is in": (voting_request(epoch=0), 2),
    "a vote by an unknown candidate in this epoch": (voting_request(), 2),
    "a vote from an unknown voter": (voting_request(voter_id=5), 2),
    "a vote from another directory": (voting_request(voter=STRANGER), 2),
    "a vote on another topic": (voting_request(topic="other"), 2),
    "a vote on another partition": (voting_request(partition=1), 2),
    "a vote with a negative offset": (voting_request(last_offset=-1), 2),
    "a pre-vote for an unknown candidate": (voting_request(pre_vote=True), 2),
    "a pre-vote for a stale epoch": (voting_request(pre_vote=True, epoch=0), 2),
    "a vote of the first version": (voting_request(cluster_id=OTHER_CLUSTER), 0),
    "a fetch in another cluster": (fetch_request(cluster_id=OTHER_CLUSTER), 17),
    "a fetch in a stale epoch": (fetch_request(epoch=0), 17),
    "a fetch in an epoch to come": (fetch_request(epoch=7), 17),
    "a fetch of another topic": (fetch_request(topic_id=STRANGER), 17),
    "an epoch begun in another cluster": (begin_request(cluster_id=OTHER_CLUSTER), 1),
    "an epoch begun that is stale": (begin_request(epoch=0), 1),
    "an epoch ended in another cluster": (end_request(cluster_id=OTHER_CLUSTER), 1),
    "an epoch ended that is stale": (end_request(), 1),
    "a snapshot in another cluster": (snapshot_request(cluster_id=OTHER_CLUSTER), 1),
    "an unknown voter updated": (update_request(), 0),
    "a voter updated in another cluster": (update_request(cluster_id=OTHER_CLUSTER), 0),
    "a voter updated in a stale epoch": (update_request(epoch=0), 0),
    "a voter added in another cluster": (add_request(cluster_id=OTHER_CLUSTER), 0),
    "a voter added twice": (add_request(voter_id=1), 0),
    "a voter added that listens elsewhere": (add_request(listener="OTHER"), 0),
    "a voter added that cannot be reached": (add_request(), 0),
    "an unknown voter removed": (remove_request(), 0),
    "a voter removed by another directory": (remove_request(voter_id=1), 0),
    "a voter removed in another cluster": (remove_request(cluster_id=OTHER_CLUSTER), 0),
}


# Apache's controller takes a second leader in its own epoch for a defect of its own, and stops.
STOPPING_APACHES: dict[str, tuple[Message, int]] = {
    "an epoch begun that another leads": (begin_request(), 1),
    "an epoch ended by one who does not lead it": (end_request(epoch=1), 1),
}


# Apache's answers of these errors lack the records that a response has, cannot be written, and become another error.
WRONG_SNAPSHOTS = [
    (snapshot_request(), ErrorCode.SNAPSHOT_NOT_FOUND),
    (snapshot_request(epoch=0), ErrorCode.FENCED_LEADER_EPOCH),
    (snapshot_request(epoch=7), ErrorCode.UNKNOWN_LEADER_EPOCH),
    (snapshot_request(topic="other"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_requests_are_answered_alike(both: Both, name: str) -> None:
    request, version = WRONG[name]
    ours, apache = (shared(ask(port, request, version)) for port in (both.ours, both.apache))
    assert ours == apache


@pytest.mark.parametrize("name", STOPPING_APACHES)
def test_a_second_leader_of_an_epoch_is_refused(both: Both, name: str) -> None:
    answer = ask(both.ours, *STOPPING_APACHES[name])
    assert answer is not None
    assert answer["topics"][0]["partitions"][0] == {
        "partitionIndex": 0,
        "errorCode": ErrorCode.INVALID_REQUEST,
        "leaderId": 1,
        "leaderEpoch": 1,
    }


@pytest.mark.parametrize(("request_", "code"), WRONG_SNAPSHOTS)
def test_a_snapshot_that_cannot_be_had_is_refused(both: Both, request_: Message, code: ErrorCode) -> None:
    ours, apache = (ask(port, request_, 1) for port in (both.ours, both.apache))
    assert ours is not None
    assert apache is not None
    assert ours["topics"][0]["partitions"][0]["errorCode"] == code
    assert apache["errorCode"] == ErrorCode.UNKNOWN_SERVER_ERROR


def test_both_list_the_same_apis_in_the_same_versions(both: Both) -> None:
    ours, apache = (ask(port, ApiVersionsRequest(), 4) for port in (both.ours, both.apache))
    assert ours is not None
    assert apache is not None
    assert ours["apiKeys"] == apache["apiKeys"]


def test_every_api_is_served_by_both_or_neither(both: Both) -> None:
    """Listed or not: a body of nothing is refused, or answered, by both."""
    unlike = []
    for key, request in sorted(REQUESTS.items()):
        ours, apache = both.answers(sized(header(key, request.valid_versions[-1]) + b"\0"))
        if (ours is None) != (apache is None):
            unlike.append(request.__name__)
    assert unlike == []

"""A leader's side: fetches that are served, parked or refused, the high watermark, snapshots, appends, resigning."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from barnabas.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest
from barnabas.protocol.messages.fetch import FetchResponse
from barnabas.protocol.uuid import Uuid
from barnabas.raft import effects, events, leader
from barnabas.raft.leader import OBSERVER_SESSION_TIMEOUT_MS, Leader
from barnabas.raft.log_view import METADATA_TOPIC, OffsetAndEpoch
from barnabas.raft.requests import fetch_snapshot_request
from barnabas.raft.roles import Follower, Resigned
from barnabas.records.batch import iterate_batches
from unit.raft.driven import CLUSTER, Driven, data_batch, endpoint, follower_fetch, key


def leader_of(*voter_ids: int, **options: Any) -> Driven:
    node = Driven(*voter_ids, **options)
    if not isinstance(node.role, Leader):
        node.win()
    node.clear()
    return node


def append(node: Driven, count: int = 1) -> list[Any]:
    epoch = node.node.epoch
    return node.step(events.AppendRequested("append", epoch, data_batch(0, -1, count)))


def test_a_follower_at_the_end_waits_and_is_given_what_is_appended() -> None:
    node = leader_of(1, 2, 3)
    assert node.fetch_as(key(2), 3, 1) is None
    result = append(node, count=2)
    (response,) = [effect.response for effect in result if isinstance(effect, effects.Respond)]
    assert isinstance(response, FetchResponse)
    (answer,) = response.responses[0].partitions
    (header,) = [header for _, header in iterate_batches(answer.records or b"")]
    assert (header.base_offset, header.leader_epoch, header.next_offset) == (3, 1, 5)
    assert result.index(next(e for e in result if isinstance(e, effects.Append))) < len(result) - 1
    assert [effect.base_offset for effect in result if isinstance(effect, effects.Accept)] == [3]


def test_a_waiting_fetch_is_answered_when_its_time_is_up() -> None:
    node = leader_of(1, 2, 3)
    node.fetch_as(key(2), 3, 1, wait_ms=500)
    assert not [effect for effect in node.wait(499) if isinstance(effect, effects.Respond)]
    (answered,) = [effect for effect in node.wait(1) if isinstance(effect, effects.Respond)]
    assert len(answered.response.responses[0].partitions[0].records) == 0  # type: ignore[attr-defined]


def test_a_high_watermark_that_the_follower_does_not_know_is_news() -> None:
    node = leader_of(1, 2, 3)
    answer = node.fetch_as(key(2), 3, 1, high_watermark=-1)
    assert answer.high_watermark == 3
    assert node.fetch_as(key(2), 3, 1, high_watermark=3) is None


def test_a_majority_moves_the_high_watermark_and_wakes_who_waits() -> None:
    node = leader_of(1, 2, 3)
    node.fetch_as(key(2), 3, 1)
    assert node.node.high_watermark == 3
    append(node)
    assert node.node.high_watermark == 3, "the leader alone is no majority"
    node.fetch_as(key(9), 4, 1)
    assert node.node.high_watermark == 3, "an observer does not count"
    node.clear()
    node.fetch_as(key(3), 4, 1, high_watermark=3)
    assert node.all(effects.AdvanceHighWatermark) == [effects.AdvanceHighWatermark(4)]
    assert len(node.all(effects.Respond)) == 2, "the observer and the voter both learn of it"


def test_the_leader_counts_itself_by_what_it_has_flushed() -> None:
    node = Driven(1, 2, flushes=False)
    node.flushed()
    node.win()
    assert node.fetch_as(key(2), 3, 1) is None
    assert node.node.high_watermark is None
    node.flushed()
    assert node.node.high_watermark == 3


def test_records_of_earlier_epochs_are_committed_by_one_of_the_leaders_own() -> None:
    node = leader_of(1, 2, 3, log=[(1, 2)])
    start = node.role.start_offset
    assert start == 2
    node.fetch_as(key(2), start, 1)
    assert node.node.high_watermark is None
    node.fetch_as(key(2), start + 3, node.node.epoch)
    assert node.node.high_watermark == start + 3


def test_a_diverged_follower_is_told_where_and_one_behind_is_given_a_snapshot() -> None:
    node = leader_of(1, 2, 3, log=[(1, 2), (3, 2)])
    epoch = node.node.epoch
    diverging = node.fetch_as(key(2), 4, 2).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (1, 2)
    assert node.quorum.role.voters[2].end_offset is None, "what diverges does not count"
    snapshot_id = OffsetAndEpoch(7, epoch)
    node.storage.log.snapshots[snapshot_id] = b"0123456789"
    answer = node.fetch_as(key(2), 0, 0)
    assert (answer.snapshot_id.end_offset, answer.snapshot_id.epoch) == snapshot_id


@pytest.mark.parametrize(("epoch", "error"), [(0, ErrorCode.FENCED_LEADER_EPOCH), (2, ErrorCode.UNKNOWN_LEADER_EPOCH)])
def test_another_epoch_is_refused(epoch: int, error: ErrorCode) -> None:
    node = leader_of(1, 2, 3)
    response = node.ask(follower_fetch(key(2), epoch, 0, 0))
    assert response.responses[0].partitions[0].error_code == error


def test_who_does_not_lead_says_who_does_and_where() -> None:
    node = Driven(1, 2, 3)
    node.follow(2, 1)
    response = node.ask(follower_fetch(key(3), 1, 0, 0))
    (answer,) = response.responses[0].partitions
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 1)
    assert [(node.node_id, node.host, node.port) for node in response.node_endpoints] == [(2, *endpoint(2))]
    assert not node.ask(follower_fetch(key(3), 1, 0, 0), version=16).node_endpoints


def test_a_fetch_that_makes_no_sense_is_refused() -> None:
    node = leader_of(1, 2, 3)

    def error(**changes: int) -> int:
        request = follower_fetch(key(2), 1, 3, 1)
        for name, value in changes.items():
            target = request if hasattr(request, name) else request.topics[0].partitions[0]
            setattr(target, name, value)
        code: int = node.ask(request).responses[0].partitions[0].error_code
        return code

    assert error(max_wait_ms=-1) == ErrorCode.INVALID_REQUEST
    assert error(fetch_offset=-1) == ErrorCode.INVALID_REQUEST
    assert error(last_fetched_epoch=2) == ErrorCode.INVALID_REQUEST
    request = follower_fetch(key(2), 1, 3, 1)
    request.topics[0].topic_id, request.topics[0].topic = Uuid(bytes(16)), "another"
    assert node.ask(request).error_code == ErrorCode.INVALID_REQUEST
    request.cluster_id = "another"
    assert node.ask(request).error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    own = node.fetch_as(key(1, disk=2), 3, 1)
    assert own.error_code == ErrorCode.UNKNOWN_SERVER_ERROR, "nobody else has the leader's node id"


def test_a_snapshot_is_handed_out_piece_by_piece() -> None:
    node = leader_of(1, 2, 3)
    snapshot_id = OffsetAndEpoch(3, 1)
    node.storage.log.snapshots[snapshot_id] = b"0123456789"

    def fetch(which: OffsetAndEpoch, position: int, epoch: int = 1, max_bytes: int = 4) -> Any:
        request = fetch_snapshot_request(CLUSTER, epoch, key(2), which, position, max_bytes=max_bytes)
        return node.ask(request).topics[0].partitions[0]

    answer = fetch(snapshot_id, 8)
    assert (bytes(answer.unaligned_records), answer.size, answer.position) == (b"89", 10, 8)
    assert bytes(fetch(snapshot_id, 0).unaligned_records) == b"0123"
    assert fetch(snapshot_id, 0, max_bytes=0).error_code == ErrorCode.INVALID_REQUEST
    assert fetch(snapshot_id, 0, max_bytes=-1).error_code == ErrorCode.INVALID_REQUEST
    object.__setattr__(node.quorum.settings, "fetch_snapshot_max_bytes", 7)
    assert bytes(fetch(snapshot_id, 0, max_bytes=2**31 - 1).unaligned_records) == b"0123456"
    assert fetch(snapshot_id, 10).error_code == ErrorCode.POSITION_OUT_OF_RANGE
    assert fetch(snapshot_id, -1).error_code == ErrorCode.POSITION_OUT_OF_RANGE
    assert fetch(OffsetAndEpoch(2, 1), 0).error_code == ErrorCode.SNAPSHOT_NOT_FOUND
    assert fetch(OffsetAndEpoch(0, 0), 0).error_code == ErrorCode.SNAPSHOT_NOT_FOUND, "the bootstrap one is private"
    assert fetch(snapshot_id, 0, epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_appends_gather_for_a_while_and_have_their_offsets_at_once() -> None:
    node = leader_of(1)
    assert node.quorum.settings.append_linger_ms == 0
    object.__setattr__(node.quorum.settings, "append_linger_ms", 25)
    first, second = append(node, count=2), append(node)
    accepted = [effect.base_offset for effect in first + second if isinstance(effect, effects.Accept)]
    assert accepted == [3, 5]
    assert not node.all(effects.Append)
    node.wait(25)
    (appended,) = node.all(effects.Append)
    assert [header.base_offset for _, header in iterate_batches(appended.batches)] == [3, 5]
    assert node.node.high_watermark == 6


def test_an_append_of_another_epoch_is_refused() -> None:
    node = leader_of(1)
    (refused,) = [
        e for e in node.step(events.AppendRequested("a", 7, data_batch(0, -1))) if isinstance(e, effects.Refuse)
    ]
    assert refused.error is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_without_followers_resigns_in_favour_of_who_has_most() -> None:
    node = leader_of(1, 2, 3)
    node.fetch_as(key(3), 3, 1)
    node.fetch_as(key(2), 0, 0)
    node.clear()
    node.wait(2_999)
    assert isinstance(node.role, Leader)
    node.wait(1)
    assert isinstance(node.role, Resigned)
    assert node.all(effects.Resigned) == [effects.Resigned(1)]
    ended = node.sent(EndQuorumEpochRequest)[0].request.topics[0].partitions[0]
    assert [info.candidate_id for info in ended.preferred_candidates] == [3, 2]


def test_fetches_of_a_majority_keep_the_lead_and_those_of_observers_do_not() -> None:
    node = leader_of(1, 2, 3)
    for _ in range(3):
        node.wait(2_000)
        node.fetch_as(key(2), 3, 1)
    assert isinstance(node.role, Leader)
    for _ in range(2):
        node.wait(2_000)
        node.fetch_as(key(9), 3, 1)
    assert isinstance(node.role, Resigned)


def test_observers_that_are_gone_are_forgotten_when_another_comes() -> None:
    node = leader_of(1, 2, 3)
    node.fetch_as(key(9), 3, 1)
    for _ in range(OBSERVER_SESSION_TIMEOUT_MS // 1_000):
        node.wait(1_000)
        node.fetch_as(key(2), 3, 1)
    node.fetch_as(key(8), 3, 1)
    assert [each.id for each in node.role.observers] == [8]


def test_there_are_never_more_observers_than_a_leader_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader, "OBSERVERS_MAX", 3)
    node = leader_of(1, 2, 3)
    for node_id in (7, 8, 9):
        node.wait(1)
        node.fetch_as(key(node_id), 3, 1)
    node.wait(1)
    node.fetch_as(key(7), 3, 1)
    node.fetch_as(key(10), 3, 1)
    assert [each.id for each in node.role.observers] == [7, 9, 10]


def test_a_voter_that_is_silent_is_told_who_leads() -> None:
    node = Driven(1, 2, 3)
    node.win()
    assert {sent.peer.id for sent in node.sent(BeginQuorumEpochRequest)} == {2, 3}
    node.fetch_as(key(2), 3, 1)
    node.quorum.connections.reset()
    node.clear()
    node.wait(1_000)
    told = {sent.peer.id for sent in node.sent(BeginQuorumEpochRequest)}
    assert told == {2, 3}, "a second without a fetch is silence"
    node.fetch_as(key(2), 3, 1)
    node.quorum.connections.reset()
    node.clear()
    node.wait(999)
    node.fetch_as(key(2), 3, 1)
    node.wait(1)
    assert {sent.peer.id for sent in node.sent(BeginQuorumEpochRequest)} == {3}


def test_a_lost_lead_sends_who_waits_to_the_new_leader() -> None:
    node = leader_of(1, 2, 3)
    node.fetch_as(key(3), 3, 1)
    node.clear()
    node.follow(2, 2)
    assert isinstance(node.role, Follower)
    waited = node.all(effects.Respond)[0].response.responses[0].partitions[0]  # type: ignore[attr-defined]
    assert waited.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert waited.current_leader.leader_id == 2


def test_the_quorum_is_described_by_its_leader_alone() -> None:
    request = DescribeQuorumRequest(
        topics=[RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])]
    )
    node = leader_of(1, 2, 3)
    node.fetch_as(key(2), 3, 1)
    node.fetch_as(key(9), 0, 0)
    response = node.ask(request)
    (answer,) = response.topics[0].partitions
    assert (answer.leader_id, answer.leader_epoch, answer.high_watermark) == (1, 1, 3)
    assert [(state.replica_id, state.log_end_offset) for state in answer.current_voters] == [(1, 3), (2, 3), (3, -1)]
    assert [state.replica_id for state in answer.observers] == [9]
    assert answer.current_voters[0].last_caught_up_timestamp == node.now_ms
    assert [entry.node_id for entry in response.nodes] == [1, 2, 3]
    assert not node.ask(request, version=1).nodes
    follower = Driven(1, 2, 3)
    assert follower.ask(request).topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    request.topics[0].topic_name = "another"
    assert follower.ask(request).topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

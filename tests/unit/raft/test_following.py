"""A follower's side: appending, truncating, downloading a snapshot, and flushing before it fetches again."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.fetch_snapshot import FetchSnapshotRequest
from barnabas.raft import control, effects, events
from barnabas.raft.log_view import Continues, Diverges, NeedsSnapshot, OffsetAndEpoch
from barnabas.raft.quorum import QuorumViolation
from barnabas.raft.responses import LeaderHint, fetch_response, fetch_snapshot_response
from barnabas.raft.roles import Follower, Prospective, Unattached
from barnabas.raft.voters import VoterSet
from unit.raft.driven import Driven, data_batch, endpoint, voter

LEADER = LeaderHint(3, 2, endpoint(2))


def follower_of(**options: Any) -> Driven:
    node = Driven(1, 2, 3, **options)
    node.follow(2, 3)
    return node


def last_fetch(node: Driven) -> Any:
    return node.sent(FetchRequest)[-1]


def fetched(node: Driven, records: bytes = b"", *, high_watermark: int = -1, standing: Any = None) -> list[Any]:
    """Answer the Fetch that is under way."""
    response = fetch_response(
        LEADER,
        18,
        ErrorCode.NONE,
        log_start_offset=0,
        high_watermark=high_watermark,
        records=records,
        standing=standing or Continues(),
    )
    sent = last_fetch(node)
    node.clear()
    return node.answer(sent, response)


def test_fetched_batches_are_appended_and_the_next_fetch_starts_behind_them() -> None:
    node = follower_of()
    asked = last_fetch(node).request.topics[0].partitions[0]
    assert (asked.fetch_offset, asked.last_fetched_epoch, asked.current_leader_epoch) == (0, 0, 3)
    fetched(node, data_batch(0, 1, 2) + data_batch(2, 3), high_watermark=2)
    assert node.storage.log.end == OffsetAndEpoch(3, 3)
    assert node.all(effects.AdvanceHighWatermark) == [effects.AdvanceHighWatermark(2)]
    asked = last_fetch(node).request.topics[0].partitions[0]
    assert (asked.fetch_offset, asked.last_fetched_epoch, asked.high_watermark) == (3, 3, 2)


def test_a_voter_fetches_again_only_after_its_log_is_durable() -> None:
    node = follower_of(flushes=False)
    fetched(node, data_batch(0, 1))
    assert not node.sent(FetchRequest)
    node.flushed()
    assert last_fetch(node).request.topics[0].partitions[0].fetch_offset == 1


def test_what_a_crash_left_in_the_log_is_flushed_before_the_first_fetch() -> None:
    node = Driven(1, 2, 3, log=[(1, 2)], flushes=False)
    node.follow(2, 3)
    assert not node.sent(FetchRequest)
    node.flushed()
    assert node.sent(FetchRequest)


def test_a_flush_does_not_cover_what_replaced_the_flushed_records() -> None:
    node = follower_of(flushes=False)
    fetched(node, data_batch(0, 1, 2) + data_batch(2, 1))
    node.quorum.connections.reset()
    node.quorum.truncate(2)
    node.storage.truncate(2)
    node.quorum.append(data_batch(2, 3), OffsetAndEpoch(3, 3), ())
    node.storage.append(data_batch(2, 3))
    node.clear()
    node.flushed()
    assert node.quorum.flushed_offset == 2
    assert node.all(effects.Flush), "another flush is under way for the rest"
    assert not node.sent(FetchRequest)
    node.flushed()
    assert node.sent(FetchRequest)


def test_the_high_watermark_does_not_exceed_the_log_and_never_falls() -> None:
    node = follower_of()
    fetched(node, data_batch(0, 1, 2), high_watermark=9)
    assert node.node.high_watermark == 2
    fetched(node, high_watermark=1)
    assert node.node.high_watermark == 2


def test_a_diverged_log_is_truncated() -> None:
    node = follower_of(log=[(1, 3), (2, 2)])
    fetched(node, standing=Diverges(OffsetAndEpoch(4, 1)))
    assert node.all(effects.Truncate) == [effects.Truncate(3)]
    assert node.storage.log.end == OffsetAndEpoch(3, 1)


def test_voters_that_are_truncated_away_no_longer_count() -> None:
    node = follower_of()
    grown = VoterSet.of([*node.quorum.voters, voter(4)])
    fetched(node, control.build([control.voters(grown)], base_offset=0, epoch=1, timestamp_ms=0))
    assert node.quorum.voters == grown, "a replica acts on the newest set, committed or not"
    fetched(node, standing=Diverges(OffsetAndEpoch(0, 0)))
    assert node.quorum.voters.ids == {1, 2, 3}


def test_a_leader_that_would_have_committed_records_truncated_is_not_obeyed() -> None:
    node = follower_of()
    fetched(node, data_batch(0, 1, 2), high_watermark=2)
    with pytest.raises(QuorumViolation):
        fetched(node, standing=Diverges(OffsetAndEpoch(1, 1)))


def test_a_truncation_inside_a_batch_takes_the_batch_and_what_was_flushed_of_it() -> None:
    node = follower_of(log=[(1, 2), (1, 3)])
    fetched(node, standing=Diverges(OffsetAndEpoch(4, 1)))
    assert node.storage.log.end == OffsetAndEpoch(2, 1)
    assert node.quorum.flushed_offset == 2


def test_a_divergence_behind_the_end_of_the_log_is_not_asked_about_again_at_once() -> None:
    node = follower_of(log=[(1, 2)])
    fetched(node, standing=Diverges(OffsetAndEpoch(5, 1)))
    assert not node.all(effects.Truncate)
    assert last_fetch(node).peer.id < 0, "meanwhile somebody else is asked"


@pytest.mark.parametrize("records", [data_batch(1, 1), data_batch(0, 4), data_batch(0, 1)[:-1] + b"!"])
def test_records_that_do_not_fit_are_fetched_again_after_a_rest(records: bytes) -> None:
    node = follower_of()
    fetched(node, records)
    assert node.storage.log.end.offset == 0
    assert last_fetch(node).peer.id < 0, "meanwhile somebody else is asked"


def test_a_snapshot_is_downloaded_piece_by_piece_and_takes_the_place_of_the_log() -> None:
    node = follower_of(log=[(1, 2)])
    grown = VoterSet.of([*node.quorum.voters, voter(4)])
    snapshot_id = OffsetAndEpoch(7, 3)
    records = [control.snapshot_header(0), control.kraft_version(1), control.voters(grown)]
    content = control.build(records, base_offset=0, epoch=3, timestamp_ms=0)
    fetched(node, standing=NeedsSnapshot(snapshot_id))
    position = 0
    while position < len(content):
        sent = node.sent(FetchSnapshotRequest)[-1]
        assert sent.request.topics[0].partitions[0].position == position
        chunk = content[position : position + 50]
        response = fetch_snapshot_response(
            LEADER, 1, ErrorCode.NONE, snapshot_id=snapshot_id, size=len(content), position=position, data=chunk
        )
        node.answer(sent, response)
        position += len(chunk)
    assert node.storage.log.snapshots == {snapshot_id: content}
    assert node.storage.log.end == snapshot_id
    assert node.quorum.voters == grown
    assert node.node.high_watermark == 7
    assert last_fetch(node).request.topics[0].partitions[0].fetch_offset == 7


def test_a_snapshot_that_the_leader_deleted_is_given_up() -> None:
    node = follower_of()
    fetched(node, standing=NeedsSnapshot(OffsetAndEpoch(7, 3)))
    sent = node.sent(FetchSnapshotRequest)[-1]
    node.answer(sent, fetch_snapshot_response(LEADER, 1, ErrorCode.SNAPSHOT_NOT_FOUND))
    assert node.all(effects.DropSnapshotDownload)
    assert last_fetch(node).peer.id == 2


def test_a_piece_from_the_wrong_place_is_not_written() -> None:
    node = follower_of()
    fetched(node, standing=NeedsSnapshot(OffsetAndEpoch(7, 3)))
    sent = node.sent(FetchSnapshotRequest)[-1]
    response = fetch_snapshot_response(
        LEADER, 1, ErrorCode.NONE, snapshot_id=OffsetAndEpoch(7, 3), size=9, position=4, data=b"x"
    )
    node.answer(sent, response)
    assert not node.all(effects.WriteSnapshotChunk)


def test_an_empty_piece_of_a_snapshot_is_asked_for_again_after_a_rest() -> None:
    node = follower_of()
    fetched(node, standing=NeedsSnapshot(OffsetAndEpoch(7, 3)))
    sent = node.sent(FetchSnapshotRequest)[-1]
    node.clear()
    response = fetch_snapshot_response(
        LEADER, 1, ErrorCode.NONE, snapshot_id=OffsetAndEpoch(7, 3), size=9, position=0, data=b""
    )
    node.answer(sent, response)
    assert not node.all(effects.WriteSnapshotChunk)
    assert not node.sent(FetchSnapshotRequest)
    node.quorum.connections.forget(-2)
    node.quorum.connections.forget(-3)
    node.wait(30)
    assert node.sent(FetchSnapshotRequest)


def test_a_snapshot_that_is_here_already_is_not_asked_about_again_at_once() -> None:
    node = follower_of(log=[(1, 3)])
    node.storage.log.snapshots[OffsetAndEpoch(3, 1)] = b"here"
    before_ms = node.role.fetch_deadline_ms
    node.now_ms += 300
    fetched(node, standing=NeedsSnapshot(OffsetAndEpoch(3, 1)))
    assert not node.sent(FetchSnapshotRequest)
    assert last_fetch(node).peer.id < 0, "meanwhile somebody else is asked"
    assert node.role.fetch_deadline_ms > before_ms, "the leader is there all the same"


def test_a_leader_that_is_behind_is_not_asked_again_at_once() -> None:
    node = follower_of()
    sent = last_fetch(node)
    node.clear()
    node.answer(sent, fetch_response(LeaderHint(1), 18, ErrorCode.UNKNOWN_LEADER_EPOCH, log_start_offset=0))
    assert last_fetch(node).peer.id < 0, "meanwhile somebody else is asked"


def test_a_silent_leader_is_doubted_by_a_voter_and_looked_for_elsewhere() -> None:
    node = follower_of()
    node.clear()
    node.wait(1_799)
    assert isinstance(node.role, Follower)
    node.wait(201)
    assert isinstance(node.role, Prospective)


@pytest.mark.parametrize(("fetch_timeout_ms", "wait_ms"), [("2000", 500), ("600", 300)])
def test_a_leader_is_asked_to_answer_before_it_would_seem_silent(fetch_timeout_ms: str, wait_ms: int) -> None:
    node = follower_of(fetch_timeout_ms=fetch_timeout_ms)
    assert last_fetch(node).request.max_wait_ms == wait_ms


def test_followers_that_were_answered_together_do_not_all_stand_at_once() -> None:
    node = follower_of()
    patience = set()
    for _ in range(20):
        fetched(node)
        patience.add(node.role.fetch_deadline_ms - node.now_ms)
    assert len(patience) > 5
    assert all(1_800 <= each <= 2_000 for each in patience)


def test_an_answer_from_a_later_epoch_is_believed() -> None:
    node = follower_of()
    later = LeaderHint(8, 3, endpoint(3))
    refused = fetch_response(later, 18, ErrorCode.FENCED_LEADER_EPOCH, log_start_offset=0)
    node.answer(last_fetch(node), refused)
    assert (node.role.leader, node.node.epoch) == (3, 8)
    assert last_fetch(node).peer.endpoint == endpoint(3)


def test_an_observer_finds_the_leader_by_a_bootstrap_server_and_takes_its_records_at_once() -> None:
    node = Driven(2, 3)
    assert isinstance(node.role, Unattached)
    assert last_fetch(node).peer.id < 0
    unknown = fetch_response(LeaderHint(0), 18, ErrorCode.NOT_LEADER_OR_FOLLOWER, log_start_offset=0)
    before = last_fetch(node)
    node.answer(before, unknown)
    assert last_fetch(node).peer != before.peer, "one that knows nothing is left alone for a while"
    refused = fetch_response(LEADER, 18, ErrorCode.FENCED_LEADER_EPOCH, log_start_offset=0)
    node.answer(last_fetch(node), refused)
    assert isinstance(node.role, Follower)
    fetched(node, data_batch(0, 1), high_watermark=1)
    assert node.node.high_watermark == 1
    node.wait(100_000)
    assert isinstance(node.role, Follower), "an observer never stands for election"


def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    node = follower_of()
    sent = last_fetch(node)
    node.follow(3, 4)
    response = fetch_response(LEADER, 18, ErrorCode.NONE, log_start_offset=0, records=data_batch(0, 1))
    node.answer(sent, response)
    assert node.storage.log.end.offset == 0


def test_a_connection_that_broke_is_tried_again_after_a_rest() -> None:
    node = follower_of()
    node.step(events.RequestFailed(last_fetch(node).correlation_id))
    assert last_fetch(node).peer.id < 0
    node.step(events.RequestFailed(last_fetch(node).correlation_id))
    node.step(events.RequestFailed(last_fetch(node).correlation_id))
    node.clear()
    node.wait(30)
    assert last_fetch(node).peer.id == 2

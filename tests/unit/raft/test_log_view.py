"""Where a follower's log stands against the leader's, against comparing the two record by record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.raft.log_view import (
    BOOTSTRAP_SNAPSHOT_ID,
    Continues,
    Diverges,
    NeedsSnapshot,
    OffsetAndEpoch,
    compare_follower,
    truncation_offset,
)
from barnabas.sim.raft_storage import SimLog, StoredBatch


def log_of(*record_epochs: int, start: int = 0) -> SimLog:
    """A log with one record a batch."""
    return SimLog(start, [StoredBatch(at, at + 1, epoch, b"") for at, epoch in enumerate(record_epochs, start)])


@st.composite
def forked_logs(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Two logs by their records' epochs, and how long a prefix they share.

    An epoch has one leader, so beyond the fork no epoch is in both; one side may go on in the last common one.
    """
    shared = sorted(draw(st.lists(st.integers(1, 3), max_size=5)))
    further = [sorted(draw(st.lists(st.sampled_from(choice), max_size=4))) for choice in ([5, 7, 9], [4, 6, 8])]
    if shared:
        further[draw(st.integers(0, 1))][:0] = [shared[-1]] * draw(st.integers(0, 2))
    return shared + further[0], shared + further[1], len(shared)


@given(forked_logs())
def test_truncating_by_the_leaders_word_ends_where_the_logs_fork(logs: tuple[list[int], list[int], int]) -> None:
    leader, follower, shared = logs
    leader_log, follower_log = log_of(*leader), log_of(*follower)
    for _ in range(10):
        standing = compare_follower(leader_log, follower_log.end)
        if isinstance(standing, Continues):
            break
        assert isinstance(standing, Diverges)
        end_offset = truncation_offset(follower_log, standing.end)
        assert end_offset < follower_log.end.offset, "each answer brings the follower closer"
        assert end_offset >= min(shared, follower_log.end.offset), "what both have is kept"
        follower_log.truncate(end_offset)
    kept = [batch.epoch for batch in follower_log.batches]
    assert kept == leader[: len(kept)]


def test_an_empty_follower_is_given_the_snapshot_but_not_the_bootstrap_one() -> None:
    log = log_of(1, 1, 2)
    assert compare_follower(log, OffsetAndEpoch(0, 0)) == Continues()
    log.snapshots[BOOTSTRAP_SNAPSHOT_ID] = b""
    assert compare_follower(log, OffsetAndEpoch(0, 0)) == Continues()
    log.snapshots[OffsetAndEpoch(2, 1)] = b""
    assert compare_follower(log, OffsetAndEpoch(0, 0)) == NeedsSnapshot(OffsetAndEpoch(2, 1))


def test_a_follower_behind_the_log_is_given_the_latest_snapshot() -> None:
    log = log_of(3, 3, start=5)
    log.snapshots = {OffsetAndEpoch(5, 2): b"", OffsetAndEpoch(6, 3): b""}
    latest = NeedsSnapshot(OffsetAndEpoch(6, 3))
    assert compare_follower(log, OffsetAndEpoch(4, 2)) == latest
    assert compare_follower(log, OffsetAndEpoch(5, 1)) == latest, "another record stands before the start"
    assert compare_follower(log, OffsetAndEpoch(7, 1)) == latest, "an epoch of which the log knows nothing any more"
    assert compare_follower(log, OffsetAndEpoch(5, 2)) == Continues()


def test_a_later_epoch_than_the_leaders_diverges_at_the_leaders_end() -> None:
    assert compare_follower(log_of(1, 2), OffsetAndEpoch(1, 9)) == Diverges(OffsetAndEpoch(2, 2))


def test_the_more_complete_log_is_the_one_of_the_later_epoch() -> None:
    assert OffsetAndEpoch(1, 5).is_at_least(OffsetAndEpoch(9, 4))
    assert not OffsetAndEpoch(3, 4).is_at_least(OffsetAndEpoch(4, 4))

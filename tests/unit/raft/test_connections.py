"""One request at a time, and rest after failures."""

from __future__ import annotations

from random import Random

from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from barnabas.protocol.schema import ZERO_UUID
from barnabas.raft.connections import BACKOFF_MAX_MS, JITTER, Connections
from barnabas.raft.replica import Endpoint, Peer

PEER = Peer(1, Endpoint("one", 1))
OTHER = Peer(2, Endpoint("two", 2))
REQUEST = RemoveRaftVoterRequest(cluster_id=None, voter_id=1, voter_directory_id=ZERO_UUID)


def connections() -> Connections:
    return Connections([PEER, OTHER], retry_backoff_ms=20, request_timeout_ms=2_000, rng=Random(1))


def test_a_peer_that_has_not_answered_is_not_asked_again_before_its_time() -> None:
    open_to = connections()
    open_to.open(PEER, REQUEST, 0)
    assert not open_to.is_ready(1, 1_999)
    assert open_to.is_ready(1, 2_000)
    assert open_to.has_timed_out(1, 2_000)
    assert open_to.is_ready(2, 0)


def test_a_late_answer_is_still_expected_and_a_second_one_is_not() -> None:
    open_to = connections()
    correlation_id = open_to.open(PEER, REQUEST, 0)
    assert open_to.inflight(correlation_id) == (PEER, RemoveRaftVoterRequest)
    open_to.close(correlation_id, is_success=True, now_ms=5_000)
    assert open_to.inflight(correlation_id) is None
    assert open_to.is_ready(1, 5_000)


def test_each_failure_doubles_the_rest_up_to_a_limit_and_success_forgets_them() -> None:
    open_to = connections()
    rests = []
    for _ in range(9):
        open_to.close(open_to.open(PEER, REQUEST, 0), is_success=False, now_ms=0)
        assert open_to.is_backing_off(1, 0)
        rests.append(open_to.next_change_ms(0) or 0)
    for failures, rest in enumerate(rests):
        least = min(BACKOFF_MAX_MS, 20 << failures)
        assert least <= rest <= least * (1 + JITTER)
    open_to.close(open_to.open(PEER, REQUEST, 0), is_success=True, now_ms=0)
    open_to.close(open_to.open(PEER, REQUEST, 0), is_success=False, now_ms=0)
    assert (open_to.next_change_ms(0) or 0) <= 20 * (1 + JITTER)


def test_bootstrap_servers_are_asked_one_at_a_time_and_not_while_they_rest() -> None:
    open_to = connections()
    first = open_to.ready_bootstrap(0)
    assert first is not None
    correlation_id = open_to.open(first, REQUEST, 0)
    assert open_to.ready_bootstrap(0) is None
    open_to.close(correlation_id, is_success=False, now_ms=0)
    second = open_to.ready_bootstrap(0)
    assert second not in (None, first)


def test_a_reset_forgets_what_is_under_way() -> None:
    open_to = connections()
    correlation_id = open_to.open(PEER, REQUEST, 0)
    open_to.reset()
    assert open_to.inflight(correlation_id) is None
    assert not open_to.has_inflight(0)

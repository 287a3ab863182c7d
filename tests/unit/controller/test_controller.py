"""The shell: responses wait for commits, decisions see what is not committed, a lost leadership takes it all back."""

from __future__ import annotations

from barnabas.controller.decision import RequestContext
from barnabas.controller.effects import (
    Append,
    Appended,
    AppendRefused,
    BecameLeader,
    QuorumChanged,
    RequestReceived,
    TimerFired,
)
from barnabas.controller.errors import NotController
from barnabas.metadata.framing import read_batches
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import BrokerRegistrationResponse
from barnabas.protocol.metadata_records.abort_transaction import AbortTransactionRecord
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.end_transaction import EndTransactionRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from unit.controller.controlled_cluster import ControlledCluster, bootstrap, registration


def test_a_response_waits_until_its_last_record_is_committed() -> None:
    cluster = ControlledCluster()
    token = cluster.send(registration(1))
    assert token not in cluster.responses
    assert 1 in cluster.image.cluster.brokers
    assert 1 not in cluster.controller.committed_image.cluster.brokers
    cluster.commit()
    assert token in cluster.responses


def test_a_decision_sees_the_one_before_it_and_waits_for_it_though_it_writes_nothing() -> None:
    cluster = ControlledCluster()
    first = cluster.send(registration(1))
    stale = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=0, current_metadata_offset=0, want_fence=False, want_shut_down=False
    )
    second = cluster.send(stale)
    assert not cluster.responses.keys() & {first, second}
    cluster.commit()
    response = cluster.responses[second]
    assert isinstance(response, BrokerHeartbeatResponse)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_controller_that_is_not_active_refuses_and_names_the_one_that_is() -> None:
    cluster = ControlledCluster(is_leading=False)
    response = cluster.ask(registration(1), BrokerRegistrationResponse)
    assert response.error_code == ErrorCode.NOT_CONTROLLER


def test_a_refusal_is_told_beside_a_response_that_has_only_a_code() -> None:
    cluster = ControlledCluster()
    first = cluster.send(registration(1))
    refused = cluster.send(registration(2, cluster_id="other"))
    cluster.commit()
    assert cluster.refusals[first] is None
    assert "other" in str(cluster.refusals[refused])
    cluster.resign()
    assert isinstance(cluster.refusals[cluster.send(registration(3))], NotController)


def test_losing_the_leadership_forgets_what_is_not_committed_and_fails_who_waits() -> None:
    cluster = ControlledCluster()
    token = cluster.send(registration(1))
    cluster.resign()
    response = cluster.responses[token]
    assert isinstance(response, BrokerRegistrationResponse)
    assert response.error_code == ErrorCode.NOT_CONTROLLER
    assert 1 not in cluster.image.cluster.brokers
    cluster.lead()
    assert cluster.register(1) > 0


def test_records_that_survive_a_lost_leadership_are_there_for_the_next_one() -> None:
    cluster = ControlledCluster()
    token = cluster.send(registration(1))
    cluster.resign(keep_batches=1)
    cluster.lead()
    assert 1 in cluster.image.cluster.brokers
    response = cluster.responses[token]
    assert isinstance(response, BrokerRegistrationResponse)
    assert response.error_code == ErrorCode.NOT_CONTROLLER


def test_a_refused_append_ends_the_leadership() -> None:
    cluster = ControlledCluster()
    request = RequestReceived("refused", registration(1), RequestContext(version=4))
    (append,) = cluster.controller.step(request, cluster.now_ms)
    assert isinstance(append, Append)
    cluster.step(AppendRefused())
    assert cluster.controller.active_epoch is None
    assert 1 not in cluster.image.cluster.brokers
    response = cluster.responses["refused"]
    assert isinstance(response, BrokerRegistrationResponse)
    assert response.error_code == ErrorCode.NOT_CONTROLLER


def test_the_quorum_may_change_before_it_tells_what_became_of_an_append() -> None:
    cluster = ControlledCluster()
    request = RequestReceived("asked", registration(1), RequestContext(version=4))
    cluster.controller.step(request, cluster.now_ms)
    cluster.step(QuorumChanged(3001, 1, frozenset({3000, 3001})))
    cluster.step(AppendRefused())
    assert "3001" in str(cluster.refusals["asked"])


def test_records_that_come_to_stand_behind_control_records_keep_their_responses() -> None:
    cluster = ControlledCluster()
    request = RequestReceived("later", registration(1), RequestContext(version=4))
    (append,) = cluster.controller.step(request, cluster.now_ms)
    assert isinstance(append, Append)
    cluster.write([])
    base_offset = cluster.end_offset
    for batch in read_batches(append.batches):
        cluster.write([], batch.records)
    cluster.step(Appended(base_offset))
    assert cluster.image.provenance.last_contained_offset == cluster.end_offset - 1
    assert cluster.controller.situation(cluster.now_ms).registration_offsets[1] == cluster.end_offset - 1
    cluster.commit()
    assert "later" in cluster.responses
    assert cluster.register(2) == cluster.end_offset - 1


def test_an_empty_log_is_given_its_bootstrap_in_one_transaction() -> None:
    cluster = ControlledCluster(static_configs={"min.insync.replicas": "2"})
    first, *middle, least, last = cluster.records()
    assert isinstance(first, BeginTransactionRecord)
    assert middle == bootstrap()
    assert isinstance(least, ConfigRecord)
    assert (least.resource_type, least.resource_name, least.name, least.value) == (4, "", "min.insync.replicas", "2")
    assert isinstance(last, EndTransactionRecord)


def test_a_log_with_metadata_gets_no_second_bootstrap() -> None:
    cluster = ControlledCluster()
    cluster.resign()
    end_offset = cluster.end_offset
    cluster.lead()
    assert cluster.records(end_offset) == []


def test_a_bootstrap_that_was_cut_off_is_aborted_and_written_again() -> None:
    cluster = ControlledCluster(is_leading=False)
    cluster.write([BeginTransactionRecord(name="Bootstrap records"), bootstrap()[0]])
    end_offset = cluster.end_offset
    cluster.lead()
    aborted, begun, *_, ended = cluster.records(end_offset)
    assert isinstance(aborted, AbortTransactionRecord)
    assert isinstance(begun, BeginTransactionRecord)
    assert isinstance(ended, EndTransactionRecord)
    assert cluster.register(1) > 0


def test_a_transaction_that_a_predecessor_left_open_is_aborted() -> None:
    cluster = ControlledCluster()
    cluster.resign()
    cluster.write([BeginTransactionRecord(), NoOpRecord()])
    end_offset = cluster.end_offset
    cluster.lead()
    assert [type(record) for record in cluster.records(end_offset)] == [AbortTransactionRecord]
    assert cluster.register(1) > 0


def test_a_leader_is_not_active_before_it_has_seen_the_first_record_of_its_epoch() -> None:
    cluster = ControlledCluster()
    cluster.resign()
    cluster.epoch += 1
    cluster.write([])
    cluster.step(BecameLeader(cluster.epoch, cluster.end_offset - 1))
    assert cluster.controller.active_epoch is None
    cluster.commit()
    assert cluster.controller.active_epoch == cluster.epoch


def test_an_idle_controller_writes_no_op_records() -> None:
    cluster = ControlledCluster(max_idle_interval_ms=500)
    end_offset = cluster.end_offset
    cluster.advance(1_600)
    assert [type(record) for record in cluster.records(end_offset)] == [NoOpRecord] * 3


def test_time_that_passes_after_a_lost_leadership_changes_nothing() -> None:
    cluster = ControlledCluster(max_idle_interval_ms=500)
    cluster.resign()
    end_offset = cluster.end_offset
    cluster.step(TimerFired())
    assert cluster.end_offset == end_offset
    assert cluster.timer_ms is None

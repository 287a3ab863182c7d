"""What a heartbeat brings a broker: unfencing, fencing, a controlled shutdown, the loss of a directory."""

from __future__ import annotations

from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from unit.controller.controlled_cluster import ControlledCluster, directory
from unit.controller.partitions import write_topic


def test_a_broker_is_unfenced_once_it_has_seen_its_registration() -> None:
    cluster = ControlledCluster()
    cluster.register(1)
    registered_at = cluster.end_offset - 1
    response = cluster.heartbeat(1, current_metadata_offset=registered_at - 1)
    assert (response.is_caught_up, response.is_fenced) == (False, True)
    response = cluster.heartbeat(1, current_metadata_offset=registered_at)
    assert (response.is_caught_up, response.is_fenced) == (True, False)
    assert not cluster.image.cluster.brokers[1].is_fenced


def test_a_new_active_controller_unfences_by_the_committed_log() -> None:
    cluster = ControlledCluster()
    cluster.register(1)
    registered_at = cluster.end_offset - 1
    cluster.resign()
    cluster.lead()
    assert cluster.heartbeat(1, current_metadata_offset=registered_at - 1).is_fenced
    assert not cluster.heartbeat(1, current_metadata_offset=registered_at).is_fenced


def test_a_broker_that_wants_to_stay_fenced_does() -> None:
    cluster = ControlledCluster()
    cluster.register(1)
    assert cluster.heartbeat(1, want_fence=True).is_fenced


def test_a_heartbeat_of_another_epoch_is_stale() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1)
    assert cluster.heartbeat(1, broker_epoch=0).error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_silent_broker_is_fenced_and_its_partitions_go_to_others() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2], [1]])
    for _ in range(6):
        cluster.advance(2_000)
        cluster.heartbeat(2)
    brokers = cluster.image.cluster.brokers
    assert [brokers[broker_id].is_fenced for broker_id in (1, 2)] == [True, False]
    assert cluster.partition("t", 0).isr == (2,)
    assert cluster.partition("t", 0).leader == 2
    assert cluster.partition("t", 1).isr == ()
    assert cluster.partition("t", 1).leader == -1


def test_a_session_lasts_to_the_millisecond_and_no_longer() -> None:
    cluster = ControlledCluster(broker_session_timeout_ms=8)
    cluster.start_brokers(1)
    cluster.advance(8)
    assert not cluster.image.cluster.brokers[1].is_fenced
    cluster.advance(1)
    assert cluster.image.cluster.brokers[1].is_fenced


def test_a_fenced_broker_that_falls_silent_is_not_fenced_again() -> None:
    cluster = ControlledCluster()
    cluster.register(1)
    cluster.heartbeat(1, want_fence=True)
    end_offset = cluster.end_offset
    cluster.advance(20_000)
    assert cluster.end_offset == end_offset


def test_an_unfenced_broker_leads_again_what_waited_for_it() -> None:
    for has_elr in (True, False):
        cluster = ControlledCluster(has_elr=has_elr)
        cluster.start_brokers(1)
        write_topic(cluster, "t", [[1]])
        cluster.fence(1)
        assert cluster.partition("t").leader == -1
        assert not cluster.heartbeat(1).is_fenced
        assert cluster.partition("t").leader == 1
        assert cluster.partition("t").isr == (1,)


def test_a_controlled_shutdown_gives_leaderships_away_and_waits_until_all_have_seen_it() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2]])
    before = cluster.end_offset - 1
    cluster.heartbeat(1)
    cluster.heartbeat(2)
    response = cluster.heartbeat(1, want_shut_down=True)
    assert (response.is_fenced, response.should_shut_down) == (False, False)
    assert cluster.image.cluster.brokers[1].is_in_controlled_shutdown
    assert cluster.partition("t").leader == 2
    given_away = cluster.end_offset - 1

    cluster.heartbeat(2, current_metadata_offset=before)
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    cluster.heartbeat(2, current_metadata_offset=given_away - 1)
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    cluster.heartbeat(2, current_metadata_offset=given_away)
    assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
    assert cluster.image.cluster.brokers[1].is_fenced


def test_a_broker_that_leads_nothing_may_stop_at_once() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2)
    write_topic(cluster, "t", [[1, 2]])
    assert cluster.heartbeat(2, want_shut_down=True).should_shut_down
    assert cluster.image.cluster.brokers[2].is_fenced
    assert cluster.heartbeat(2, want_shut_down=True).should_shut_down


def test_a_shutdown_leaves_what_nobody_else_has_without_a_leader() -> None:
    cluster = ControlledCluster(has_elr=False)
    cluster.start_brokers(1)
    write_topic(cluster, "t", [[1]])
    assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
    assert cluster.partition("t").leader == -1
    assert cluster.heartbeat(1, want_shut_down=True).should_shut_down


def test_a_failed_directory_takes_the_broker_out_of_the_isr_of_what_was_in_it() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, 2, directories=2)
    kept, failed = directory(1, 0), directory(1, 1)
    write_topic(cluster, "kept", [[1, 2]], directories=[kept, directory(2)])
    write_topic(cluster, "failed", [[1, 2]], directories=[failed, directory(2)])
    cluster.heartbeat(1, offline_log_dirs=[failed])
    assert cluster.partition("kept").leader == 1
    assert cluster.partition("failed").leader == 2
    assert cluster.partition("failed").isr == (2,)
    assert cluster.image.cluster.brokers[1].directories == (kept,)
    end_offset = cluster.end_offset
    cluster.heartbeat(1, offline_log_dirs=[failed])
    assert cluster.end_offset == end_offset


def test_a_broker_that_comes_back_without_a_directory_does_not_lead_what_was_in_it() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, directories=2)
    write_topic(cluster, "t", [[1]], directories=[directory(1, 1)])
    cluster.fence(1)
    assert not cluster.heartbeat(1, offline_log_dirs=[directory(1, 1)]).is_fenced
    assert cluster.partition("t").leader == -1


def test_cordoned_directories_are_written_down_once() -> None:
    cluster = ControlledCluster()
    cluster.start_brokers(1, directories=2)
    cluster.heartbeat(1, cordoned_log_dirs=[directory(1, 1)])
    assert cluster.image.cluster.brokers[1].cordoned_directories == (directory(1, 1),)
    end_offset = cluster.end_offset
    cluster.heartbeat(1, cordoned_log_dirs=[directory(1, 1)])
    assert cluster.records(end_offset) == []
    cluster.heartbeat(1, cordoned_log_dirs=[])
    (change,) = cluster.records(end_offset)
    assert isinstance(change, BrokerRegistrationChangeRecord)
    assert change.cordoned_log_dirs == []


def test_below_their_metadata_version_cordoned_directories_are_left_out() -> None:
    cluster = ControlledCluster(version=MetadataVersion.V4_2_IV1)
    cluster.start_brokers(1)
    cluster.heartbeat(1, cordoned_log_dirs=[directory(1)])
    assert cluster.image.cluster.brokers[1].cordoned_directories is None

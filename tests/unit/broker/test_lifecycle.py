"""A broker's life against the real controller, over a network that loses requests and answers."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.broker import lifecycle
from barnabas.broker.lifecycle import BrokerLife, BrokerState, Effect, Event, LifeSettings
from barnabas.metadata.cluster import BrokerRegistration
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from unit.controller.controlled_cluster import ControlledCluster, directory, registration
from unit.controller.partitions import write_topic

BROKER_ID = 1
TICK_MS = 10


class Living:
    """A broker whose requests are answered, or lost, a tick after they were sent; its metadata follows the log."""

    def __init__(
        self, cluster: ControlledCluster | None = None, *, seed: int = 0, number: int = 0, **settings: Any
    ) -> None:
        self.cluster = cluster or ControlledCluster()
        request = registration(BROKER_ID, incarnation_number=number, directories=2)
        self.life = BrokerLife(request, LifeSettings(**settings))
        self.states: list[BrokerState] = []
        self.reasons: list[str] = []
        self.sent: list[Message] = []
        self.loss = 0.0
        self.sees_metadata = True
        self._rng = Random(seed)
        self._under_way: Message | None = None
        self._timer_ms: int | None = None
        self._seen_offset = -1

    def start(self) -> None:
        self.receive(lifecycle.Started())

    def receive(self, event: Event) -> None:
        for effect in self.life.step(event, self.cluster.now_ms):
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case lifecycle.Register(request) | lifecycle.SendHeartbeat(request):
                assert self._under_way is None, "one request is under way at a time"
                self._under_way = request
                self.sent.append(request)
            case lifecycle.SetTimer(at_ms):
                self._timer_ms = at_ms
            case lifecycle.EnterState(state):
                self.states.append(state)
                if state is BrokerState.RECOVERY:
                    self.receive(lifecycle.Recovered())
            case lifecycle.GiveUp(reason):
                self.reasons.append(reason)

    def run(self, duration_ms: int) -> None:
        for _ in range(duration_ms // TICK_MS):
            self.cluster.advance(TICK_MS)
            self._answer()
            self._publish()
            if self._timer_ms is not None and self._timer_ms <= self.cluster.now_ms:
                self._timer_ms = None
                self.receive(lifecycle.TimerFired())

    def _answer(self) -> None:
        request, self._under_way = self._under_way, None
        if request is None:
            return
        if self._rng.random() < self.loss:
            self.receive(lifecycle.RequestFailed(ErrorCode.NETWORK_EXCEPTION))
            return
        if isinstance(request, BrokerRegistrationRequest):
            event: Event = lifecycle.RegistrationAnswered(self.cluster.ask(request, BrokerRegistrationResponse))
        else:
            event = lifecycle.HeartbeatAnswered(self.cluster.ask(request, BrokerHeartbeatResponse))
        # It has come to pass, and nobody hears of it.
        is_lost = self._rng.random() < self.loss
        self.receive(lifecycle.RequestFailed(ErrorCode.NETWORK_EXCEPTION) if is_lost else event)

    def _publish(self) -> None:
        offset = self.cluster.loader.image.provenance.last_contained_offset
        if self.sees_metadata and offset > self._seen_offset:
            self._seen_offset = offset
            own = self.cluster.loader.image.cluster.brokers.get(BROKER_ID)
            is_own = own is not None and own.incarnation_id == self.life.registration.incarnation_id
            self.receive(lifecycle.MetadataPublished(offset, own.epoch if own and is_own else None, True))

    def state(self) -> BrokerState:
        return self.life.state

    @property
    def registered(self) -> BrokerRegistration:
        return self.cluster.image.cluster.brokers[BROKER_ID]

    def is_fenced(self) -> bool:
        return self.registered.is_fenced

    def cordoned(self) -> tuple[Uuid, ...] | None:
        return self.registered.cordoned_directories

    @property
    def heartbeats(self) -> list[BrokerHeartbeatRequest]:
        return [request for request in self.sent if isinstance(request, BrokerHeartbeatRequest)]


def running(**options: Any) -> Living:
    broker = Living(**options)
    broker.start()
    broker.run(200)
    assert broker.state() is BrokerState.RUNNING
    return broker


def test_a_broker_registers_catches_up_and_is_unfenced_without_waiting_for_its_next_heartbeat() -> None:
    broker = Living(heartbeat_interval_ms=10_000)
    broker.start()
    broker.run(100)
    assert broker.states == [BrokerState.STARTING, BrokerState.RECOVERY, BrokerState.RUNNING]
    assert not broker.is_fenced()
    assert broker.life.broker_epoch == broker.registered.epoch


def test_a_broker_that_has_not_caught_up_stays_fenced() -> None:
    broker = Living()
    broker.sees_metadata = False
    broker.start()
    broker.run(5_000)
    assert broker.state() is BrokerState.STARTING
    assert broker.is_fenced()
    broker.sees_metadata = True
    broker.run(1_000)
    assert broker.state() is BrokerState.RUNNING


def test_heartbeats_come_in_their_interval_and_keep_the_session() -> None:
    broker = running(heartbeat_interval_ms=2_000)
    before = len(broker.heartbeats)
    broker.run(60_000)
    assert len(broker.heartbeats) - before == pytest.approx(30, abs=1)
    assert not broker.is_fenced()


@given(st.integers(0, 2**32), st.floats(0, 0.7), st.lists(st.integers(0, 5_000), max_size=3))
def test_a_broker_comes_into_its_own_whatever_is_lost_and_whoever_leads(
    seed: int, loss: float, moves: list[int]
) -> None:
    broker = Living(seed=seed)
    broker.loss = loss
    broker.start()
    for duration_ms in moves:
        broker.run(duration_ms)
        broker.cluster.resign()
        broker.run(500)
        broker.cluster.lead()
    broker.loss = 0.0
    broker.run(4_000)
    assert broker.state() is BrokerState.RUNNING
    assert not broker.is_fenced()
    assert broker.life.broker_epoch == broker.registered.epoch
    assert broker.states == [BrokerState.STARTING, BrokerState.RECOVERY, BrokerState.RUNNING]


def test_failures_are_followed_by_pauses_that_grow() -> None:
    broker = Living()
    broker.loss = 1.0
    broker.start()
    broker.run(10_000)
    # Twenty and forty milliseconds and so on up to half a second.
    assert 20 <= len(broker.sent) <= 30


def test_a_broker_whose_session_ran_out_is_unfenced_by_its_next_heartbeat() -> None:
    broker = running()
    broker.loss = 1.0
    broker.run(15_000)
    assert broker.is_fenced()
    broker.loss = 0.0
    broker.run(1_000)
    assert not broker.is_fenced()
    assert broker.state() is BrokerState.RUNNING


def test_a_broker_that_was_unregistered_registers_again() -> None:
    broker = running()
    first_epoch = broker.life.broker_epoch
    broker.cluster.ask(UnregisterBrokerRequest(broker_id=BROKER_ID), UnregisterBrokerResponse)
    broker.run(5_000)
    assert broker.life.broker_epoch > first_epoch
    assert not broker.is_fenced()
    assert broker.state() is BrokerState.RUNNING


def test_a_second_incarnation_waits_until_the_session_of_the_first_is_over() -> None:
    first = running()
    second = Living(first.cluster, number=1)
    second.start()
    second.run(5_000)
    assert second.state() is BrokerState.STARTING
    second.run(6_000)
    assert second.state() is BrokerState.RUNNING


def test_a_broker_that_cannot_register_in_time_gives_up() -> None:
    broker = Living(initial_registration_timeout_ms=3_000)
    broker.loss = 1.0
    broker.start()
    broker.run(2_900)
    assert not broker.reasons
    broker.run(200)
    assert "could not be registered within 3000 ms" in broker.reasons[0]
    assert broker.state() is BrokerState.SHUTTING_DOWN


def test_a_broker_that_stops_lets_others_lead_first() -> None:
    broker = running()
    broker.cluster.start_brokers(2)
    write_topic(broker.cluster, "t", [[1, 2]])
    broker.receive(lifecycle.ShutdownRequested())
    broker.run(200)
    assert broker.state() is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    assert broker.cluster.partition("t").leader == 2
    # The other one has to hear of it before this one goes.
    broker.cluster.heartbeat(2)
    broker.run(200)
    assert broker.state() is BrokerState.SHUTTING_DOWN
    assert broker.is_fenced()


def test_a_second_wish_to_stop_does_not_wait_for_the_controller() -> None:
    broker = running()
    broker.loss = 1.0
    broker.receive(lifecycle.ShutdownRequested())
    broker.run(1_000)
    assert broker.state() is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    broker.receive(lifecycle.ShutdownRequested())
    assert broker.state() is BrokerState.SHUTTING_DOWN


def test_a_controller_that_never_answers_does_not_keep_a_broker_from_stopping() -> None:
    broker = running(session_timeout_ms=9_000)
    broker.loss = 1.0
    broker.receive(lifecycle.ShutdownRequested())
    broker.run(8_900)
    assert broker.state() is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    broker.run(200)
    assert broker.state() is BrokerState.SHUTTING_DOWN
    sent = len(broker.sent)
    broker.run(5_000)
    assert len(broker.sent) == sent, "whoever has stopped sends nothing"


def test_a_broker_waits_for_a_controller_that_answers_but_not_for_ever() -> None:
    broker = running(controlled_shutdown_timeout_ms=30_000)
    broker.cluster.start_brokers(2)
    write_topic(broker.cluster, "t", [[1, 2]])
    broker.receive(lifecycle.ShutdownRequested())
    for _ in range(14):
        # The other one lives and does not get on with the metadata.
        broker.cluster.heartbeat(2, current_metadata_offset=0)
        broker.run(2_000)
    assert broker.state() is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    broker.run(2_100)
    assert broker.state() is BrokerState.SHUTTING_DOWN


def test_a_broker_that_is_not_running_stops_at_once() -> None:
    broker = Living()
    broker.start()
    broker.receive(lifecycle.ShutdownRequested())
    assert broker.states == [BrokerState.STARTING, BrokerState.SHUTTING_DOWN]


def test_a_failed_directory_is_told_at_once_and_in_every_heartbeat_until_it_is_heard() -> None:
    broker = running()
    failed = directory(BROKER_ID, 1)
    broker.loss = 1.0
    broker.receive(lifecycle.DirectoryFailed(failed))
    broker.run(1_000)
    assert broker.heartbeats[-1].offline_log_dirs == [failed]
    broker.loss = 0.0
    broker.run(1_000)
    assert failed not in broker.registered.directories
    broker.run(60_000)
    assert not broker.reasons


def test_a_broker_whose_failed_directory_nobody_hears_of_stops() -> None:
    broker = running(log_dir_failure_timeout_ms=5_000)
    broker.loss = 1.0
    broker.receive(lifecycle.DirectoryFailed(directory(BROKER_ID, 1)))
    broker.run(5_100)
    assert "failed" in broker.reasons[0]


def test_cordoned_directories_are_told_once_the_cluster_knows_of_such() -> None:
    broker = Living()
    cordoned = (directory(BROKER_ID, 1),)
    broker.receive(lifecycle.DirectoriesCordoned(cordoned))
    broker.start()
    broker.run(200)
    assert broker.heartbeats[0].cordoned_log_dirs is None
    assert broker.cordoned() == cordoned
    broker.receive(lifecycle.DirectoriesCordoned(()))
    broker.run(50)
    assert broker.cordoned() == ()

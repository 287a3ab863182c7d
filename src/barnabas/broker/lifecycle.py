"""A broker's life in its cluster, as decisions: it registers, catches up, asks to be unfenced, and stops in good order.

    STARTING --caught up--> RECOVERY --unfenced--> RUNNING --asked to stop--> PENDING_CONTROLLED_SHUTDOWN
        any of them --free to stop, or nothing to hand over--> SHUTTING_DOWN

One request is under way at a time: a registration until there is an epoch, heartbeats from then on. An answer that is
lost or refused is followed by another try after a pause that grows; nothing here waits, sends or reads a clock. Where
the controller no longer knows the epoch, the same incarnation registers again and goes on in the state it was in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, assert_never

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from barnabas.protocol.uuid import Uuid

NO_EPOCH: Final = -1
NO_OFFSET: Final = -1
RETRY_MIN_MS: Final = 20
# Who may register again once the session of its predecessor has run out must not sleep through that moment.
RETRY_MAX_MS: Final = 500

# The controller does not know this broker, or not in this epoch.
_EPOCH_LOST: Final = (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED)


class BrokerState(IntEnum):
    """Kafka's states of a broker, by its numbers."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeSettings:
    """A stopping broker waits for its controller up to the limit, or until it has not been heard for a session.

    By then the controller has fenced it and given its leaderships away, and no answer would change that.
    """

    session_timeout_ms: int = 9_000
    heartbeat_interval_ms: int = 2_000
    initial_registration_timeout_ms: int = 60_000
    log_dir_failure_timeout_ms: int = 30_000
    is_shutdown_controlled: bool = True
    controlled_shutdown_timeout_ms: int = 5 * 60_000


# What happens to a broker


@dataclass(frozen=True, slots=True)
class Started:
    """The process is up; comes once, before every other event."""


@dataclass(frozen=True, slots=True)
class RegistrationAnswered:
    response: BrokerRegistrationResponse


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    response: BrokerHeartbeatResponse


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """No answer will come to the request that is under way."""

    error: ErrorCode


@dataclass(frozen=True, slots=True)
class MetadataPublished:
    """The metadata is replayed up to `offset`, and has this broker registered in `broker_epoch`, if at all."""

    offset: int
    broker_epoch: int | None = None
    has_cordoned_log_dirs: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """The logs are open and this broker can serve."""


@dataclass(frozen=True, slots=True)
class DirectoryFailed:
    directory: Uuid


@dataclass(frozen=True, slots=True)
class DirectoriesCordoned:
    """These, and no others, take no new replicas."""

    directories: tuple[Uuid, ...]


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """Somebody wants the broker to stop. A second time, it does so without waiting for the controller."""


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time of the last SetTimer has come. One that fires early or again does no harm."""


Event = (
    Started
    | RegistrationAnswered
    | HeartbeatAnswered
    | RequestFailed
    | MetadataPublished
    | Recovered
    | DirectoryFailed
    | DirectoriesCordoned
    | ShutdownRequested
    | TimerFired
)


# What is to be done about it


@dataclass(frozen=True, slots=True)
class Register:
    """Send it to the active controller, and report the answer."""

    request: BrokerRegistrationRequest


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    """Send it to the active controller, and report the answer."""

    request: BrokerHeartbeatRequest


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Report TimerFired at this time; it replaces the one set before."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class EnterState:
    """The broker is in this state from now on."""

    state: BrokerState


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The broker cannot be of use to its cluster and has to stop."""

    reason: str


Effect = Register | SendHeartbeat | SetTimer | EnterState | GiveUp


@dataclass(slots=True)
class BrokerLife:
    """`registration` is what this incarnation registers with, whenever it does."""

    registration: BrokerRegistrationRequest
    settings: LifeSettings
    state: BrokerState = BrokerState.NOT_RUNNING
    broker_epoch: int = NO_EPOCH
    _cordoned: tuple[Uuid, ...] = ()
    _metadata: MetadataPublished = MetadataPublished(NO_OFFSET)
    _is_registered: bool = False
    _is_asking: bool = False
    _is_recovered: bool = False
    _is_over: bool = False
    # A further request that is due as soon as the one under way is answered.
    _is_due: bool = False
    _failures: int = 0
    _next_ms: int | None = None
    _register_until_ms: int | None = None
    _stop_until_ms: int | None = None
    _stop_in_silence_ms: int | None = None
    # Directories that failed, and until when the controller must have heard of each; None once it has.
    _failed_directories: dict[Uuid, int | None] = field(default_factory=dict)
    _told_directories: tuple[Uuid, ...] = ()
    _timer_ms: int | None = None
    _effects: list[Effect] = field(default_factory=list)

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Apply one event. The driver must carry out the effects in the order returned, before the next step."""
        self._effects = []
        if not self._is_over:
            self._apply(event, now_ms)
            self._communicate(now_ms)
            self._set_timer()
        return self._effects

    def _apply(self, event: Event, now_ms: int) -> None:
        match event:
            case Started():
                self._enter(BrokerState.STARTING)
                self._register_until_ms = now_ms + self.settings.initial_registration_timeout_ms
                self._next_ms = now_ms
            case RegistrationAnswered(response):
                self._registered(response, now_ms)
            case HeartbeatAnswered(response):
                self._heard(response, now_ms)
            case RequestFailed():
                self._is_asking = False
                self._try_later(now_ms)
            case MetadataPublished():
                has_seen_itself = event.broker_epoch == self.broker_epoch != self._metadata.broker_epoch
                self._metadata = event
                if self._is_registered and has_seen_itself:
                    self._ask_at_once(now_ms)
            case Recovered():
                self._is_recovered = True
                self._ask_at_once(now_ms)
            case DirectoryFailed(directory):
                deadline_ms = now_ms + self.settings.log_dir_failure_timeout_ms
                if self._failed_directories.setdefault(directory, deadline_ms) == deadline_ms:
                    self._ask_at_once(now_ms)
            case DirectoriesCordoned(directories):
                if directories != self._cordoned:
                    self._cordoned = directories
                    self._ask_at_once(now_ms)
            case ShutdownRequested():
                self._stop(now_ms)
            case TimerFired():
                self._check_deadlines(now_ms)
            case _:
                assert_never(event)

    # Answers

    def _registered(self, response: BrokerRegistrationResponse, now_ms: int) -> None:
        self._is_asking = False
        if response.error_code != ErrorCode.NONE:
            self._try_later(now_ms)
            return
        self.broker_epoch = response.broker_epoch
        self._is_registered = True
        self._register_until_ms = None
        self._failures = 0
        self._ask_at_once(now_ms)

    def _heard(self, response: BrokerHeartbeatResponse, now_ms: int) -> None:
        self._is_asking = False
        if response.error_code != ErrorCode.NONE:
            self._is_registered = self._is_registered and response.error_code not in _EPOCH_LOST
            self._try_later(now_ms)
            return
        self._failures = 0
        for directory in self._told_directories:
            self._failed_directories[directory] = None
        pause_ms = self.settings.heartbeat_interval_ms
        match self.state:
            case BrokerState.STARTING:
                # Until the metadata has come this far there is nothing new to say, but lest that were never noticed.
                pause_ms = min(pause_ms, RETRY_MAX_MS)
                if response.is_caught_up:
                    self._enter(BrokerState.RECOVERY)
                    pause_ms = 0
            case BrokerState.RECOVERY:
                if not response.is_fenced:
                    self._enter(BrokerState.RUNNING)
                elif self._is_recovered:
                    pause_ms = min(pause_ms, RETRY_MAX_MS)
            case BrokerState.PENDING_CONTROLLED_SHUTDOWN:
                if response.should_shut_down:
                    self._end()
                    return
                self._stop_in_silence_ms = now_ms + self.settings.session_timeout_ms
                pause_ms = min(pause_ms, 2 * RETRY_MIN_MS)
        self._next_ms = now_ms if self._is_due else now_ms + pause_ms
        self._is_due = False

    def _try_later(self, now_ms: int) -> None:
        """After a failure never at once, however much there is to say."""
        pause_ms = min(RETRY_MIN_MS << min(self._failures, 10), RETRY_MAX_MS, self.settings.heartbeat_interval_ms)
        self._failures += 1
        self._is_due = False
        self._next_ms = now_ms + pause_ms

    # Requests

    def _ask_at_once(self, now_ms: int) -> None:
        if self.state is BrokerState.NOT_RUNNING:
            return
        if self._is_asking:
            self._is_due = True
        elif not self._failures:
            self._next_ms = now_ms

    def _communicate(self, now_ms: int) -> None:
        if self._is_over or self._is_asking or self._next_ms is None or now_ms < self._next_ms:
            return
        self._next_ms = None
        self._is_asking = True
        if not self._is_registered:
            self._effects.append(Register(self.registration))
            return
        self._told_directories = tuple(self._failed_directories)
        tells_cordoned = self._metadata.has_cordoned_log_dirs and self.state is not BrokerState.STARTING
        request = BrokerHeartbeatRequest(
            broker_id=self.registration.broker_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._metadata.offset,
            want_fence=not self._is_recovered,
            want_shut_down=self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN,
            offline_log_dirs=list(self._told_directories),
            cordoned_log_dirs=list(self._cordoned) if tells_cordoned else None,
        )
        self._effects.append(SendHeartbeat(request))

    # Ends

    def _stop(self, now_ms: int) -> None:
        if self.state is BrokerState.RUNNING and self.settings.is_shutdown_controlled:
            self._enter(BrokerState.PENDING_CONTROLLED_SHUTDOWN)
            self._stop_until_ms = now_ms + self.settings.controlled_shutdown_timeout_ms
            self._stop_in_silence_ms = now_ms + self.settings.session_timeout_ms
            self._ask_at_once(now_ms)
        else:
            self._end()

    def _end(self) -> None:
        self._is_over = True
        self._enter(BrokerState.SHUTTING_DOWN)

    def _check_deadlines(self, now_ms: int) -> None:
        self._timer_ms = None
        for deadline_ms in (self._stop_until_ms, self._stop_in_silence_ms):
            if deadline_ms is not None and now_ms >= deadline_ms:
                self._end()
                return
        if self._register_until_ms is not None and now_ms >= self._register_until_ms:
            timeout_ms = self.settings.initial_registration_timeout_ms
            self._give_up(f"the broker could not be registered within {timeout_ms} ms")
            return
        for directory, deadline_ms in self._failed_directories.items():
            if deadline_ms is not None and now_ms >= deadline_ms:
                self._give_up(f"no controller could be told that log directory {directory} failed")
                return

    def _give_up(self, reason: str) -> None:
        self._effects.append(GiveUp(reason))
        self._end()

    def _enter(self, state: BrokerState) -> None:
        self.state = state
        self._effects.append(EnterState(state))

    def _set_timer(self) -> None:
        stops = (self._stop_until_ms, self._stop_in_silence_ms)
        deadlines = [self._next_ms, self._register_until_ms, *stops, *self._failed_directories.values()]
        at_ms = min((each for each in deadlines if each is not None), default=None)
        if not self._is_over and at_ms is not None and at_ms != self._timer_ms:
            self._timer_ms = at_ms
            self._effects.append(SetTimer(at_ms))

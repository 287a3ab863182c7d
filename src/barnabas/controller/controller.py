"""The shell around decisions: a request or a due task is decided on, its records are replayed and handed to the quorum.

Each decision sees the records of those before it, committed or not. A response waits until all that it may have seen is
committed; who loses the leadership before that forgets what is not committed and answers NOT_CONTROLLER.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never

from barnabas.controller.activation import activation_records, bootstrap_version
from barnabas.controller.contacts import BrokerContact, contacts_at_election
from barnabas.controller.decision import (
    RECORDS_MAX,
    CommittedView,
    Decision,
    Operation,
    Query,
    RequestContext,
    Situation,
)
from barnabas.controller.effects import (
    Append,
    Appended,
    AppendRefused,
    BecameLeader,
    Effect,
    Event,
    KRaftUpgradeConfirmed,
    KRaftUpgradeRefused,
    MetadataCommitted,
    QuorumChanged,
    RequestReceived,
    Resigned,
    Respond,
    SetTimer,
    TimerFired,
    Token,
    UpgradeKRaftVersion,
)
from barnabas.controller.errors import InvalidUpdateVersion, NotController
from barnabas.controller.policies import PolicyViolation
from barnabas.controller.settings import ControllerSettings
from barnabas.controller.state import ControllerState
from barnabas.controller.tasks import PeriodicTask
from barnabas.metadata.framing import BATCH_BYTES_MAX, VersionedRecord, build_batches
from barnabas.metadata.image import MetadataImage
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import Message


class _Asker(NamedTuple):
    """Who is to be answered, and in which version."""

    token: Token
    request: Message
    version: int


class _Waiting(NamedTuple):
    """A response that is due when the log is committed up to an offset."""

    last_offset: int
    asker: _Asker
    response: Message
    refusal: ApiError | None


class _Appending(NamedTuple):
    """What the quorum was handed last, and the state before it."""

    before: ControllerState
    decision: Decision
    expected_offset: int


class _Upgrading(NamedTuple):
    """A decision that waits for the quorum's word."""

    asker: _Asker
    decision: Decision


class Controller:
    """One controller of the quorum, active or not.

    `operations` says how the active one decides on each request, `queries` what any answers by itself.
    """

    def __init__(
        self,
        *,
        settings: ControllerSettings,
        rng: Rng,
        bootstrap: Sequence[Message],
        operations: Mapping[type[Message], Operation],
        queries: Mapping[type[Message], Query],
        tasks: Sequence[PeriodicTask],
    ) -> None:
        self.settings = settings
        self.contacts: dict[int, BrokerContact] = {}
        self._rng = rng
        self._bootstrap = bootstrap
        self._operations = operations
        self._queries = queries
        self._tasks = tasks
        self._committed = ControllerState()
        self._newest = self._committed
        self._committed_offset = -1
        self._is_in_transaction = False
        self._next_offset = 0
        self._claim: BecameLeader | None = None
        self._active_epoch: int | None = None
        self._appending: _Appending | None = None
        self._upgrading: _Upgrading | None = None
        self._waiting: deque[_Waiting] = deque()
        self._due_ms: dict[str, int] = {}
        self._quorum = QuorumChanged(None, 0, frozenset())
        self._effects: list[Effect] = []
        self._wall_offset_ms = 0

    @property
    def active_epoch(self) -> int | None:
        """The epoch in which this is the active controller, or None."""
        return self._active_epoch

    @property
    def image(self) -> MetadataImage:
        """With every record decided on; the same as the committed one in a controller that is not active."""
        return self._newest.image

    @property
    def committed_image(self) -> MetadataImage:
        return self._committed.image

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Apply one event. The process must carry out the effects in the order returned, before the next step."""
        self._effects = []
        self._wall_offset_ms = 0
        self._check_turn(event)
        match event:
            case RequestReceived(token, request, context, wall_offset_ms):
                self._wall_offset_ms = wall_offset_ms
                self._receive(token, request, context, now_ms)
            case MetadataCommitted():
                self._commit(event, now_ms)
            case BecameLeader():
                assert self._active_epoch is None, "a leader resigns before it leads again"
                self._claim = event
                self._activate_when_caught_up(now_ms)
            case Resigned(epoch):
                if self._claim is not None and self._claim.epoch == epoch:
                    self._renounce()
            case QuorumChanged():
                self._quorum = event
            case Appended(base_offset):
                self._appended(base_offset, now_ms)
            case AppendRefused():
                self._appending = None
                self._renounce()
            case KRaftUpgradeConfirmed() | KRaftUpgradeRefused():
                self._upgraded(event, now_ms)
            case TimerFired(wall_offset_ms):
                self._wall_offset_ms = wall_offset_ms
                self._run_due_task(now_ms)
            case _:
                assert_never(event)
        return self._effects

    def _check_turn(self, event: Event) -> None:
        """What the quorum was handed last is reported before anything else but a change of the quorum itself."""
        if isinstance(event, QuorumChanged):
            return
        is_append_report = isinstance(event, Appended | AppendRefused)
        assert is_append_report == (self._appending is not None), "an append is reported at once"
        is_upgrade_report = isinstance(event, KRaftUpgradeConfirmed | KRaftUpgradeRefused)
        assert is_upgrade_report == (self._upgrading is not None), "an upgrade is reported at once"

    def situation(self, now_ms: int) -> Situation:
        """What a decision sees at this moment."""
        return Situation(
            image=self._newest.image,
            registration_offsets=self._newest.registration_offsets,
            contacts=self.contacts,
            settings=self.settings,
            rng=self._rng,
            now_ms=now_ms,
            wall_ms=now_ms + self._wall_offset_ms,
            next_offset=self._next_offset,
            kraft_version=self._quorum.kraft_version,
            voter_ids=self._quorum.voter_ids,
        )

    def _receive(self, token: Token, request: Message, context: RequestContext, now_ms: int) -> None:
        query = self._queries.get(type(request))
        if query is not None:
            self._effects.append(self._answer(query, token, request, context))
            return
        asker = _Asker(token, request, context.version)
        operation = self._operations[type(request)]
        try:
            if operation.needs is not None:
                context.access.require_of_cluster(operation.needs)
            if self._active_epoch is None:
                raise self._not_controller()
        except ApiError as error:
            self._refuse(asker, error)
            return
        try:
            decision = operation.decide(self.situation(now_ms), request, context)
            if decision.is_atomic and len(decision.records) > RECORDS_MAX:
                raise PolicyViolation(
                    f"the request would change {len(decision.records)} records at once, the most is {RECORDS_MAX}: "
                    "ask for less at a time"
                )
        except ApiError as error:
            decision = Decision(self._refusal(asker, error), refusal=error)
        upgrade = decision.kraft_upgrade
        if upgrade is not None:
            self._upgrading = _Upgrading(asker, decision)
            self._effects.append(UpgradeKRaftVersion(self._active_epoch, upgrade.level, upgrade.validate_only))
            return
        self._carry_out(asker, decision, now_ms)

    def _refusal(self, asker: _Asker, error: ApiError) -> Message:
        return self._operations[type(asker.request)].refuse(asker.request, error, asker.version)

    def _refuse(self, asker: _Asker, error: ApiError) -> None:
        self._effects.append(Respond(asker.token, self._refusal(asker, error), error))

    def _answer(self, query: Query, token: Token, request: Message, context: RequestContext) -> Respond:
        view = CommittedView(self._committed.image, self.settings, self._quorum.leader_id)
        try:
            if query.needs is not None:
                context.access.require_of_cluster(query.needs)
            return Respond(token, query.answer(view, request, context))
        except ApiError as error:
            return Respond(token, query.refuse(request, error, context.version), error)

    def _upgraded(self, event: KRaftUpgradeConfirmed | KRaftUpgradeRefused, now_ms: int) -> None:
        upgrading = self._upgrading
        assert upgrading is not None
        self._upgrading = None
        asker, decision = upgrading
        if isinstance(event, KRaftUpgradeRefused):
            is_deposed = event.error is ErrorCode.NOT_LEADER_OR_FOLLOWER
            error: ApiError = self._not_controller() if is_deposed else InvalidUpdateVersion(event.message)
            decision = Decision(self._refusal(asker, error), refusal=error)
        self._carry_out(asker, decision, now_ms)

    def _carry_out(self, asker: _Asker, decision: Decision, now_ms: int) -> None:
        """Adopt a decision and answer, now or once all that it may have seen is committed."""
        assert decision.response is not None, "a request is answered"
        last_offset = self._adopt(decision, now_ms)
        # Without records it was a read after all, but perhaps of what is not committed yet.
        if last_offset > self._committed.last_offset:
            self._waiting.append(_Waiting(last_offset, asker, decision.response, decision.refusal))
        else:
            self._effects.append(Respond(asker.token, decision.response, decision.refusal))

    def _adopt(self, decision: Decision, now_ms: int) -> int:
        """Replay a decision and hand its records to the quorum; the offset up to which its maker has seen the log."""
        for broker_id, contact in decision.contacts.items():
            if contact is None:
                self.contacts.pop(broker_id, None)
            else:
                self.contacts[broker_id] = contact
        if not decision.records:
            self._mark_shutdown(decision, self._next_offset - 1)
            return self._newest.last_offset
        assert self._active_epoch is not None
        before = self._newest
        self._appending = _Appending(before, decision, self._next_offset)
        self._newest = before.replayed(decision.records, self._next_offset, self._active_epoch, now_ms)
        self._next_offset = self._newest.last_offset + 1
        self._effects.append(Append(self._active_epoch, self._framed(before.image, decision, now_ms)))
        return self._newest.last_offset

    def _framed(self, image: MetadataImage, decision: Decision, now_ms: int) -> bytes:
        version = image.features.metadata_version or bootstrap_version(self._bootstrap)
        records = [VersionedRecord(record, version.record_version(record)) for record in decision.records]
        assert self._active_epoch is not None
        batches = bytearray()
        for start in range(0, len(records), RECORDS_MAX):
            chunk = records[start : start + RECORDS_MAX]
            for batch in build_batches(
                chunk,
                base_offset=0,
                epoch=self._active_epoch,
                timestamp_ms=now_ms,
                batch_bytes_max=2**31 if decision.is_atomic else BATCH_BYTES_MAX,
            ):
                batches += batch
        return bytes(batches)

    def _appended(self, base_offset: int, now_ms: int) -> None:
        appending = self._appending
        assert appending is not None
        assert self._active_epoch is not None
        self._appending = None
        shift = base_offset - appending.expected_offset
        if shift:
            # The quorum wrote control records of its own meanwhile, and these came to stand behind them.
            self._newest = appending.before.replayed(
                appending.decision.records, base_offset, self._active_epoch, now_ms
            )
            self._next_offset += shift
            if self._waiting and self._waiting[-1].last_offset == self._newest.last_offset - shift:
                waiting = self._waiting.pop()
                self._waiting.append(waiting._replace(last_offset=self._newest.last_offset))
        self._mark_shutdown(appending.decision, self._newest.last_offset)

    def _mark_shutdown(self, decision: Decision, last_offset: int) -> None:
        broker_id = decision.shutting_down
        if broker_id is not None and self.contacts[broker_id].shutdown_offset is None:
            self.contacts[broker_id] = self.contacts[broker_id]._replace(shutdown_offset=last_offset)

    def _commit(self, event: MetadataCommitted, now_ms: int) -> None:
        self._committed = self._committed.committed(event.image)
        self._committed_offset = event.last_offset
        self._is_in_transaction = event.is_in_transaction
        if self._active_epoch is None:
            self._newest = self._committed
            self._activate_when_caught_up(now_ms)
            return
        if self._committed.last_offset >= self._newest.last_offset:
            # Nothing is on its way: go on from the committed image, so that there are not two of everything for long.
            self._newest = ControllerState(event.image, self._newest.registration_offsets)
            self._next_offset = max(self._next_offset, event.last_offset + 1)
        while self._waiting and self._waiting[0].last_offset <= self._committed.last_offset:
            waiting = self._waiting.popleft()
            self._effects.append(Respond(waiting.asker.token, waiting.response, waiting.refusal))

    def _activate_when_caught_up(self, now_ms: int) -> None:
        claim = self._claim
        if claim is None or self._committed_offset < claim.start_offset:
            return
        self._active_epoch = claim.epoch
        self._next_offset = self._committed_offset + 1
        self.contacts = contacts_at_election(
            self._committed.image.cluster.brokers.contents(), now_ms, self.settings.own_broker_id
        )
        records = activation_records(
            self._committed.image, self._bootstrap, self.settings, is_in_transaction=self._is_in_transaction
        )
        self._adopt(Decision(records=records), now_ms)
        self._due_ms = {
            task.name: now_ms + interval_ms
            for task in self._tasks
            if (interval_ms := task.interval_ms(self.settings)) is not None
        }
        self._set_timer()

    def _renounce(self) -> None:
        self._claim = None
        self._active_epoch = None
        self._newest = self._committed
        self.contacts = {}
        self._due_ms = {}
        waiting, self._waiting = self._waiting, deque()
        for each in waiting:
            self._refuse(each.asker, self._not_controller())

    def _not_controller(self) -> NotController:
        leader_id = self._quorum.leader_id
        if leader_id is None or leader_id == self.settings.node_id:
            return NotController("no controller is active at the moment; ask again")
        return NotController(f"the active controller is node {leader_id}")

    def _run_due_task(self, now_ms: int) -> None:
        """The one task that is due longest: each sees what the one before it decided."""
        due = [task for task in self._tasks if self._due_ms.get(task.name, now_ms + 1) <= now_ms]
        if due:
            task = min(due, key=lambda each: self._due_ms[each.name])
            outcome = task.decide(self.situation(now_ms))
            interval_ms = task.interval_ms(self.settings)
            assert interval_ms is not None, "a task that is off is never due"
            self._due_ms[task.name] = now_ms if outcome.has_more else now_ms + interval_ms
            self._adopt(outcome.decision, now_ms)
        self._set_timer()

    def _set_timer(self) -> None:
        if self._due_ms:
            self._effects.append(SetTimer(min(self._due_ms.values())))

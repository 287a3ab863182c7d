"""Runs a Controller on the quorum's log: what is committed goes in, what it decides goes to the quorum.

The two take turns. While the quorum is in a step, what it tells is only noted; when it is the controller's turn, an
append is handed to the quorum and its outcome reported before anything else reaches the controller.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from typing import Final, assert_never

from barnabas.broker.call import Pending
from barnabas.controller import effects as wanted
from barnabas.controller.controller import Controller
from barnabas.controller.decision import RequestContext
from barnabas.controller.effects import Effect, Event
from barnabas.ports.clock import Clock
from barnabas.protocol.schema import Message
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.runtime.quorum.driver import RaftDriver, Refused
from barnabas.runtime.quorum.following import MetadataFollower
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshotting import Snapshotter
from barnabas.runtime.timers import DeadlineTimer

LOG: Final = logging.getLogger(__name__)


class ControllerProcess:
    """A state machine for a RaftDriver. `published` is called after each advance of the committed metadata.

    `clock` never jumps; `wall_clock` tells the time of day, where that is another.
    """

    def __init__(
        self,
        controller: Controller,
        replay: MetadataReplay,
        *,
        clock: Clock,
        wall_clock: Clock | None = None,
        loop: AbstractEventLoop,
        published: Callable[[], None],
    ) -> None:
        self.controller = controller
        self.follower = MetadataFollower(replay, loop=loop, advanced=self._publish)
        self._clock = clock
        self._wall_clock = wall_clock or clock
        self._published = published
        self._events: deque[Event] = deque()
        self._quorum: wanted.QuorumChanged | None = None
        self._active_epoch: int | None = None
        self._timer = DeadlineTimer(loop, clock, lambda _: self._receive(wanted.TimerFired(self._wall_offset_ms())))

    def attach(self, driver: RaftDriver, snapshotter: Snapshotter) -> None:
        """Meet the quorum; before anything happens."""
        self.follower.attach(driver, snapshotter)

    @property
    def driver(self) -> RaftDriver:
        return self.follower.driver

    def load(self) -> None:
        """Take in the latest snapshot before the node joins the quorum: what it says is committed."""
        self.follower.load()

    def ask(self, request: Message, context: RequestContext) -> Pending:
        """Put a request to the controller."""
        pending = Pending()
        self._receive(wanted.RequestReceived(pending, request, context, self._wall_offset_ms()))
        return pending

    def _wall_offset_ms(self) -> int:
        return self._wall_clock.now_ms() - self._clock.now_ms()

    def close(self) -> None:
        self._timer.cancel()

    # What the quorum tells

    def became_leader(self, epoch: int, start_offset: int) -> None:
        self._events.append(wanted.BecameLeader(epoch, start_offset))

    def resigned(self, epoch: int) -> None:
        self._timer.cancel()
        self._events.append(wanted.Resigned(epoch))

    def high_watermark_advanced(self, offset: int) -> None:
        self.follower.high_watermark_advanced(offset)

    def snapshot_installed(self, snapshot_id: OffsetAndEpoch) -> None:
        self.follower.snapshot_installed(snapshot_id)

    # Its turn

    def proceed(self) -> bool:
        quorum = self._quorum_now()
        if quorum != self._quorum:
            self._quorum = quorum
            self._step(quorum)
        elif self._events:
            self._step(self._events.popleft())
        else:
            return self.follower.proceed()
        return True

    def _quorum_now(self) -> wanted.QuorumChanged:
        node = self.driver.node
        return wanted.QuorumChanged(node.role.leader_id, node.history.kraft_version, node.history.voters.ids)

    def _receive(self, event: Event) -> None:
        self._events.append(event)
        self.driver.run()

    def _step(self, event: Event) -> None:
        for effect in self.controller.step(event, self._clock.now_ms()):
            self._carry_out(effect)
        if self.controller.active_epoch != self._active_epoch:
            self._active_epoch = self.controller.active_epoch
            if self._active_epoch is None:
                LOG.info("no longer the active controller")
            else:
                LOG.info("active controller", extra={"epoch": self._active_epoch})

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case wanted.Append(epoch, batches):
                outcome = self.driver.append(epoch, batches)
                self._events.appendleft(
                    wanted.AppendRefused() if isinstance(outcome, Refused) else wanted.Appended(outcome)
                )
            case wanted.UpgradeKRaftVersion(epoch, level, validate_only):
                refusal = self.driver.upgrade_kraft_version(epoch, level, validate_only=validate_only)
                self._events.appendleft(
                    wanted.KRaftUpgradeConfirmed() if refusal is None else wanted.KRaftUpgradeRefused(*refusal)
                )
            case wanted.Respond(pending, response):
                assert isinstance(pending, Pending)
                pending.complete(response)
            case wanted.SetTimer(at_ms):
                self._timer.cancel()
                self._timer.arm(at_ms)
            case _:
                assert_never(effect)

    def _publish(self) -> None:
        replay = self.follower.replay
        self._events.append(wanted.MetadataCommitted(replay.image, replay.next_offset - 1, replay.is_in_transaction))
        self._published()

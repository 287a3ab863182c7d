"""Keeps up with the committed metadata in turns of the loop, and tells those who follow it what has changed.

Subscribers hear nothing before the node has caught up with the quorum once: what a log of old says may long be over.
Then each is told the whole as one difference from nothing, and from there on every step, as (delta, image). A snapshot
that was installed meanwhile is one step too, whose delta is the difference between two images: what is gone is in it.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Final

from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.runtime.quorum.driver import RaftDriver
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshotting import Snapshotter

LOG: Final = logging.getLogger(__name__)

# The image says by its provenance how far into the log it goes. It is told in a turn of the quorum's state machine.
Subscriber = Callable[[MetadataDelta, MetadataImage], object]


def _nobody() -> None:
    """Nobody wants to know."""


class MetadataFollower:
    """A state machine for a RaftDriver, for a node that never leads; within one that may, its part that follows.

    `advanced` is called after each advance of what is committed, whether an image came of it or not.
    """

    def __init__(
        self, replay: MetadataReplay, *, loop: AbstractEventLoop, advanced: Callable[[], None] = _nobody
    ) -> None:
        self.replay: Final = replay
        self._loop = loop
        self._advanced = advanced
        self._subscribers: list[Subscriber] = []
        self._high_watermark: int | None = None
        self._is_resting = False
        self.is_caught_up = False
        self._driver: RaftDriver | None = None
        self._snapshotter: Snapshotter | None = None

    def attach(self, driver: RaftDriver, snapshotter: Snapshotter) -> None:
        """Meet the quorum; before anything happens."""
        self._driver, self._snapshotter = driver, snapshotter

    @property
    def driver(self) -> RaftDriver:
        assert self._driver is not None, "a follower is attached to its quorum first"
        return self._driver

    @property
    def snapshotter(self) -> Snapshotter:
        assert self._snapshotter is not None, "a follower is attached to its quorum first"
        return self._snapshotter

    def subscribe(self, subscriber: Subscriber) -> None:
        """Tell it of every step. If the node has caught up already, it is told the whole at once."""
        self._subscribers.append(subscriber)
        if self.is_caught_up:
            image = self.replay.image
            subscriber(MetadataDelta.between(EMPTY_IMAGE, image), image)

    def load(self) -> None:
        """Take in the latest snapshot before the node joins the quorum: what it says is committed."""
        if self.replay.load_snapshot():
            self._loaded()

    # What the quorum tells

    def became_leader(self, epoch: int, start_offset: int) -> None:
        raise AssertionError(f"a node that only follows leads epoch {epoch} from offset {start_offset} on")

    def resigned(self, epoch: int) -> None:
        raise AssertionError(f"a node that only follows has led epoch {epoch}")

    def high_watermark_advanced(self, offset: int) -> None:
        self._high_watermark = offset

    def snapshot_installed(self, snapshot_id: OffsetAndEpoch) -> None:
        self._high_watermark = max(self._high_watermark or 0, snapshot_id.offset)

    # Its turn

    def proceed(self) -> bool:
        if self._is_resting or self._high_watermark is None:
            return False
        if self.replay.snapshot_ahead is not None:
            self._load_snapshot_piece()
        elif self._high_watermark > self.replay.next_offset:
            self._load_piece(self._high_watermark)
        elif not self.is_caught_up:
            self.is_caught_up = True
            LOG.info("caught up with the quorum", extra={"offset": self.replay.next_offset})
            self._tell_difference(EMPTY_IMAGE)
        else:
            return False
        return True

    def _load_snapshot_piece(self) -> None:
        before = self.replay.image
        if self.replay.load_snapshot_piece():
            if self.is_caught_up:
                self._tell_difference(before)
            self._loaded()
        self._rest()

    def _loaded(self) -> None:
        self.snapshotter.mark_loaded()
        self._advanced()

    def _load_piece(self, high_watermark: int) -> None:
        history = self.driver.node.history
        for delta, image, size_bytes in self.replay.load_piece(high_watermark):
            if self.is_caught_up:
                self._tell(delta, image)
            self.snapshotter.consider(image, size_bytes, history)
        self._advanced()
        if high_watermark > self.replay.next_offset:
            self._rest()

    def _tell_difference(self, before: MetadataImage) -> None:
        if self._subscribers:
            image = self.replay.image
            self._tell(MetadataDelta.between(before, image), image)

    def _tell(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for subscriber in self._subscribers:
            subscriber(delta, image)

    def _rest(self) -> None:
        """Let others have their turn before the next piece."""
        self._is_resting = True
        self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_resting = False
        self.driver.run()

"""A member of a consumer group as a client of the newer protocol keeps it: heartbeats tell it what to read.

What it does not read any longer it says at its next heartbeat. Where it does not know whether it was heard, it says
everything again; where it was fenced, it gives up all that it reads and joins again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, RequestTopicPartitions
from barnabas.sim.group_member import GROUP, REBALANCE_MS, STEP_MS, TOPIC, Member, Surroundings
from barnabas.sim.group_world import TOPIC_ID

VERSION: Final = 1
JOINING: Final = 0
LEAVING: Final = -1
# Where to go on reading is not known yet.
UNKNOWN: Final = -1
LEAVING_FOR_A_WHILE: Final = -2
# A killed member holds its instance until its session ends; one that still lives holds it for longer than this.
TAKEOVERS_MAX: Final = 100
HAS_TO_REJOIN: Final = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
)


class ConsumerMember(Member):
    """Its generation is its epoch."""

    def __init__(self, around: Surroundings, name: int, instance_id: str | None = None) -> None:
        self._takeovers = 0
        super().__init__(around, name, instance_id)

    def _join(self) -> None:
        """Join, or say everything again: that is the same to one that keeps its epoch."""
        self.member_id = self.member_id or f"m-{self.name}"
        self.generation = max(self.generation, JOINING)
        self._beat(is_full=True)

    def _beat(self, *, is_full: bool) -> None:
        reads = [RequestTopicPartitions(topic_id=TOPIC_ID, partitions=sorted(self.owned))] if self.owned else []
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.generation,
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS if is_full else -1,
            subscribed_topic_names=[TOPIC] if is_full else None,
            topic_partitions=reads,
        )
        self._ask(request, VERSION, self._told)

    def _told(self, answer: Any) -> None:
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            self._recover(code, self._join)
            return
        self.generation = answer.member_epoch
        if answer.assignment is not None:
            assigned = [number for topic in answer.assignment.topic_partitions for number in topic.partitions]
            self.owned = {partition: self.owned.get(partition, UNKNOWN) for partition in sorted(assigned)}
            self._around.owns(self)
        if UNKNOWN in self.owned.values():
            self._fetch()
        else:
            self._later(self._step, STEP_MS)

    def _recover(self, code: ErrorCode, again: Callable[[], None]) -> None:
        if code in HAS_TO_REJOIN:
            self._lose()
            self.generation = JOINING
            self._later(self._join)
        elif code is ErrorCode.STALE_MEMBER_EPOCH:
            # The next heartbeat tells the epoch.
            self._later(self._join)
        elif code is ErrorCode.UNRELEASED_INSTANCE_ID and self._takeovers < TAKEOVERS_MAX:
            self._takeovers += 1
            self._later(self._join)
        elif code is ErrorCode.UNRELEASED_INSTANCE_ID:
            self.is_fenced = True
            self.end()
        else:
            super()._recover(code, again)

    def _step(self) -> None:
        if self.owned and self._around.rng.random() < 0.5:
            self._commit()
        else:
            self._beat(is_full=False)

    def leave(self) -> None:
        """Say goodbye, or, with an identity of its own, that it will be back."""
        if self.generation > JOINING:
            request = ConsumerGroupHeartbeatRequest(
                group_id=GROUP,
                member_id=self.member_id,
                member_epoch=LEAVING if self.instance_id is None else LEAVING_FOR_A_WHILE,
                instance_id=self.instance_id,
            )
            self._around.send(self, request, VERSION, lambda _: None)
        self.end()

"""A member of a classic group as a client keeps it: it joins, syncs, commits, and believes what it is told.

It does one thing after the other on one connection, which it gives up when an answer does not come in time; what it
has sent on it is then lost, unless it was answered. What it owns and commits is told to the checks of its world.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, Protocol

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.protocol.schema import Message

GROUP: Final = "g"
TOPIC: Final = "t"
SESSION_MS: Final = 6_000
REBALANCE_MS: Final = 10_000
STEP_MS: Final = 300
BACKOFF_MS: Final = 100
ANSWER_MS: Final = 8_000

LOST_COORDINATOR: Final = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)


class Surroundings(Protocol):
    """What a member knows of its world. `send` has an answer, or None when it will not come, told once."""

    @property
    def rng(self) -> Random: ...

    @property
    def partitions(self) -> int: ...

    def send(self, member: Member, request: Message, version: int, told: Callable[[Any | None], None]) -> None: ...

    def wait(self, member: Member, delay_ms: int, happen: Callable[[], None]) -> None: ...

    def owns(self, member: Member) -> None: ...

    def lost(self) -> None: ...

    def committed(self, partition: int, offset: int) -> None: ...

    def least_committed(self) -> dict[int, int]: ...

    def fetched(self, partition: int, offset: int, at_least: int) -> None: ...


class Member:
    """`owned` are the partitions that it was given, with how far it has read in each."""

    def __init__(self, around: Surroundings, name: int, instance_id: str | None = None) -> None:
        self.name = name
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.owned: dict[int, int] = {}
        self.is_gone = False
        self.is_fenced = False
        self._around = around
        self._join()

    # Asking

    def _ask(self, request: Message, version: int, told: Callable[[Any], None]) -> None:
        def hear(answer: Any | None) -> None:
            if self.is_gone:
                return
            if answer is None:
                # The coordinator may have moved. What it was asked is asked again by joining.
                self._later(self._join)
            else:
                told(answer)

        self._around.send(self, request, version, hear)

    def _later(self, step: Callable[[], None], delay_ms: int = BACKOFF_MS) -> None:
        self._around.wait(self, delay_ms, lambda: None if self.is_gone else step())

    def _recover(self, code: ErrorCode, again: Callable[[], None]) -> None:
        """Do what a client does about an error."""
        if code is ErrorCode.FENCED_INSTANCE_ID:
            self.is_fenced = True
            self.end()
        elif code is ErrorCode.UNKNOWN_MEMBER_ID:
            self._lose()
            self.member_id = ""
            self._later(self._join)
        elif code in (ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS):
            self._lose()
            self._later(self._join, 1)
        else:
            assert code in (*LOST_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), code.name
            self._later(again)

    def _lose(self) -> None:
        if self.owned:
            self._around.lost()
        self.owned = {}

    # Joining

    def _join(self) -> None:
        self._lose()
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        self._ask(request, 9, self._joined)

    def _joined(self, answer: JoinGroupResponse) -> None:
        code = ErrorCode(answer.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            self._join()
        elif code is ErrorCode.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            assignments = []
            if answer.leader == self.member_id and not answer.skip_assignment:
                assignments = self._assign(sorted(member.member_id for member in answer.members))
            self._sync(assignments)
        else:
            self._recover(code, self._join)

    def _assign(self, member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
        return [
            SyncGroupRequestAssignment(
                member_id=member_id, assignment=bytes(range(index, self._around.partitions, len(member_ids)))
            )
            for index, member_id in enumerate(member_ids)
        ]

    def _sync(self, assignments: list[SyncGroupRequestAssignment]) -> None:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=assignments,
        )

        def synced(answer: Any) -> None:
            if answer.error_code != ErrorCode.NONE:
                self._recover(ErrorCode(answer.error_code), lambda: self._sync(assignments))
                return
            self.owned = dict.fromkeys(answer.assignment, -1)
            self._around.owns(self)
            self._fetch()

        self._ask(request, 5, synced)

    # Reading

    def _fetch(self) -> None:
        """Find out where to go on; nothing that somebody was told is committed may be missing."""
        known = self._around.least_committed()
        topics = [OffsetFetchRequestTopics(name=TOPIC, partition_indexes=sorted(self.owned))]
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=topics)], require_stable=True
        )

        def fetched(answer: Any) -> None:
            (group,) = answer.groups
            if group.error_code != ErrorCode.NONE:
                self._recover(ErrorCode(group.error_code), self._fetch)
                return
            for topic in group.topics:
                for partition in topic.partitions:
                    index, offset = partition.partition_index, partition.committed_offset
                    self._around.fetched(index, offset, known.get(index, -1))
                    self.owned[index] = max(offset, 0)
            self._later(self._step, STEP_MS)

        self._ask(request, 9, fetched)

    def _step(self) -> None:
        """Read a little and commit it, or just show that it lives."""
        if self.owned and self._around.rng.random() < 0.7:
            self._commit()
            return
        request = HeartbeatRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        self._ask(request, 4, lambda answer: self._go_on(ErrorCode(answer.error_code)))

    def _go_on(self, code: ErrorCode) -> None:
        if code is ErrorCode.NONE:
            self._later(self._step, STEP_MS)
        else:
            self._recover(code, self._step)

    def _commit(self) -> None:
        positions = {partition: offset + 1 + self._around.rng.randrange(3) for partition, offset in self.owned.items()}
        self.owned = positions
        partitions = [
            OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset, committed_metadata="")
            for partition, offset in positions.items()
        ]
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)],
        )

        def committed(answer: Any) -> None:
            code = ErrorCode.NONE
            for partition in answer.topics[0].partitions:
                code = code or ErrorCode(partition.error_code)
                if partition.error_code == ErrorCode.NONE:
                    self._around.committed(partition.partition_index, positions[partition.partition_index])
            self._go_on(code)

        self._ask(request, 9, committed)

    # Its end

    def leave(self) -> None:
        """Say goodbye, which static members do not."""
        if self.instance_id is None and self.member_id:
            identity = MemberIdentity(member_id=self.member_id)
            self._around.send(self, LeaveGroupRequest(group_id=GROUP, members=[identity]), 5, lambda _: None)
        self.end()

    def end(self) -> None:
        self._lose()
        self.is_gone = True

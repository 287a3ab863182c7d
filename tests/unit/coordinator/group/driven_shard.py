"""A shard of groups with the least around it that can carry its decisions out: a list for a log, virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from barnabas.coordinator.decision import CoordinatorRecord, SetTimer, TimerKey
from barnabas.coordinator.events import AppendFailed, Event, Loaded, RequestContext, RequestReceived, TimerFired
from barnabas.coordinator.group.classic.group import ClassicGroup
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.coordinator.group.shard import GroupShard
from barnabas.metadata.image import EMPTY_IMAGE
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.protocol.schema import Message
from barnabas.records.batch import NO_PRODUCER_ID

BEGINNING_MS = 1_700_000_000_000
SESSION_MS = 10_000
REBALANCE_MS = 30_000


class DrivenShard:
    """`answers` are those given so far by token; tokens count up. With `failure` set, nothing can be written."""

    def __init__(self, *, log: Sequence[CoordinatorRecord] = (), **settings: Any) -> None:
        self.settings = replace(GroupSettings(initial_rebalance_delay_ms=0), **settings)
        self.shard = GroupShard(lambda: self.settings, Random(7))
        self.now_ms = BEGINNING_MS
        self.log: list[CoordinatorRecord] = []
        self.answers: dict[int, Any] = {}
        self.failure: ErrorCode | None = None
        self._requests: list[Message] = []
        self._timers: dict[TimerKey, int] = {}
        for record in log:
            self._write(record)
        self.step(Loaded(EMPTY_IMAGE))

    def _write(self, record: CoordinatorRecord) -> None:
        self.shard.replay(len(self.log), NO_PRODUCER_ID, record.key, record.value)
        self.log.append(record)

    def step(self, event: Event) -> None:
        decision = self.shard.step(event, self.now_ms)
        if decision.records and self.failure is not None:
            for token, _ in decision.responses:
                assert isinstance(token, int)
                self._answer(token, self.shard.refuse(self._requests[token], self.failure))
            self.step(AppendFailed(tuple(decision.records), self.failure))
            return
        for record in decision.records:
            self._write(record)
        for timer in decision.timers:
            self._timers.pop(timer.key, None)
            if isinstance(timer, SetTimer):
                self._timers[timer.key] = self.now_ms + timer.delay_ms
        for token, response in decision.responses:
            assert isinstance(token, int)
            self._answer(token, response)

    def _answer(self, token: int, response: Message) -> None:
        assert token not in self.answers, "a request is answered once"
        self.answers[token] = response

    def pass_time(self, ms: int) -> None:
        """Let time go by, and the timers fire in their order."""
        end_ms = self.now_ms + ms
        while self._timers:
            key = min(self._timers, key=lambda key: (self._timers[key], key))
            if self._timers[key] > end_ms:
                break
            self.now_ms = self._timers.pop(key)
            self.step(TimerFired(key))
        self.now_ms = end_ms

    @property
    def asked(self) -> int:
        """How many requests were made."""
        return len(self._requests)

    def has_timer(self, *key: str) -> bool:
        return key in self._timers

    def reloaded(self) -> DrivenShard:
        """A shard that knows what the log says."""
        return DrivenShard(log=self.log)

    # Asking

    def ask(self, request: Message, version: int, client_id: str = "c") -> int:
        token = len(self._requests)
        self._requests.append(request)
        self.step(RequestReceived(token, request, RequestContext(version, client_id, "/127.0.0.1")))
        return token

    def told(self, request: Message, version: int) -> Any:
        return self.answers[self.ask(request, version)]

    def group(self, group_id: str = "g") -> ClassicGroup:
        group = self.shard.state.groups.get(group_id)
        assert isinstance(group, ClassicGroup)
        return group

    def join(self, member_id: str = "", version: int = 9, **terms: Any) -> int:
        return self.ask(join_request(member_id, **terms), version)

    def new_member(self, **terms: Any) -> tuple[str, int]:
        """The id that a dynamic member is given, and its request to join with it."""
        answer = self.answers[self.join(**terms)]
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, answer
        return answer.member_id, self.join(answer.member_id, **terms)

    def stable_group(self, count: int = 1, **terms: Any) -> list[str]:
        """The members of a group that has settled, the leader first."""
        members = [self.new_member(**terms)[0]]
        self.pass_time(0)
        for _ in range(count - 1):
            members.append(self.new_member(**terms)[0])
            for member_id in members:
                if member_id not in self.group().joining:
                    self.join(member_id, **terms)
        for member_id in reversed(members):
            self.sync(member_id, {each: each.encode() for each in members})
        assert self.group().state_name == "Stable"
        return members

    def sync(self, member_id: str, assignments: dict[str, bytes] | None = None, **fields: Any) -> int:
        fields = {"generation_id": self.group().generation, **fields}
        handed_in = [
            SyncGroupRequestAssignment(member_id=each, assignment=part) for each, part in (assignments or {}).items()
        ]
        return self.ask(SyncGroupRequest(group_id="g", member_id=member_id, assignments=handed_in, **fields), 5)

    def heartbeat(self, member_id: str, **fields: Any) -> ErrorCode:
        fields = {"generation_id": self.group().generation, **fields}
        return ErrorCode(self.told(HeartbeatRequest(group_id="g", member_id=member_id, **fields), 4).error_code)

    def leave(self, *identities: MemberIdentity) -> list[ErrorCode]:
        answer = self.told(LeaveGroupRequest(group_id="g", members=list(identities)), 5)
        return [ErrorCode(member.error_code) for member in answer.members]

    def joined(self, token: int) -> JoinGroupResponse:
        answer = self.answers[token]
        assert isinstance(answer, JoinGroupResponse)
        return answer


def join_request(
    member_id: str = "",
    *,
    protocols: Sequence[str] = ("range",),
    metadata: bytes = b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff",
    protocol_type: str = "consumer",
    instance_id: str | None = None,
    session_timeout_ms: int = SESSION_MS,
    rebalance_timeout_ms: int = REBALANCE_MS,
) -> JoinGroupRequest:
    """A request by a consumer of the topic t."""
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name in protocols],
    )

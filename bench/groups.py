"""Classic groups beside Apache's: commits, rebalances of a large group, the way to the first record, and memory.

One node each, one after the other in the same run, under the same clients; the JVM is warm when it is measured. The
members of the large group send heartbeats so often that little of what is measured is the wait for the next one.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from confluent_kafka import Consumer, Producer

from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.runtime.peer import Peer
from bench.broker_nodes import BrokerNode, Cost
from bench.controllers import PAUSE_S, Kind
from bench.measure import Row

TITLE = "groups: one node beside Apache Kafka's"

KINDS: tuple[Kind, Kind] = ("ours", "Apache Kafka")
ANSWER_MS = 60_000
WARM_UPS, ROUNDS = 3, 3
COMMITS = 3_000
IN_FLIGHT = 50
MEMBERS = 100
PARTITIONS = 1_000
GROUPS = 10_000
FIRST_READS = 5
HEARTBEAT_S = 0.1
TOPIC = "t"
# Everything is there when the members come; what is measured is not how long others are waited for.
SETTINGS = {"group.initial.rebalance.delay.ms": "0"}


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one kind."""

    commits_per_s: float
    cpu_us_per_commit: float
    join: Cost
    leave: Cost
    first_record_s: float
    groups_mib: float


def run() -> list[Row]:
    ours, apache = (asyncio.run(_measure(kind)) for kind in KINDS)
    large = f"of {MEMBERS} members on {PARTITIONS:,} partitions"
    return [
        Row(
            f"commits, {IN_FLIGHT} in flight",
            "Apache Kafka",
            apache.commits_per_s,
            ours.commits_per_s,
            "/s",
            ours.commits_per_s / apache.commits_per_s,
        ),
        _less("  CPU for a commit", ours.cpu_us_per_commit, apache.cpu_us_per_commit, "µs"),
        _less(f"one joins a group {large}", ours.join.seconds, apache.join.seconds, "s"),
        _less("  CPU", ours.join.cpu_s, apache.join.cpu_s, "s"),
        _less(f"one leaves a group {large}", ours.leave.seconds, apache.leave.seconds, "s"),
        _less("  CPU", ours.leave.cpu_s, apache.leave.cpu_s, "s"),
        _less("subscribe to first record", ours.first_record_s, apache.first_record_s, "s"),
        _less(f"memory with {GROUPS:,} groups", ours.groups_mib, apache.groups_mib, "MiB"),
    ]


def _less(work: str, ours: float, apache: float, unit: str) -> Row:
    return Row(work, "Apache Kafka", apache, ours, unit, apache / max(ours, 1e-9))


@contextmanager
def _new_node(kind: Kind) -> Iterator[BrokerNode]:
    home = Path(tempfile.mkdtemp(prefix="barnabas-bench-"))
    node = BrokerNode(kind, home, SETTINGS)
    try:
        yield node
    finally:
        node.end()
        shutil.rmtree(home)


async def _measure(kind: Kind) -> Figures:
    with _new_node(kind) as node:
        node.start_s()
        node.create_topic(TOPIC, PARTITIONS)
        peer = await _connect(node)
        await _find_coordinator(peer)
        rounds = [await _commit_all(node, peer) for _ in range(WARM_UPS + ROUNDS)][WARM_UPS:]
        join, leave = await _rebalance(node)
        first_record_s = median(_first_record_s(node, number) for number in range(FIRST_READS))
        for number in range(GROUPS):
            await peer.send(_commit(f"group-{number}"), 9, ANSWER_MS)
        return Figures(
            median(COMMITS / each.seconds for each in rounds),
            median(each.cpu_s / COMMITS * 1e6 for each in rounds),
            join,
            leave,
            first_record_s,
            node.resident_mib(),
        )


async def _connect(node: BrokerNode) -> Peer:
    peer = await Peer.connect(node.address.host, node.address.port, timeout_ms=ANSWER_MS, client_id="bench")
    await peer.negotiate(ANSWER_MS)
    return peer


async def _find_coordinator(peer: Peer) -> None:
    """Have the topic of groups made, and wait for the coordinator behind it."""
    while True:
        answer = await peer.send(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4, ANSWER_MS)
        if answer.coordinators[0].error_code == ErrorCode.NONE:
            commit = await peer.send(_commit("g"), 9, ANSWER_MS)
            if commit.topics[0].partitions[0].error_code == ErrorCode.NONE:
                return
        await asyncio.sleep(PAUSE_S)


# Commits


def _commit(group_id: str) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=0, committed_metadata="")
    return OffsetCommitRequest(
        group_id=group_id,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
    )


async def _commit_all(node: BrokerNode, peer: Peer) -> Cost:
    begin_s, began = node.cpu_s(), time.perf_counter()
    for _ in range(COMMITS // IN_FLIGHT):
        answers = await asyncio.gather(*(peer.send(_commit("g"), 9, ANSWER_MS) for _ in range(IN_FLIGHT)))
        assert all(answer.topics[0].partitions[0].error_code == ErrorCode.NONE for answer in answers)
    return Cost(time.perf_counter() - began, node.cpu_s() - begin_s)


# Rebalances


class _Member:
    """A consumer on a connection of its own. `sizes` are those of the generations, as their leaders told them."""

    def __init__(self, peer: Peer, sizes: dict[int, int]) -> None:
        self.peer = peer
        self.member_id = ""
        self._sizes = sizes
        self._generation: int | None = None

    async def settle(self, size: int) -> None:
        """Be a member until the group is of this size, and all is assigned."""
        while True:
            if self._generation is None:
                await self._join()
            elif await self._must_rejoin():
                self._generation = None
            elif self._sizes[self._generation] == size:
                return
            else:
                await asyncio.sleep(HEARTBEAT_S)

    async def _join(self) -> None:
        metadata = b"\0\0" + encode(ConsumerProtocolSubscription(topics=[TOPIC], user_data=None), 0)
        request = JoinGroupRequest(
            group_id="large",
            session_timeout_ms=120_000,
            rebalance_timeout_ms=120_000,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(metadata))],
        )
        answer = await self.peer.send(request, 7, ANSWER_MS)
        self.member_id = answer.member_id
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return
        assert answer.error_code == ErrorCode.NONE, answer
        if answer.leader == self.member_id:
            self._sizes[answer.generation_id] = len(answer.members)
        if await self._sync(answer):
            self._generation = answer.generation_id

    async def _sync(self, joined: Any) -> bool:
        ids = [member.member_id for member in joined.members]
        request = SyncGroupRequest(
            group_id="large",
            generation_id=joined.generation_id,
            member_id=self.member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=member_id, assignment=_assignment(range(index, PARTITIONS, len(ids)))
                )
                for index, member_id in enumerate(ids)
            ],
        )
        answer = await self.peer.send(request, 5, ANSWER_MS)
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), answer
        return bool(answer.error_code == ErrorCode.NONE)

    async def _must_rejoin(self) -> bool:
        assert self._generation is not None, "a member has joined"
        request = HeartbeatRequest(group_id="large", generation_id=self._generation, member_id=self.member_id)
        answer = await self.peer.send(request, 4, ANSWER_MS)
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), answer
        return bool(answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS)

    async def leave(self) -> None:
        identity = MemberIdentity(member_id=self.member_id)
        await self.peer.send(LeaveGroupRequest(group_id="large", members=[identity]), 4, ANSWER_MS)
        self.member_id, self._generation = "", None


def _assignment(partitions: range) -> bytes:
    assigned = [TopicPartition(topic=TOPIC, partitions=list(partitions))]
    return b"\0\0" + bytes(encode(ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=None), 0))


async def _settle(node: BrokerNode, members: list[_Member]) -> Cost:
    begin_s, began = node.cpu_s(), time.perf_counter()
    await asyncio.gather(*(member.settle(len(members)) for member in members))
    return Cost(time.perf_counter() - began, node.cpu_s() - begin_s)


async def _rebalance(node: BrokerNode) -> tuple[Cost, Cost]:
    """What it takes until all are assigned anew when one joins, and when one leaves."""
    sizes: dict[int, int] = {}
    newcomer, *members = [_Member(await _connect(node), sizes) for _ in range(MEMBERS + 1)]
    await _settle(node, members)
    joins, leaves = [], []
    for _ in range(WARM_UPS + ROUNDS):
        joins.append(await _settle(node, [newcomer, *members]))
        await newcomer.leave()
        leaves.append(await _settle(node, members))
    for member in (*members, newcomer):
        member.peer.close("measured")
    return _median(joins), _median(leaves)


def _median(rounds: list[Cost]) -> Cost:
    counted = rounds[WARM_UPS:]
    return Cost(median(each.seconds for each in counted), median(each.cpu_s for each in counted))


# Reading


def _first_record_s(node: BrokerNode, number: int) -> float:
    producer = Producer({"bootstrap.servers": node.bootstrap})
    producer.produce(TOPIC, b"x", partition=0)
    assert producer.flush(ANSWER_MS / 1000) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": node.bootstrap,
            "group.id": f"first-{number}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    began = time.perf_counter()
    consumer.subscribe([TOPIC])
    while (message := consumer.poll(1.0)) is None or message.error() is not None:
        assert time.perf_counter() - began < ANSWER_MS / 1000, "no record came"
    took_s = time.perf_counter() - began
    consumer.close()
    return took_s

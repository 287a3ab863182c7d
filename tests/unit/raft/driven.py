"""A quorum node in a test's hands: it is told what happened and its effects on the log are carried out at once."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest, LeaderEndpoint
from barnabas.protocol.messages.begin_quorum_epoch import RequestPartitionData as BeginPartition
from barnabas.protocol.messages.begin_quorum_epoch import RequestTopicData as BeginTopic
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft import control, effects, events
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID, METADATA_TOPIC, OffsetAndEpoch
from barnabas.raft.node import RaftNode
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import Endpoint, Peer, ReplicaKey
from barnabas.raft.requests import fetch_request, vote_request
from barnabas.raft.responses import LeaderHint, vote_response
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter, VoterSet
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.sim.raft_storage import Storage

LISTENER = "CONTROLLER"
CLUSTER = "the-cluster"

T = TypeVar("T")


def key(node_id: int, disk: int = 1) -> ReplicaKey:
    return ReplicaKey(node_id, Uuid(bytes([0] * 14 + [disk, node_id])))


def endpoint(node_id: int) -> Endpoint:
    return Endpoint(f"host{node_id}", 9093)


def voter(node_id: int, disk: int = 1) -> Voter:
    return Voter(key(node_id, disk), {LISTENER: endpoint(node_id)}, VersionRange(0, 1))


def data_batch(base_offset: int, epoch: int, count: int = 1) -> bytes:
    records = [Record(base_offset + delta, 0, None, b"value") for delta in range(count)]
    return bytes(build_batch(records, leader_epoch=epoch))


class Driven:
    """Node 1 of a quorum whose members are `voter_ids`; `log` is a list of (epoch, records) to begin with.

    Beside such a log lies a quorum-state of its last epoch, unless one is given or `has_quorum_state` is false.
    """

    def __init__(
        self,
        *voter_ids: int,
        is_dynamic: bool = True,
        log: list[tuple[int, int]] | None = None,
        saved: QuorumState | None = None,
        has_quorum_state: bool = True,
        flushes: bool = True,
        node_id: int = 1,
        **settings: str,
    ) -> None:
        self.storage = Storage(key(node_id).directory_id)
        self.flushes = flushes
        self.now_ms = 1_000
        self.effects: list[Effect] = []
        self._asked = 0
        static = None
        if is_dynamic:
            voters = VoterSet.of(voter(each) for each in voter_ids)
            records = [control.snapshot_header(0), control.kraft_version(1), control.voters(voters)]
            content = control.build(records, base_offset=0, epoch=0, timestamp_ms=0)
            self.storage.log.snapshots[BOOTSTRAP_SNAPSHOT_ID] = content
        else:
            static = VoterSet.static(LISTENER, {each: endpoint(each) for each in voter_ids})
        for epoch, count in log or []:
            self.storage.append(data_batch(self.storage.log.end.offset, epoch, count))
        if log and saved is None and has_quorum_state:
            saved = QuorumState(log[-1][0])
        self.node = RaftNode(
            local=voter(node_id),
            cluster_id=CLUSTER,
            listener=LISTENER,
            log=self.storage.log,
            history=control.load_history(self.storage.log, static),
            saved=saved,
            settings=QuorumSettings.defaults(append_linger_ms="0", **settings),
            rng=Random(1),
            bootstrap=[Peer(-2, endpoint(8)), Peer(-3, endpoint(9))],
        )
        self.step(events.Started())

    @property
    def quorum(self) -> Any:
        return self.node.quorum

    @property
    def role(self) -> Any:
        return self.node.role

    def step(self, event: Event) -> list[Effect]:
        """The effects of this event and of what the log reported back at once."""
        result = self.node.step(event, self.now_ms)
        for effect in result:
            self.effects.append(effect)
            match effect:
                case effects.Append(batches):
                    self.storage.append(bytes(batches))
                case effects.Truncate(end_offset):
                    self.storage.truncate(end_offset)
                case effects.Flush():
                    self.storage.begin_flush()
                case effects.WriteSnapshotChunk(snapshot_id, position, data):
                    download = self.storage.downloads.setdefault(snapshot_id, bytearray())
                    download[position:] = data
                case effects.InstallSnapshot(snapshot_id):
                    content = bytes(self.storage.downloads[snapshot_id])
                    self.storage.install_snapshot(snapshot_id, content)
                    changes = control.snapshot_changes([content], snapshot_id)
                    result = [*result, *self.step(events.SnapshotInstalled(snapshot_id, changes))]
        self.node.validate()
        if self.flushes and any(isinstance(effect, effects.Flush) for effect in result):
            result = [*result, *self.flushed()]
        return result

    def flushed(self) -> list[Effect]:
        self.storage.complete_flush()
        return self.step(events.LogFlushed())

    def wait(self, duration_ms: int) -> list[Effect]:
        self.now_ms += duration_ms
        return self.step(events.TimerFired())

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The response to a request; None where it is parked."""
        newest = type(request).valid_versions[-1]
        self._asked += 1
        token = self._asked
        result = self.step(events.RequestReceived(token, request, newest if version is None else version, LISTENER))
        return next((e.response for e in result if isinstance(e, effects.Respond) and e.token == token), None)

    def answer(self, sent: Any, response: Message) -> list[Effect]:
        return self.step(events.ResponseReceived(sent.correlation_id, response))

    def sent(self, request_type: type[Message]) -> list[Any]:
        """Every request of a type since the last call of `clear`."""
        return [e for e in self.effects if isinstance(e, effects.Send) and isinstance(e.request, request_type)]

    def all(self, effect_type: type[T]) -> list[T]:
        return [effect for effect in self.effects if isinstance(effect, effect_type)]

    def clear(self) -> None:
        self.effects.clear()

    def persisted(self) -> QuorumState:
        state: QuorumState = self.quorum.persisted
        return state

    # Shortcuts to a role

    def stand(self) -> None:
        """Let time pass until the node stands for election."""
        self.clear()
        self.now_ms += 60_000
        self.step(events.TimerFired())

    def win(self) -> None:
        """Become leader by the votes of everybody who is asked, pre-votes first."""
        self.stand()
        while not isinstance(self.role, Leader):
            asked = self.sent(VoteRequest)
            assert asked, "an election asks for votes"
            self.clear()
            for sent in asked:
                granted = vote_response(LeaderHint(self.node.epoch), 2, ErrorCode.NONE, is_granted=True)
                self.answer(sent, granted)

    def follow(self, leader_id: int, epoch: int) -> Any:
        return self.ask(begin_request(leader_id, epoch, self.quorum.local.key))

    def fetch_as(self, replica: ReplicaKey, offset: int, last_epoch: int, **options: Any) -> Any:
        """The partition of a follower's Fetch, or None where it is parked."""
        response = self.ask(follower_fetch(replica, self.node.epoch, offset, last_epoch, **options))
        return None if response is None else response.responses[0].partitions[0]


def follower_fetch(
    replica: ReplicaKey, epoch: int, offset: int, last_epoch: int, *, high_watermark: int = 1 << 40, wait_ms: int = 500
) -> FetchRequest:
    end = OffsetAndEpoch(offset, last_epoch)
    return fetch_request(CLUSTER, epoch, replica, end, high_watermark, max_bytes=1 << 20, max_wait_ms=wait_ms)


def begin_request(leader_id: int, epoch: int, to: ReplicaKey) -> BeginQuorumEpochRequest:
    partition = BeginPartition(
        partition_index=0, voter_directory_id=to.directory_id, leader_id=leader_id, leader_epoch=epoch
    )
    host, port = endpoint(leader_id)
    return BeginQuorumEpochRequest(
        cluster_id=CLUSTER,
        voter_id=to.id,
        topics=[BeginTopic(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[LeaderEndpoint(name=LISTENER, host=host, port=port)],
    )


def vote_from(
    candidate: ReplicaKey, epoch: int, end: OffsetAndEpoch, *, to: ReplicaKey, is_pre_vote: bool = False
) -> VoteRequest:
    return vote_request(CLUSTER, epoch, candidate, to, end, is_pre_vote=is_pre_vote)

"""A simulated controller: a real RaftNode on a simulated disk, whose effects are carried out in virtual time.

It can be killed between any two effects, lose power, pause and start again. Its state machine is a running checksum
of the committed batches, which its snapshots hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse, SupportedFeatureKey
from barnabas.protocol.schema import Message
from barnabas.protocol.version_range import VersionRange
from barnabas.raft import control, effects, events
from barnabas.raft.effects import Effect
from barnabas.raft.events import Event
from barnabas.raft.history import QuorumHistory
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import OffsetAndEpoch
from barnabas.raft.node import RaftNode
from barnabas.raft.replica import Endpoint, Peer, ReplicaKey
from barnabas.raft.settings import QuorumSettings
from barnabas.raft.voters import Voter, VoterSet
from barnabas.records.batch import iterate_batches
from barnabas.records.build import build_batch
from barnabas.records.record import Record, iterate_records
from barnabas.sim.raft_storage import Storage

if TYPE_CHECKING:
    from barnabas.sim.raft_world import RaftWorld

LISTENER = "CONTROLLER"
KRAFT_VERSIONS = VersionRange(0, 1)
PORT = 9093
# Who asks for changes of the voters, on the network.
TOOL = -100


def endpoint_of(node_id: int, port: int = PORT) -> Endpoint:
    """Where a node listens. Messages find it by its host; a change of port is something to tell the others of."""
    return Endpoint(f"node{node_id}", port)


class Asked(NamedTuple):
    """The token of a request between nodes: who asked what, in which life of its process."""

    source: int
    life: int
    correlation_id: int
    request: Message


class Accepted(NamedTuple):
    token: object
    epoch: int
    base_offset: int


@dataclass(slots=True)
class Applied:
    """The state machine: everything before `offset` was replayed, and this is its checksum."""

    offset: int = 0
    checksum: int = 0


class Process:
    def __init__(
        self,
        world: RaftWorld,
        node_id: int,
        storage: Storage,
        settings: QuorumSettings,
        static_voters: VoterSet | None,
        *,
        can_become_voter: bool,
    ) -> None:
        self.world = world
        self.node_id = node_id
        self.storage = storage
        self.settings = settings
        self.static_voters = static_voters
        self.can_become_voter = can_become_voter
        self.node: RaftNode | None = None
        self.life = 0
        self.port = PORT
        self.paused_until_ms = 0
        self.joining_until_ms = 0
        self.applied = Applied()
        self.accepted: list[Accepted] = []
        self._timer = 0

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.node_id, self.storage.directory_id)

    @property
    def voter(self) -> Voter:
        return Voter(self.key, {LISTENER: endpoint_of(self.node_id, self.port)}, KRAFT_VERSIONS)

    @property
    def leading_epoch(self) -> int | None:
        return self.leader.epoch if self.leader else None

    @property
    def is_paused(self) -> bool:
        return self.world.now_ms < self.paused_until_ms

    @property
    def leader(self) -> Leader | None:
        role = self.node.role if self.node else None
        return role if isinstance(role, Leader) else None

    def start(self) -> None:
        assert self.node is None
        self.life += 1
        self.paused_until_ms = 0
        self.applied = Applied()
        self.accepted = []
        self._timer += 1
        self.storage.recover()
        log = self.storage.log
        self.node = self.world.make_node(
            local=self.voter,
            cluster_id=self.world.cluster_id,
            listener=LISTENER,
            log=log,
            history=control.load_history(log, self.static_voters),
            saved=self.storage.quorum_state,
            settings=self.settings,
            rng=Random(f"{self.world.seed}/{self.node_id}/{self.life}"),
            bootstrap=[Peer(-2 - other, endpoint_of(other)) for other in self.world.bootstrap_ids],
            can_become_voter=self.can_become_voter,
        )
        self.step(events.Started())

    def stop(self, *, is_power_cut: bool) -> None:
        if self.node is None:
            return
        self.node = None
        if is_power_cut:
            self.storage.cut_power(self.world.rng)
        else:
            self.storage.stop()

    def lose_disk(self) -> None:
        self.stop(is_power_cut=True)
        self.storage = self.world.new_storage()
        life = self.life
        self.world.after(self.world.rng.randrange(3_000), lambda: self.world.restart(self, life))

    def mend(self) -> None:
        self.paused_until_ms = 0
        if self.node is None:
            self.start()

    def pause(self, until_ms: int) -> None:
        self.paused_until_ms = until_ms

    def resign(self) -> None:
        assert self.node is not None
        self.step(events.ResignationRequested(self.node.epoch))

    def open_history(self) -> QuorumHistory:
        return control.load_history(self.storage.log, self.static_voters)

    def ask_of_quorum(self, request: Message) -> None:
        self.receive(Asked(TOOL, 0, 0, request))

    def step(self, event: Event) -> None:
        """Step the node, unless it is down; a paused one gets its events when it goes on."""
        world = self.world
        if self.node is None:
            return
        if self.is_paused:
            life = self.life
            world.at(self.paused_until_ms, lambda: self.step(event) if self.life == life else None)
            return
        result = self.node.step(event, world.now_ms)
        crash_after = world.crash_after(len(result))
        for count, effect in enumerate(result):
            if count == crash_after:
                world.crash(self)
                return
            self._carry_out(effect)
            if self.node is None:
                return
        world.stepped(self, event, result)

    def _carry_out(self, effect: Effect) -> None:
        world, storage = self.world, self.storage
        world.checks.effect(self, effect)
        match effect:
            case effects.Persist(state):
                # Through the text of the file, as a restart will read it.
                storage.quorum_state = type(state).from_json(state.to_json())
            case effects.Append(batches):
                world.checks.appended(self, storage.append(bytes(batches)))
            case effects.Truncate(end_offset):
                storage.truncate(end_offset)
            case effects.Flush():
                storage.begin_flush()
                self._later(world.flush_delay_ms(), self._flushed)
            case effects.WriteSnapshotChunk(snapshot_id, position, data):
                download = storage.downloads.setdefault(snapshot_id, bytearray())
                del download[position:]
                download += data
            case effects.DropSnapshotDownload(snapshot_id):
                storage.downloads.pop(snapshot_id, None)
            case effects.InstallSnapshot(snapshot_id):
                self._install(snapshot_id)
            case effects.Send(peer, correlation_id, request):
                world.deliver_request(self, peer, Asked(self.node_id, self.life, correlation_id, request))
            case effects.Respond(Asked() as asked, response):
                world.deliver_response(self, asked, response)
            case effects.SetTimer(at_ms):
                self._timer += 1
                timer = self._timer
                world.at(at_ms, lambda: self.step(events.TimerFired()) if self._timer == timer else None)
            case effects.AdvanceHighWatermark(offset):
                self._replay(offset)
                world.checks.committed(self, offset)
            case effects.Accept(token, base_offset):
                assert self.node is not None
                self.accepted.append(Accepted(token, self.node.epoch, base_offset))
            case effects.Resigned():
                self.accepted.clear()

    def _later(self, delay_ms: int, happen: Callable[[], None]) -> None:
        life = self.life
        self.world.after(delay_ms, lambda: happen() if self.life == life and self.node is not None else None)

    def _flushed(self) -> None:
        self.storage.complete_flush()
        self.step(events.LogFlushed())

    def _install(self, snapshot_id: OffsetAndEpoch) -> None:
        data = bytes(self.storage.downloads[snapshot_id])
        self.storage.install_snapshot(snapshot_id, data)
        self._load(snapshot_id, data)
        changes = control.snapshot_changes([data], snapshot_id)
        self.step(events.SnapshotInstalled(snapshot_id, changes))

    def _load(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        for position, header in iterate_batches(data):
            if not header.is_control:
                for record in iterate_records(data, position, header):
                    self.applied = Applied(snapshot_id.offset, int(record.value or b"0"))
        self.world.checks.loaded(self, snapshot_id)

    def _replay(self, high_watermark: int) -> None:
        log = self.storage.log
        if self.applied.offset < log.start_offset:
            snapshot_id = log.latest_snapshot_id
            assert snapshot_id is not None
            self._load(snapshot_id, log.snapshots[snapshot_id])
        for batch in log.batches[log.count_before(self.applied.offset) :]:
            if batch.next_offset <= high_watermark:
                self.applied = Applied(batch.next_offset, crc32(batch.data, self.applied.checksum))

    def take_snapshot(self, *, deletes_log: bool) -> None:
        """Write a snapshot of everything that was replayed, and perhaps give up the log before it."""
        log, offset = self.storage.log, self.applied.offset
        latest = log.latest_snapshot_id
        if self.node is None or offset <= log.start_offset or (latest is not None and latest.offset >= offset):
            return
        snapshot_id = OffsetAndEpoch(offset, log.end_if_truncated(offset).epoch)
        head = control.snapshot_head(self.node.history, snapshot_id, self.world.now_ms)
        content = str(self.applied.checksum).encode()
        log.snapshots[snapshot_id] = b"".join(
            (
                control.build(head, base_offset=0, epoch=snapshot_id.epoch, timestamp_ms=0),
                build_batch([Record(len(head), 0, None, content)], leader_epoch=snapshot_id.epoch),
                control.build(
                    [control.snapshot_footer()], base_offset=len(head) + 1, epoch=snapshot_id.epoch, timestamp_ms=0
                ),
            )
        )
        if deletes_log and self.node.quorum.flushed_offset >= offset:
            self.storage.delete_before(snapshot_id)
        self.step(events.SnapshotGenerated(snapshot_id))

    def receive(self, asked: Asked) -> None:
        if isinstance(asked.request, ApiVersionsRequest):
            # What the connection itself answers, before the quorum hears of it.
            feature = SupportedFeatureKey(
                name="kraft.version", min_version=KRAFT_VERSIONS.lowest, max_version=KRAFT_VERSIONS.highest
            )
            response = ApiVersionsResponse(error_code=ErrorCode.NONE, api_keys=[], supported_features=[feature])
            self.world.deliver_response(self, asked, response)
            return
        newest = type(asked.request).valid_versions[-1]
        self.step(events.RequestReceived(asked, asked.request, newest, LISTENER))

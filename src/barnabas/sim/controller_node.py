"""A simulated controller: the parts of the real process, its driver too, on a disk, network and clock of the world.

A `Machine` has the disk and lives on; a `Life` is one run of the process on it, from its start to a crash, a power cut
or a disk that fails. The power may be cut at any operation of the disk and before any request that is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from barnabas.broker.call import Pending
from barnabas.config.listeners import Endpoint as ListenerEndpoint
from barnabas.config.listeners import SecurityProtocol
from barnabas.controller.decision import RequestContext
from barnabas.controller.operations import OPERATIONS, QUERIES, TASKS
from barnabas.controller.settings import ControllerSettings
from barnabas.log.log_config import LogConfig
from barnabas.metadata.features import KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.ports.disk import Buffer
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode, KafkaStorageError
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse, SupportedFeatureKey
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft import control, events
from barnabas.raft.history import QuorumHistory
from barnabas.raft.leader import Leader
from barnabas.raft.log_view import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from barnabas.raft.node import RaftNode
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import Endpoint, Peer, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from barnabas.runtime.controller.process import ControllerProcess
from barnabas.runtime.controller.registration import ControllerRegistration, registration_request
from barnabas.runtime.controller.routes import QUORUM_APIS
from barnabas.runtime.quorum.driver import RaftDriver
from barnabas.runtime.quorum.metadata_log import DIRECTORY, MetadataLog
from barnabas.runtime.quorum.peers import Peers
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.runtime.quorum.snapshot_files import snapshot_name
from barnabas.runtime.quorum.snapshotting import Snapshotter
from barnabas.runtime.steady_clock import SteadyClock
from barnabas.sim.controller_checks import Checks, WatchedController, read_log
from barnabas.sim.disk import PowerCut, SimDisk
from barnabas.sim.virtual_loop import VirtualClock, VirtualLoop, VirtualOffLoop

if TYPE_CHECKING:
    from barnabas.sim.controller_world import ControllerWorld

LISTENER = "CONTROLLER"
PORT = 9093
METADATA_DIRECTORY = "/metadata"

Reply = Callable[[Message], None]


def endpoint_of(node_id: int) -> Endpoint:
    return Endpoint(f"node{node_id}", PORT)


class VirtualPeers(Peers):
    """Sends over the world's network. A request ends in one call, in the life that sent it."""

    def __init__(self, life: Life, timeout_ms: int) -> None:
        self._life = life
        self._timeout_ms = timeout_ms

    def send(
        self,
        endpoint: Endpoint,
        request: Message,
        answered: Callable[[Message], object],
        failed: Callable[[ErrorCode], object],
    ) -> None:
        life = self._life
        life.machine.cut_power_by_chance()
        if isinstance(request, AddRaftVoterRequest):
            life.machine.world.note_joining(life.machine)
        is_over = False

        def settle(call: Callable[[], object]) -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                call()

        def reply(response: Message) -> None:
            if isinstance(response, AddRaftVoterResponse) and response.error_code == ErrorCode.NONE:
                life.machine.world.counts["joined by itself"] += 1
            life.loop.enter(lambda: settle(lambda: answered(response)))

        target = int(endpoint.host.removeprefix("node"))
        life.machine.world.send(life.machine.node_id, target, request, reply)
        life.loop.call_later(self._timeout_ms / 1000, settle, lambda: failed(ErrorCode.NETWORK_EXCEPTION))


class WatchedLog(MetadataLog):
    """A metadata log that has what is written to it checked. `watch` comes first."""

    def watch(self, checks: Checks, key: ReplicaKey) -> None:
        self._checks = checks
        self._key = key
        checks.found(key, self.read_quorum_state())

    def append(self, batches: Buffer, epoch: int, now_ms: int) -> None:
        epoch_before = self.end.epoch
        super().append(batches, epoch, now_ms)
        self._checks.appended(self._key, batches, epoch_before)

    def write_quorum_state(self, state: QuorumState) -> None:
        with self._checks.persisting(self._key, state):
            super().write_quorum_state(state)


class WatchedProcess(ControllerProcess):
    """A state machine that has what the quorum tells it checked."""

    def watch(self, checks: Checks, life: Life) -> None:
        self._checks = checks
        self._life = life
        self._committed_offset = 0

    def became_leader(self, epoch: int, start_offset: int) -> None:
        self._checks.became_leader(self._life.machine.node_id, epoch, self._life.log)
        super().became_leader(epoch, start_offset)

    def high_watermark_advanced(self, offset: int) -> None:
        life = self._life
        assert offset >= self._committed_offset, f"high watermark falls from {self._committed_offset} to {offset}"
        start = max(self._committed_offset, life.log.start_offset)
        self._checks.committed(life.machine.node_id, life.raft.epoch, read_log(life.log, start, offset))
        assert offset <= self._checks.committed_end, "what is committed is whole batches"
        self._checks.note_voters(life.raft.history.voters_at(offset - 1), offset)
        self._committed_offset = offset
        super().high_watermark_advanced(offset)

    def proceed(self) -> bool:
        self._life.raft.validate()
        return super().proceed()

    def snapshot_installed(self, snapshot_id: OffsetAndEpoch) -> None:
        self._checks.world.counts["snapshot installed"] += 1
        assert snapshot_id.offset <= self._checks.committed_end, "a snapshot holds what is committed"
        self._committed_offset = max(self._committed_offset, snapshot_id.offset)
        super().snapshot_installed(snapshot_id)


class Life:
    """One run of the process: everything that the composition root builds, but for sockets."""

    def __init__(self, machine: Machine, number: int) -> None:
        world = machine.world
        self.machine = machine
        self.loop = VirtualLoop(world, machine.clock, machine.crash)  # type: ignore[abstract]  # No more of it is called.
        clock = SteadyClock(machine.clock)
        rng = Random(f"{world.seed}/{machine.node_id}/{number}")
        off_loop = VirtualOffLoop(self.loop, world.flush_delay_ms)
        self.log = WatchedLog(machine.disk, METADATA_DIRECTORY, world.log_config, rng=rng, now_ms=clock.now_ms())
        self.log.watch(world.checks, machine.key)
        self.replay = MetadataReplay(self.log)
        self.controller = WatchedController(
            settings=ControllerSettings(
                node_id=machine.node_id,
                cluster_id=world.cluster_id,
                broker_session_timeout_ms=world.session_timeout_ms,
                leader_imbalance_check_interval_ms=3_000,
                unclean_election_check_interval_ms=3_000,
            ),
            rng=rng,
            bootstrap=[record.message for record in world.bootstrap.records],
            operations=OPERATIONS,
            queries=QUERIES,
            tasks=TASKS,
        )
        self.controller.watch(world.checks, machine.node_id)
        self.process = WatchedProcess(
            self.controller,
            self.replay,
            clock=clock,
            wall_clock=machine.clock,
            loop=self.loop,
            published=lambda: self.registration.consider(),
        )
        self.process.watch(world.checks, self)
        self.raft = RaftNode(
            local=machine.voter,
            cluster_id=world.cluster_id,
            listener=LISTENER,
            log=self.log,
            history=control.load_history(self.log, world.static_voters),
            saved=self.log.read_quorum_state(),
            settings=world.quorum_settings,
            rng=rng,
            bootstrap=[Peer(-2 - index, endpoint_of(node_id)) for index, node_id in enumerate(world.node_ids)],
        )
        peers = VirtualPeers(self, world.quorum_settings.request_timeout_ms)
        self.driver = RaftDriver(
            self.raft,
            self.log,
            machine=self.process,
            peers=peers,
            off_loop=off_loop,
            clock=clock,
            loop=self.loop,
            failed=machine.failed,
            shut_down=lambda: None,
        )
        self.snapshotter = Snapshotter(
            self.log,
            world.retention,
            off_loop=off_loop,
            clock=clock,
            loop=self.loop,
            generated=self._generated,
            failed=self.driver.fail,
            safe_offset=lambda: min(self.driver.flushed_offset, self.replay.next_offset),
        )
        self.process.attach(self.driver, self.snapshotter)
        at = ListenerEndpoint(LISTENER, SecurityProtocol.PLAINTEXT, f"node{machine.node_id}", PORT)
        self.registration = ControllerRegistration(
            registration_request(machine.node_id, Uuid(rng.randbytes(16)), {LISTENER: at}, SUPPORTED_FEATURES),
            peers=peers,
            leader=lambda: self.driver.leader_endpoint,
            image=lambda: self.replay.image,
            loop=self.loop,
        )

    @property
    def is_leading(self) -> bool:
        return isinstance(self.raft.role, Leader)

    def start(self) -> None:
        self.process.load()
        self.driver.receive(events.Started())
        self.snapshotter.start()

    def resign(self) -> None:
        self.driver.receive(events.ResignationRequested(self.raft.epoch))

    def _generated(self, snapshot_id: OffsetAndEpoch) -> None:
        self.machine.world.counts["snapshot generated"] += 1
        self.driver.receive(events.SnapshotGenerated(snapshot_id))

    def serve(self, request: Message, reply: Reply) -> None:
        newest = type(request).valid_versions[-1]
        if isinstance(request, ApiVersionsRequest):
            reply(_api_versions())
            return
        assert request.api_key is not None
        if ApiKey(request.api_key) in QUORUM_APIS:
            pending = self.driver.ask(request, newest, LISTENER)
        else:
            pending = self.process.ask(request, RequestContext(version=newest, listener=LISTENER))
        pending.when_completed(lambda: _pass_on(pending, reply))


def _pass_on(pending: Pending, reply: Reply) -> None:
    response = pending.result()
    assert response is not None
    reply(response)


def _api_versions() -> ApiVersionsResponse:
    """What a connection answers itself, of which the quorum reads what the other end says of kraft.version."""
    levels = SUPPORTED_FEATURES[KRAFT_VERSION]
    feature = SupportedFeatureKey(name=KRAFT_VERSION, min_version=levels.lowest, max_version=levels.highest)
    return ApiVersionsResponse(error_code=ErrorCode.NONE, api_keys=[], supported_features=[feature])


class Machine:
    """`joining_until_ms`: until when a request to make it a voter may be under way."""

    can_become_voter = True

    def __init__(self, world: ControllerWorld, node_id: int) -> None:
        self.world = world
        self.node_id = node_id
        self.key = ReplicaKey(node_id, world.new_directory_id())
        self.disk = SimDisk()
        self.clock = VirtualClock(world, rate=world.draw_clock_rate())
        self.life: Life | None = None
        self.joining_until_ms = 0
        self._lives = 0

    @property
    def voter(self) -> Voter:
        return Voter(self.key, {LISTENER: endpoint_of(self.node_id)}, SUPPORTED_FEATURES[KRAFT_VERSION])

    @property
    def leading_epoch(self) -> int | None:
        return self.life.raft.epoch if self.life is not None and self.life.is_leading else None

    def open_history(self) -> QuorumHistory:
        if self.life is not None:
            return self.life.raft.history
        # As the next life will find it, looked at in a copy.
        config, rng = self.world.log_config, Random(0)
        log = MetadataLog(self.disk.after_kill(), METADATA_DIRECTORY, config, rng=rng, now_ms=self.clock.now_ms())
        return control.load_history(log, self.world.static_voters)

    def format(self, voters: VoterSet | None) -> None:
        """What `kafka-storage format` leaves: with `--initial-controllers` the voters, in a first snapshot."""
        directory = f"{METADATA_DIRECTORY}/{DIRECTORY}"
        self.disk.make_directory(directory)
        if voters is not None:
            records = [control.snapshot_header(0), control.kraft_version(1), control.voters(voters)]
            file = self.disk.open(f"{directory}/{snapshot_name(BOOTSTRAP_SNAPSHOT_ID)}", create=True)
            file.write_at(0, control.build(records, base_offset=0, epoch=0, timestamp_ms=0))
            file.close()
        self.disk = self.disk.after_kill()

    def start(self) -> None:
        assert self.life is None
        self._lives += 1
        self.disk.now_ms = self.clock.now_ms()
        self.disk.before_operation = lambda *_: self.cut_power_by_chance()
        try:
            self.life = Life(self, self._lives)
            self.life.start()
        except PowerCut:
            self.crash()
        except (OSError, KafkaStorageError) as error:
            self.failed(error)

    def cut_power_by_chance(self) -> None:
        world = self.world
        if world.rng.random() < world.cut_per_operation:
            raise PowerCut

    def receive(self, request: Message, reply: Reply) -> None:
        life = self.life
        if life is not None:
            life.loop.enter(lambda: life.serve(request, reply))

    def ask_of_quorum(self, request: Message) -> None:
        self.receive(request, lambda _: None)

    @property
    def is_paused(self) -> bool:
        return self.life is not None and self.world.now_ms < self.life.loop.paused_until_ms

    def pause(self, until_ms: int) -> None:
        if self.life is not None:
            self.life.loop.paused_until_ms = until_ms

    def resign(self) -> None:
        if self.life is not None:
            self.life.loop.enter(self.life.resign)

    def lose_disk(self) -> None:
        self.stop(is_power_cut=True)
        self.disk = SimDisk()
        self.key = ReplicaKey(self.node_id, self.world.new_directory_id())
        self.format(None)
        self._start_later()

    def stop(self, *, is_power_cut: bool) -> None:
        """End this life, if there is one, wherever it is; what is on the disk afterwards is what the next one finds."""
        if self.life is not None:
            self.life.loop.is_dead = True
            self.life = None
        self.disk = self.disk.after_power_cut(self.world.rng) if is_power_cut else self.disk.after_kill()

    def mend(self) -> None:
        """Have the process up and its disk well."""
        if self.life is None:
            self.disk = self.disk.after_kill()
            self.start()
        else:
            self.disk.free_bytes = None
            self.life.loop.paused_until_ms = 0

    def crash(self) -> None:
        self.world.counts["crash"] += 1
        self.stop(is_power_cut=self.world.rng.random() < 0.7)
        self._start_later()

    def failed(self, error: Exception) -> None:
        """The process stops because of its disk. Whatever else stops it is a bug, and ends the world."""
        if not isinstance(error, OSError | KafkaStorageError):
            raise error
        self.world.counts["disk failed"] += 1
        # Somebody makes room, or puts the disk right; what a failed flush did not write may be gone.
        self.stop(is_power_cut=self.world.rng.random() < 0.5)
        self._start_later()

    def _start_later(self) -> None:
        # Short and long outages: some fall within an election, some outlast several.
        delay_ms = self.world.rng.choice([10, 300, 2_000]) + self.world.rng.randrange(500)
        self.world.after(delay_ms, lambda: None if self.life is not None else self.start())


def log_config(segment_bytes: int) -> LogConfig:
    return LogConfig(
        segment_bytes=segment_bytes,
        max_message_bytes=8 * 1024 * 1024,
        retention_ms=-1,
        retention_bytes=-1,
        segment_index_bytes=1024,
        index_interval_bytes=256,
        file_delete_delay_ms=1_000,
    )

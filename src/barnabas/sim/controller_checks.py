"""What must hold in every simulated cluster of controllers, checked as things happen.

One leader and one active controller an epoch, one vote a replica and epoch, epochs that never fall, logs that match,
committed records that never change and that every later leader has, images that equal what the committed log says,
whether they came from log, snapshot or speculation, answers that are given only for what is committed, ids that are
handed out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from barnabas.controller import invariants
from barnabas.controller.controller import Controller
from barnabas.controller.effects import (
    Append,
    Appended,
    BecameLeader,
    Effect,
    Event,
    KRaftUpgradeConfirmed,
    MetadataCommitted,
    RequestReceived,
    Respond,
    Token,
)
from barnabas.controller.errors import NotController
from barnabas.metadata.framing import read_batches
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.metadata.loader import MetadataLoader
from barnabas.ports.disk import Buffer
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsResponse
from barnabas.raft.log_view import LogView
from barnabas.raft.quorum_state import QuorumState
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.voters import VoterSet
from barnabas.records.batch import iterate_batches

if TYPE_CHECKING:
    from barnabas.sim.controller_world import ControllerWorld

# More than any segment of a simulated log holds.
SEGMENT_BYTES_MAX = 1 << 30


class Stamped(NamedTuple):
    """A batch: the checksum of its content, which neither offset nor epoch is part of, and both of those."""

    base_offset: int
    next_offset: int
    epoch: int
    checksum: int


def read_log(log: LogView, start_offset: int, end_offset: int) -> Iterator[tuple[Stamped, memoryview]]:
    """The batches of a log from one offset up to another, one by one."""
    while start_offset < end_offset:
        data = memoryview(log.read(start_offset, SEGMENT_BYTES_MAX).tobytes())
        assert len(data), f"a log that ends at {log.end.offset} has nothing at {start_offset}"
        for position, header in iterate_batches(data):
            batch = Stamped(header.base_offset, header.next_offset, header.leader_epoch, header.crc)
            if batch.next_offset > end_offset:
                return
            yield batch, data[position : position + header.size_bytes]
            start_offset = batch.next_offset


def _at_offsets(batches: Buffer, base_offset: int, epoch: int) -> list[Stamped]:
    """Batches as they come to stand in the log."""
    result = []
    for _, header in iterate_batches(batches):
        next_offset = base_offset + header.last_offset_delta + 1
        result.append(Stamped(base_offset, next_offset, epoch, header.crc))
        base_offset = next_offset
    return result


class Checks:
    """What is known of the whole cluster. `images` has what the committed log says at each end of a batch."""

    def __init__(self, world: ControllerWorld) -> None:
        self.world = world
        self.leaders: dict[int, int] = {}
        self.active: dict[int, int] = {}
        # What each replica has on its disk, and while it writes what it may have.
        self.quorum_states: dict[ReplicaKey, tuple[QuorumState | None, ...]] = {}
        self.votes: dict[tuple[ReplicaKey, int], ReplicaKey] = {}
        # Every batch that was ever in a log: its checksum and the epoch of the one before it.
        self.written: dict[tuple[int, int], tuple[int, int]] = {}
        self.batches: dict[int, Stamped] = {}
        self.committed_end = 0
        # How far the leader of each epoch, or who heard from it, has committed.
        self.committed_ends: dict[int, int] = {}
        self.images: dict[int, MetadataImage] = {0: EMPTY_IMAGE}
        self.producer_ids: list[range] = []
        self.voters: dict[int, VoterSet | None] = {}
        self._newest_voters: VoterSet | None = None
        self._loader = MetadataLoader()
        self._speculations: dict[tuple[int, int], MetadataImage] = {}

    @property
    def digest(self) -> int:
        """All that was committed, in a number."""
        return crc32(repr(sorted(self.batches.values())).encode())

    @property
    def image(self) -> MetadataImage:
        """The newest committed one."""
        return self._loader.image

    def found(self, key: ReplicaKey, saved: QuorumState | None) -> None:
        """A replica comes back with what it kept, or with what it was about to write when it stopped."""
        assert saved in self.quorum_states.get(key, (saved,)), f"{key} comes back with {saved} as its quorum-state"
        if saved is not None:
            self._keep(key, saved)

    @contextmanager
    def persisting(self, key: ReplicaKey, state: QuorumState) -> Iterator[None]:
        """While a quorum-state is written either may be found."""
        # As the file will say it: that of a static quorum has no directory ids.
        state = QuorumState.from_json(state.to_json())
        (kept, *_) = self.quorum_states.get(key, (None,))
        assert kept is None or state.epoch >= kept.epoch, f"the epoch of {key} falls: {kept} becomes {state}"
        self.quorum_states[key] = kept, state
        yield
        self._keep(key, state)

    def _keep(self, key: ReplicaKey, state: QuorumState) -> None:
        """What is on the disk is promised: one vote of a replica in an epoch."""
        self.quorum_states[key] = (state,)
        if state.voted_key is not None:
            vote = self.votes.setdefault((key, state.epoch), state.voted_key)
            is_same = vote.admits(state.voted_key) or state.voted_key.admits(vote)
            assert is_same, f"{key} votes for {vote} and {state.voted_key} in epoch {state.epoch}"

    def appended(self, key: ReplicaKey, batches: Buffer, epoch_before: int) -> None:
        """Log matching: one offset and epoch, one batch, and always the same one before it."""
        for _, header in iterate_batches(batches):
            here = header.crc, epoch_before
            there = self.written.setdefault((header.base_offset, header.leader_epoch), here)
            assert there == here, f"logs differ at offset {header.base_offset} of epoch {header.leader_epoch}, at {key}"
            epoch_before = header.leader_epoch

    def became_leader(self, node_id: int, epoch: int, log: LogView) -> None:
        """Election safety, and leader completeness: it has all that was committed in earlier epochs."""
        former = self.leaders.setdefault(epoch, node_id)
        assert former == node_id, f"{former} and {node_id} both lead in epoch {epoch}"
        end = max((end for earlier, end in self.committed_ends.items() if earlier < epoch), default=0)
        assert log.end.offset >= end, f"leader {node_id} ends at {log.end.offset}, but {end} is committed"
        for batch, _ in read_log(log, log.start_offset, end):
            assert batch == self.batches[batch.base_offset], f"leader {node_id} lacks the committed {batch}"

    def committed(self, node_id: int, epoch: int, batches: Iterable[tuple[Stamped, memoryview]]) -> None:
        """A node takes these batches to be committed."""
        for batch, data in batches:
            known = self.batches.setdefault(batch.base_offset, batch)
            assert known == batch, f"what is committed changes at {node_id}: {known} becomes {batch}"
            if batch.next_offset > self.committed_end:
                assert batch.base_offset == self.committed_end, "commits leave no gap"
                self._replay(batch, data)
                self.committed_ends[epoch] = batch.next_offset

    def note_voters(self, voters: VoterSet | None, end_offset: int) -> None:
        """All nodes see the same voters at the same offset of what is committed."""
        known = self.voters.setdefault(end_offset, voters)
        assert known == voters, f"other voters are seen at offset {end_offset}"
        if end_offset == self.committed_end and voters != self._newest_voters:
            self._newest_voters = voters
            self.world.counts["voters changed"] += 1

    def _replay(self, batch: Stamped, data: memoryview) -> None:
        self.committed_end = batch.next_offset
        self._loader.load(read_batches(data))
        image = self.images[batch.next_offset] = self._loader.image
        invariants.validate(image)
        speculation = self._speculations.get((batch.epoch, batch.next_offset))
        if speculation is not None:
            assert replace(speculation, provenance=image.provenance) == image, (
                f"what was decided on up to {batch.next_offset} is not what the log says"
            )

    def became_active(self, node_id: int, epoch: int) -> None:
        former = self.active.setdefault(epoch, node_id)
        assert former == node_id, f"{former} and {node_id} are both the active controller of epoch {epoch}"

    def published(self, node_id: int, image: MetadataImage, last_offset: int) -> None:
        """Images of any two nodes are equal at equal offsets, from the log or from a snapshot of it."""
        assert last_offset < self.committed_end, f"{node_id} publishes up to {last_offset}, which is not committed"
        expected = self.images[last_offset + 1]
        assert image == expected, f"the image of {node_id} at {last_offset} is not what the log says"

    def speculated(self, image: MetadataImage, epoch: int) -> None:
        invariants.validate(image)
        self._speculations[epoch, image.provenance.last_contained_offset + 1] = image

    def answered(self, node_id: int, batches: Sequence[Stamped], seen_offset: int, respond: Respond) -> None:
        response = respond.response
        name = type(response).__name__.removesuffix("Response")
        for batch in batches:
            assert self.batches.get(batch.base_offset) == batch, f"{node_id} answers {name} before {batch} is committed"
        assert seen_offset < self.committed_end, f"{node_id} answers {name} by what is not committed"
        self.world.counts[f"{name} {'committed' if batches else 'answered'}"] += 1
        if isinstance(response, AllocateProducerIdsResponse) and response.error_code == 0:
            block = range(response.producer_id_start, response.producer_id_start + response.producer_id_len)
            overlapping = [
                other for other in self.producer_ids if block.start < other.stop and other.start < block.stop
            ]
            assert not overlapping, f"{node_id} hands out producer ids {block} after {overlapping}"
            self.producer_ids.append(block)


class WatchedController(Controller):
    """A controller whose every step is looked at from the outside. `watch` comes first."""

    def watch(self, checks: Checks, node_id: int) -> None:
        self._checks = checks
        self._node_id = node_id
        self._asker: Token | None = None
        self._append: tuple[Token | None, Append] | None = None
        self._records: dict[Token, list[Stamped]] = {}
        self._seen: dict[Token, int] = {}
        self._validated = self.image

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        if isinstance(event, MetadataCommitted):
            self._checks.published(self._node_id, event.image, event.last_offset)
        elif isinstance(event, Appended) and event.base_offset != self._next_offset_expected:
            self._checks.world.counts["append behind the quorum's own records"] += 1
        result = super().step(event, now_ms)
        if isinstance(event, RequestReceived):
            self._asker = event.token
            if type(event.request) in self._operations and self.active_epoch is not None:
                self._seen[event.token] = self.image.provenance.last_contained_offset
        elif isinstance(event, Appended):
            self._note_offsets(event.base_offset)
        for effect in result:
            match effect:
                case Append():
                    is_asked_for = isinstance(event, RequestReceived | KRaftUpgradeConfirmed)
                    self._append = (self._asker if is_asked_for else None), effect
                case Respond(token, _, refusal):
                    records, seen_offset = self._records.pop(token, []), self._seen.pop(token, -1)
                    if not isinstance(refusal, NotController):
                        self._checks.answered(self._node_id, records, seen_offset, effect)
        self._check_images(event)
        self._checks.world.note_step(self._node_id, event, result)
        return result

    @property
    def _next_offset_expected(self) -> int | None:
        return None if self._appending is None else self._appending.expected_offset

    def _note_offsets(self, base_offset: int) -> None:
        """The quorum has taken what was decided last."""
        assert self._append is not None
        (token, append), self._append = self._append, None
        if token is not None:
            self._records[token] = _at_offsets(append.batches, base_offset, append.epoch)
            self._seen[token] = self._records[token][-1].next_offset - 1
        if self.image.provenance.last_contained_epoch == append.epoch:
            self._checks.speculated(self.image, append.epoch)

    def _check_images(self, event: Event) -> None:
        if self.active_epoch is None:
            assert self.image is self.committed_image, "who is not active has decided on nothing"
        else:
            self._checks.became_active(self._node_id, self.active_epoch)
        if isinstance(event, BecameLeader):
            self._checks.world.counts["became leader"] += 1
        if self.image is not self._validated:
            invariants.validate(self.image)
            self._validated = self.image

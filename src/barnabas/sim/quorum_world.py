"""What every seeded quorum goes through, whether its members are bare raft nodes or whole controllers.

Voters come and go, nodes pause, lose their disks and are cut off, leaders resign. Faults never take a majority of a
voter set for good: a node loses its disk only where the others of every live set are enough. In the end a random
majority of every live set is healed, and what lies outside it stays as broken as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar
from zlib import crc32

from barnabas.protocol.codec import decode, encode
from barnabas.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from barnabas.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft.history import QuorumHistory
from barnabas.raft.majority import majority_size
from barnabas.raft.replica import ReplicaKey
from barnabas.raft.voters import Voter, VoterSet
from barnabas.sim.network import Conditions, Network
from barnabas.sim.world import World

HEALING_MS = 120_000
# Longer than any message takes to arrive and a leader to act on it.
JOINING_MS = 20_000


@dataclass(slots=True)
class QuorumPlan:
    """The shape of a quorum and the faults in it."""

    voters: int = 3
    observers: int = 0
    is_dynamic: bool = True
    auto_join: bool = False
    duration_ms: int = 20_000
    conditions: Conditions = field(default_factory=Conditions)
    flush_max_ms: int = 5
    # How often, on average, each of these happens; 0 for never.
    partition_every_ms: int = 0
    pause_every_ms: int = 0
    resign_every_ms: int = 0
    voter_change_every_ms: int = 0
    disk_loss_every_ms: int = 0
    encodes: bool = False


class Member(Protocol):
    """A node of the world, which outlives the runs of its process."""

    node_id: int
    joining_until_ms: int

    @property
    def voter(self) -> Voter:
        """This node as it would be a voter, with the disk that it has now."""
        ...

    @property
    def can_become_voter(self) -> bool: ...

    @property
    def leading_epoch(self) -> int | None:
        """The epoch in which it takes itself for the leader."""
        ...

    @property
    def is_paused(self) -> bool: ...

    def open_history(self) -> QuorumHistory:
        """What the log says of the quorum, whether the process is up or not."""
        ...

    def ask_of_quorum(self, request: Message) -> None:
        """Let a tool's request arrive."""
        ...

    def pause(self, until_ms: int) -> None: ...

    def resign(self) -> None: ...

    def lose_disk(self) -> None:
        """Come back after a while, with an empty disk of another directory id."""
        ...

    def stop(self, *, is_power_cut: bool) -> None: ...

    def mend(self) -> None:
        """Have the process up and running, and its disk well."""
        ...


M = TypeVar("M", bound=Member)


class QuorumWorld(World, ABC, Generic[M]):
    """`members` is set by who makes them, before anything happens."""

    PARTITIONS_MS: ClassVar[Sequence[int]]
    PAUSES_MS: ClassVar[Sequence[int]]

    def __init__(self, seed: int, plan: QuorumPlan) -> None:
        super().__init__(seed)
        self.cluster_id = f"simulated-{seed}"
        self.network = Network(self, plan.conditions)
        self.counts: Counter[str] = Counter()
        self.steps = 0
        self.trace = 0
        self.members: Mapping[int, M] = {}
        self.is_healed = False
        self._faults = plan
        self._directories = 0

    @property
    @abstractmethod
    def committed_end(self) -> int:
        """The end of all that was ever committed."""

    @property
    @abstractmethod
    def committed_voters(self) -> VoterSet | None:
        """The voters as of there, once anything is committed."""

    def new_directory_id(self) -> Uuid:
        self._directories += 1
        return Uuid(self._directories.to_bytes(16, "big"))

    # Things that happen

    def repeat(self, every_ms: int, happen: Callable[[], object], *, ends: bool = True) -> None:
        """Let something happen again and again, `every_ms` on average; with `ends` only until the healing."""

        def run() -> None:
            if ends and self.is_healed:
                return
            happen()
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

        if every_ms:
            self.after(self.rng.randrange(2 * every_ms) + 1, run)

    def schedule_faults(self) -> None:
        faults = self._faults
        self.repeat(faults.partition_every_ms, self._partition)
        self.repeat(faults.pause_every_ms, self._pause)
        self.repeat(faults.resign_every_ms, self._resign)
        self.repeat(faults.voter_change_every_ms, self._change_voters)
        self.repeat(faults.disk_loss_every_ms, self._lose_disk)

    def carry(self, message: Message) -> Message:
        """The message as it arrives: in some worlds as bytes that are written and read again."""
        if not self._faults.encodes:
            return message
        newest = type(message).valid_versions[-1]
        return decode(type(message), newest, encode(message, newest))

    def flush_delay_ms(self) -> int:
        return 1 if self.is_healed else self.rng.randrange(self._faults.flush_max_ms) + 1

    def note_step(self, node_id: int, event: object, result: Sequence[object]) -> None:
        """Make the step part of the trace, by which two runs of a seed are seen to be one."""
        self.steps += 1
        shown = self.now_ms, node_id, type(event).__name__, [type(effect).__name__ for effect in result]
        self.trace = crc32(repr(shown).encode(), self.trace)

    @property
    def summary(self) -> str:
        return f"{self.steps} steps, {self.committed_end} offsets committed, trace {self.trace:#010x}"

    # Faults

    def some(self) -> M:
        return self.rng.choice(list(self.members.values()))

    def _partition(self) -> None:
        ids = list(self.members)
        group = set(self.rng.sample(ids, self.rng.randrange(len(ids)) + 1))
        way = self.rng.choice(["both", "both", "inbound", "outbound"])
        self.network.isolate(group, set(ids), inbound=way != "outbound", outbound=way != "inbound")
        self.counts["partition"] += 1
        self.after(self.rng.choice(self.PARTITIONS_MS), lambda: None if self.is_healed else self.network.heal())

    def _pause(self) -> None:
        self.some().pause(self.now_ms + self.rng.choice(self.PAUSES_MS))
        self.counts["pause"] += 1

    def _resign(self) -> None:
        leader = self.leader_of_newest_epoch()
        if leader is not None:
            leader.resign()

    def leader_of_newest_epoch(self) -> M | None:
        leading = [member for member in self.members.values() if member.leading_epoch is not None]
        return max(leading, key=lambda member: member.leading_epoch or 0, default=None)

    # Voters

    def _has_disk(self, voter: Voter) -> bool:
        return voter.key.admits(self.members[voter.id].voter.key)

    def live_voter_sets(self) -> list[VoterSet]:
        """The newest committed set, and those that some replica has after it.

        What a replica has in the place of committed records is no such set: nobody with that log can be elected.
        """
        committed = self.committed_voters
        live = [] if committed is None else [committed]
        for member in self.members.values():
            history = member.open_history()
            offset = -1 if history.voters_offset is None else history.voters_offset
            is_later = committed is None or offset >= self.committed_end
            if is_later and len(history.voters) and history.voters not in live:
                live.append(history.voters)
        return live

    def _change_voters(self) -> None:
        """A tool adds a node, or removes a voter: one whose disk is gone, or any while all disks are there.

        The request is there at once: one that arrives after the healing could take the healed majority away.
        """
        leader = self.leader_of_newest_epoch()
        if leader is None or leader.is_paused:
            return
        voters = leader.open_history().voters
        if any(not live.overlaps(voters) for live in self.live_voter_sets()):
            return
        gone = [voter for voter in voters if not self._has_disk(voter)]
        absent = [
            member for member in self.members.values() if member.can_become_voter and member.node_id not in voters.ids
        ]
        if absent and not gone and (self.rng.random() < 0.6 or len(voters) == 1):
            self.add_voter(leader, self.rng.choice(absent))
        else:
            self.remove_voter(leader, self.rng.choice(gone or list(voters)))

    def add_voter(self, leader: M, joiner: M) -> None:
        self.note_joining(joiner)
        voter = joiner.voter
        request = AddRaftVoterRequest(
            cluster_id=self.cluster_id,
            timeout_ms=1_000,
            voter_id=voter.id,
            voter_directory_id=voter.key.directory_id,
            listeners=[Listener(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()],
            ack_when_committed=self.rng.random() < 0.5,
        )
        leader.ask_of_quorum(request)

    def remove_voter(self, leader: M, leaver: Voter) -> None:
        request = RemoveRaftVoterRequest(
            cluster_id=self.cluster_id, voter_id=leaver.id, voter_directory_id=leaver.key.directory_id
        )
        leader.ask_of_quorum(request)

    def note_joining(self, member: M) -> None:
        """Somebody asks for this member to be added, which may happen any time from now on."""
        member.joining_until_ms = self.now_ms + JOINING_MS

    def _lose_disk(self) -> None:
        """A node comes back with an empty disk, where a majority of every live set is spared.

        One that asked to join may be added by a request that is still under way, and then would be missed.
        """
        member = self.some()
        if self.now_ms < member.joining_until_ms:
            return
        for voters in self.live_voter_sets():
            intact = [voter for voter in voters if self._has_disk(voter) and voter.id != member.node_id]
            if len(intact) < majority_size(len(voters)):
                return
        self.counts["disk loss"] += 1
        member.lose_disk()

    # The end

    def attack(self) -> None:
        self.run(self._faults.duration_ms)

    def heal(self) -> list[M]:
        """Mend a random majority of every live voter set, and the links within it."""
        self.is_healed = True
        self._end_voter_changes()
        everybody = self.rng.sample(list(self.members.values()), len(self.members))
        voter_sets = self.live_voter_sets()
        core: list[M] = []
        for member in everybody:
            if not all(_has_majority([each.voter.key for each in core], voters) for voters in voter_sets):
                core.append(member)
        self.network.conditions = Conditions()
        self.network.heal()
        self.network.isolate({member.node_id for member in core}, set(self.members))
        for member in everybody:
            if member in core:
                member.mend()
            elif self.rng.random() < 0.5:
                member.stop(is_power_cut=True)
        return core

    def _end_voter_changes(self) -> None:
        """With a leader goes the change of voters that it may be about to make."""
        for member in self.members.values():
            if member.leading_epoch is not None and (self._faults.voter_change_every_ms or self._faults.auto_join):
                member.stop(is_power_cut=False)

    def require(self, holds: Callable[[], bool], core: Sequence[M]) -> None:
        """Progress: the healed majority brings this about before long."""
        assert self.run(HEALING_MS, holds), (
            f"no progress within {HEALING_MS} ms of healing {sorted(member.node_id for member in core)}"
        )


def _has_majority(keys: Sequence[ReplicaKey], voters: VoterSet) -> bool:
    return len([key for key in keys if voters.has_voter(key)]) >= majority_size(len(voters))

"""How a partition gets from what it is to what is wanted of it: reassignments end, leaders are elected, the ELR kept.

Kept here: a leader is in the ISR; ISR and ELR have no member in common; with eligible leader replicas (KIP-966) an ISR
may be empty, without them its last member stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from typing import NamedTuple

from barnabas.metadata.topics import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    LeaderRecoveryState,
    Partition,
)
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.uuid import ZERO_UUID, Uuid


class Election(Enum):
    """ONLINE keeps a leader that can go on; PREFERRED takes the first replica if it can lead; UNCLEAN takes any alive
    rather than none."""

    ONLINE = "online"
    PREFERRED = "preferred"
    UNCLEAN = "unclean"


class PartitionRules(NamedTuple):
    """`can_lead` tells whether a broker is alive and that directory of it works; `default_directory` is for replicas
    that are new."""

    can_lead: Callable[[int, Uuid], bool]
    default_directory: Callable[[int], Uuid]
    min_isr: int
    is_elr_enabled: bool


class PlannedChange(NamedTuple):
    """The partition as it will be. A leader that is named, be it the same, begins a new leader epoch."""

    partition: Partition
    is_leader_named: bool


def plan_change(
    was: Partition,
    wanted: Partition,
    rules: PartitionRules,
    election: Election = Election.ONLINE,
    uncleanly_stopped: Collection[int] = (),
) -> PlannedChange | None:
    """What becomes of a partition where `wanted` has the replicas, ISR, directories and recovery state to aim at.

    `uncleanly_stopped` are replicas that may have lost what they had. None where nothing changes.
    """
    target = _completed(wanted)
    isr, state = target.isr, target.leader_recovery_state
    eligible = _eligible(was, target, rules, uncleanly_stopped)
    leader, is_unclean = _elect(was, target, eligible, rules, election)
    # A replica that is taken off must not be taken for one of this epoch, so that begins a new one too.
    is_replica_gone = target.replicas != was.replicas and not set(was.replicas) <= set(target.replicas)
    is_leader_named = is_unclean or leader != was.leader or is_replica_gone
    if is_unclean:
        # Whatever the new leader lacks is lost: everybody else has to follow it from here on.
        isr, eligible, state = (leader,), (), LeaderRecoveryState.RECOVERING
    elif leader in eligible:
        isr, eligible = (leader,), tuple(each for each in eligible if each != leader)
    elif not isr and not rules.is_elr_enabled:
        isr = was.isr
    will = Partition(
        replicas=target.replicas,
        directories=_directories(was, target, rules),
        isr=isr,
        leader=leader,
        leader_epoch=was.leader_epoch,
        partition_epoch=was.partition_epoch,
        leader_recovery_state=state,
        removing_replicas=target.removing_replicas,
        adding_replicas=target.adding_replicas,
        eligible_leader_replicas=eligible,
        last_known_elr=_last_known(was, leader, rules, is_leader_named=is_leader_named),
    )
    if will == was and not is_leader_named:
        return None
    will = will._replace(leader_epoch=was.leader_epoch + is_leader_named, partition_epoch=was.partition_epoch + 1)
    return PlannedChange(will, is_leader_named)


def change_record(was: Partition, change: PlannedChange, topic_id: Uuid, partition_id: int) -> PartitionChangeRecord:
    """The record of what differs."""
    will = change.partition

    def differing(name: str) -> list[int] | None:
        return None if getattr(was, name) == getattr(will, name) else list(getattr(will, name))

    is_recovery_told = will.leader_recovery_state != was.leader_recovery_state
    return PartitionChangeRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        isr=differing("isr"),
        leader=will.leader if change.is_leader_named else NO_LEADER_CHANGE,
        replicas=differing("replicas"),
        removing_replicas=differing("removing_replicas"),
        adding_replicas=differing("adding_replicas"),
        leader_recovery_state=will.leader_recovery_state if is_recovery_told else NO_RECOVERY_CHANGE,
        directories=None if was.directories == will.directories else list(will.directories),
        eligible_leader_replicas=differing("eligible_leader_replicas"),
        last_known_elr=differing("last_known_elr"),
    )


class RepeatedChange:
    """A change that was planned for one partition, for all that are like it but for their epochs."""

    __slots__ = ("_change", "_record")

    def __init__(self, was: Partition, change: PlannedChange) -> None:
        self._change = change
        self._record = change_record(was, change, ZERO_UUID, 0)

    def partition(self, was: Partition) -> Partition:
        """What another one will be."""
        will, is_leader_named = self._change
        return will.with_epochs(was.leader_epoch + is_leader_named, was.partition_epoch + 1)

    def record(self, topic_id: Uuid, partition_id: int) -> PartitionChangeRecord:
        like = self._record
        return PartitionChangeRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            isr=like.isr,
            leader=like.leader,
            replicas=like.replicas,
            removing_replicas=like.removing_replicas,
            adding_replicas=like.adding_replicas,
            leader_recovery_state=like.leader_recovery_state,
            directories=like.directories,
            eligible_leader_replicas=like.eligible_leader_replicas,
            last_known_elr=like.last_known_elr,
        )


def is_reassigning(partition: Partition) -> bool:
    return bool(partition.removing_replicas or partition.adding_replicas)


def _completed(wanted: Partition) -> Partition:
    """Without the replicas on their way out, if those that come in their place are in sync."""
    if not is_reassigning(wanted):
        return wanted
    removing, adding = wanted.removing_replicas, wanted.adding_replicas
    isr = tuple(each for each in wanted.isr if each not in removing)
    replicas = tuple(each for each in wanted.replicas if each not in removing)
    if not isr or not replicas or not set(adding) <= set(isr):
        return wanted
    # Where fewer replicas are to remain, all of them have to be in sync: leaving may not shrink the ISR for nothing.
    if len(adding) < len(removing) and not set(replicas) <= set(isr):
        return wanted
    return wanted._replace(isr=isr, replicas=replicas, removing_replicas=(), adding_replicas=())


def _eligible(
    was: Partition, target: Partition, rules: PartitionRules, uncleanly_stopped: Collection[int]
) -> tuple[int, ...]:
    """Who has everything up to the high watermark without being in sync: it rests while the ISR is below its least."""
    if not rules.is_elr_enabled or len(target.isr) >= rules.min_isr:
        return ()
    had_all = dict.fromkeys((*was.eligible_leader_replicas, *was.isr))
    gone = {*target.isr, *uncleanly_stopped}
    return tuple(each for each in had_all if each in target.replicas and each not in gone)


def _elect(
    was: Partition, target: Partition, eligible: tuple[int, ...], rules: PartitionRules, election: Election
) -> tuple[int, bool]:
    """The leader, and whether it may lack what was committed."""
    safe = target.isr or eligible

    def can_lead(replica: int) -> bool:
        return replica in was.replicas and rules.can_lead(replica, was.directory(replica))

    candidates = [was.leader, *target.replicas]
    if election is Election.PREFERRED:
        candidates.insert(0, target.replicas[0])
    for replica in candidates:
        if replica in safe and can_lead(replica):
            return replica, False
    # With nobody left who surely has everything, the last leader is the best there is (KIP-966, balanced recovery).
    if rules.is_elr_enabled and not safe and len(was.last_known_elr) == 1:
        (last,) = was.last_known_elr
        if last in target.replicas and can_lead(last):
            return last, True
    if election is Election.UNCLEAN:
        for replica in target.replicas:
            if can_lead(replica):
                return replica, True
    return NO_LEADER, False


def _last_known(was: Partition, leader: int, rules: PartitionRules, *, is_leader_named: bool) -> tuple[int, ...]:
    """The leader that was there last, remembered while there is none."""
    if rules.is_elr_enabled and is_leader_named:
        if leader != NO_LEADER:
            return ()
        if was.has_leader and not was.last_known_elr:
            return (was.leader,)
    return was.last_known_elr


def _directories(was: Partition, target: Partition, rules: PartitionRules) -> tuple[Uuid, ...]:
    """Those that `target` names where its replicas stay; for others as before, or where a broker puts new replicas."""
    if target.replicas == was.replicas:
        return target.directories
    before = dict(zip(was.replicas, was.directories, strict=True))
    return tuple(
        before[replica] if replica in before else rules.default_directory(replica) for replica in target.replicas
    )

"""The uniform assignor: members own equally many partitions, give or take one, and keep what they can.

Where all subscribe to the same topics, each keeps up to its share and the rest goes to those who have less. Where they
do not, partitions are dealt out topic by topic and then moved from the fullest to the emptiest subscriber of a topic
for as long as that makes the two more alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heapreplace
from typing import Final

from barnabas.coordinator.group.assignors.spec import Assignment, GroupSpec, MemberSpec, assignment_of
from barnabas.protocol.uuid import Uuid

# Moving partitions of one topic may upset the balance of another; each round halves what is left, roughly.
BALANCING_ROUNDS_MAX: Final = 16

_Partitions = dict[Uuid, set[int]]


def assign_uniformly(spec: GroupSpec) -> dict[str, Assignment]:
    if not spec.members:
        return {}
    return _assign_shares(spec) if spec.is_homogeneous else _Balance(spec).assign()


# Same subscriptions


def _assign_shares(spec: GroupSpec) -> dict[str, Assignment]:
    members_left = len(spec.members)
    # Some members own one more than the others: best those who have it already.
    share, extras = divmod(sum(spec.partition_counts.values()), members_left)
    kept: dict[str, _Partitions] = {}
    rooms: list[tuple[str, int]] = []
    for member_id, member in spec.members.items():
        has_extra = extras > 0
        kept[member_id] = own = _first_partitions(member, share + has_extra)
        room = share + has_extra - sum(map(len, own.values()))
        if has_extra and room and members_left > extras:
            has_extra = False
            room -= 1
        extras -= has_extra
        members_left -= 1
        rooms.append((member_id, room))
    free = iter(_free_partitions(spec, kept.values()))
    for member_id, room in rooms:
        for _ in range(room):
            topic_id, partition = next(free)
            kept[member_id].setdefault(topic_id, set()).add(partition)
    assert next(free, None) is None, "the shares add up to all partitions"
    return {member_id: assignment_of(partitions) for member_id, partitions in kept.items()}


def _first_partitions(member: MemberSpec, limit: int) -> _Partitions:
    """Up to so many of what a member was to own and still subscribes to."""
    first: _Partitions = {}
    for topic_id, partitions in member.assignment.items():
        if topic_id in member.topic_ids and limit:
            first[topic_id] = set(partitions) if len(partitions) <= limit else set(sorted(partitions)[:limit])
            limit -= len(first[topic_id])
    return first


def _free_partitions(spec: GroupSpec, owned: Iterable[_Partitions]) -> list[tuple[Uuid, int]]:
    """What nobody owns, in order."""
    taken: _Partitions = {topic_id: set() for topic_id in spec.partition_counts}
    for partitions in owned:
        for topic_id, numbers in partitions.items():
            taken[topic_id] |= numbers
    return [
        (topic_id, partition)
        for topic_id in sorted(taken)
        for partition in range(spec.partition_counts[topic_id])
        if partition not in taken[topic_id]
    ]


# Different subscriptions


class _Balance:
    """An assignment in the making: who owns what, and how much in all."""

    def __init__(self, spec: GroupSpec) -> None:
        self._spec = spec
        self._subscribers = {topic_id: ids for topic_id, ids in spec.subscribers().items() if ids}
        self._owned: dict[str, _Partitions] = {}
        for member_id, member in spec.members.items():
            self._owned[member_id] = {
                topic_id: set(partitions)
                for topic_id, partitions in member.assignment.items()
                if topic_id in member.topic_ids
            }
        self._load = {member_id: sum(map(len, own.values())) for member_id, own in self._owned.items()}

    def assign(self) -> dict[str, Assignment]:
        # Topics with the most partitions for each subscriber leave the least choice.
        topics = sorted(self._subscribers, key=self._fewest_choices_first)
        free: _Partitions = {}
        for topic_id, partition in _free_partitions(self._spec, self._owned.values()):
            free.setdefault(topic_id, set()).add(partition)
        for topic_id in topics:
            self._deal_out(topic_id, sorted(free.get(topic_id, ())))
        shared = [topic_id for topic_id in topics if len(self._subscribers[topic_id]) > 1]
        for _ in range(BALANCING_ROUNDS_MAX):
            if sum(self._balance(topic_id) for topic_id in shared) == 0:
                break
        return {member_id: assignment_of(partitions) for member_id, partitions in self._owned.items()}

    def _fewest_choices_first(self, topic_id: Uuid) -> tuple[float, int, Uuid]:
        subscribers = len(self._subscribers[topic_id])
        return -self._spec.partition_counts[topic_id] / subscribers, subscribers, topic_id

    def _deal_out(self, topic_id: Uuid, partitions: list[int]) -> None:
        emptiest = [(self._load[member_id], member_id) for member_id in self._subscribers[topic_id]]
        heapify(emptiest)
        for partition in partitions:
            member_id = emptiest[0][1]
            self._give(member_id, topic_id, partition)
            heapreplace(emptiest, (self._load[member_id], member_id))

    def _balance(self, topic_id: Uuid) -> bool:
        """Whether a partition of the topic was moved."""
        emptiest = [(self._load[member_id], member_id) for member_id in self._subscribers[topic_id]]
        fullest = [(-load, member_id) for load, member_id in emptiest if self._owned[member_id].get(topic_id)]
        heapify(emptiest)
        heapify(fullest)
        has_moved = False
        while fullest:
            giver = fullest[0][1]
            taker = emptiest[0][1]
            # Loads in the heaps may be of before a move.
            if -fullest[0][0] != self._load[giver]:
                heapreplace(fullest, (-self._load[giver], giver))
            elif emptiest[0][0] != self._load[taker]:
                heapreplace(emptiest, (self._load[taker], taker))
            elif self._load[giver] - self._load[taker] <= 1:
                break
            elif not self._owned[giver].get(topic_id):
                heappop(fullest)
            else:
                partition = max(self._owned[giver][topic_id])
                self._owned[giver][topic_id].remove(partition)
                self._load[giver] -= 1
                self._give(taker, topic_id, partition)
                has_moved = True
        return has_moved

    def _give(self, member_id: str, topic_id: Uuid, partition: int) -> None:
        self._owned[member_id].setdefault(topic_id, set()).add(partition)
        self._load[member_id] += 1

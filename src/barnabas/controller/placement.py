"""Where the replicas of new partitions go: in stripes over racks and brokers, from a random start.

Every broker gets about as many leaders and replicas as the others of its rack; a partition's replicas are in different
racks as long as there are racks; a fenced broker comes after those that are alive, and never first.
"""

from __future__ import annotations

from typing import NamedTuple

from barnabas.controller.brokers import has_uncordoned_directory
from barnabas.controller.errors import InvalidReplicationFactor
from barnabas.metadata.image import MetadataImage
from barnabas.ports.rng import Rng


class UsableBroker(NamedTuple):
    id: int
    rack: str | None
    is_fenced: bool


def usable_brokers(image: MetadataImage) -> list[UsableBroker]:
    """Those that new replicas may go to."""
    return [
        UsableBroker(broker.id, broker.rack, broker.is_fenced)
        for broker in image.cluster.brokers.contents()
        if not broker.is_in_controlled_shutdown and has_uncordoned_directory(broker)
    ]


class _Ring:
    """Brokers in a circle. In each round every one is given out at most once, from one place further on."""

    def __init__(self, members: list[int], rng: Rng) -> None:
        self._members = sorted(members)
        self._start = rng.randrange(len(members)) if members else 0
        self._round = 0
        self._taken = 0

    def next(self, number: int) -> int | None:
        """Another broker of this round, or None if all have been given out."""
        if number != self._round:
            self._round = number
            self._taken = 0
            self._start += 1
        if self._taken == len(self._members):
            return None
        self._taken += 1
        return self._members[(self._start + self._taken - 1) % len(self._members)]

    def shuffle(self, rng: Rng) -> None:
        _shuffle(self._members, rng)


class _Rack:
    def __init__(self, brokers: list[UsableBroker], rng: Rng) -> None:
        self.unfenced = _Ring([broker.id for broker in brokers if not broker.is_fenced], rng)
        self.fenced = _Ring([broker.id for broker in brokers if broker.is_fenced], rng)

    def next(self, number: int) -> int | None:
        first = self.unfenced.next(number)
        return self.fenced.next(number) if first is None else first


class StripedPlacer:
    """Places partition after partition of one topic."""

    def __init__(self, brokers: list[UsableBroker], replication_factor: int, rng: Rng) -> None:
        self._unfenced_count = sum(not broker.is_fenced for broker in brokers)
        if replication_factor <= 0:
            raise InvalidReplicationFactor(f"a replication factor of {replication_factor} makes no replica")
        if not self._unfenced_count:
            raise InvalidReplicationFactor("every broker is fenced, shutting down, or has all its directories cordoned")
        if replication_factor > len(brokers):
            raise InvalidReplicationFactor(
                f"{replication_factor} replicas need as many brokers, and only {len(brokers)} can take any"
            )
        self._replication_factor = replication_factor
        self._rng = rng
        names = sorted({broker.rack for broker in brokers}, key=lambda rack: (rack is not None, rack or ""))
        self._racks = [_Rack([broker for broker in brokers if broker.rack == name], rng) for name in names]
        self._first_rack = rng.randrange(len(self._racks))
        self._round = 0
        self._since_shuffle = 0

    def place(self) -> tuple[int, ...]:
        """The replicas of the next partition, its leader first."""
        if self._since_shuffle == self._unfenced_count > 1:
            # Each has led once. Another order keeps the same brokers from always following each other.
            _shuffle(self._racks, self._rng)
            for rack in self._racks:
                rack.unfenced.shuffle(self._rng)
                rack.fenced.shuffle(self._rng)
            self._since_shuffle = 0
        count = len(self._racks)
        order = [(self._first_rack + step) % count for step in range(count)]
        leader_rack, leader = next(
            (index, broker) for index in order if (broker := self._racks[index].unfenced.next(self._round)) is not None
        )
        replicas = [leader]
        # The leader's rack has had its turn in the first lap.
        lap = [index for index in order if index != leader_rack]
        while len(replicas) < self._replication_factor:
            for index in lap:
                broker_id = self._racks[index].next(self._round)
                if broker_id is not None and len(replicas) < self._replication_factor:
                    replicas.append(broker_id)
            lap = order
        self._round += 1
        self._since_shuffle += 1
        self._first_rack = (self._first_rack + 1) % count
        return tuple(replicas)


def _shuffle(members: list[int] | list[_Rack], rng: Rng) -> None:
    for last in range(len(members) - 1, 0, -1):
        other = rng.randrange(last + 1)
        members[last], members[other] = members[other], members[last]  # type: ignore[assignment]

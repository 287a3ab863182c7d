"""Placed replicas are even, apart, and led by brokers that are alive."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.controller.errors import InvalidReplicationFactor
from barnabas.controller.placement import StripedPlacer, UsableBroker

brokers = st.lists(
    st.builds(UsableBroker, st.integers(0, 20), st.sampled_from([None, "a", "b", "c"]), st.booleans()),
    min_size=1,
    max_size=9,
    unique_by=lambda broker: broker.id,
).filter(lambda drawn: any(not broker.is_fenced for broker in drawn))


@given(brokers, st.data(), st.integers(0, 2**32))
def test_replicas_are_distinct_brokers_of_different_racks_first(
    drawn: list[UsableBroker], data: st.DataObject, seed: int
) -> None:
    by_id = {broker.id: broker for broker in drawn}
    factor = data.draw(st.integers(1, len(drawn)))
    placer = StripedPlacer(drawn, factor, Random(seed))
    racks = len({broker.rack for broker in drawn})
    for _ in range(30):
        replicas = placer.place()
        assert len(set(replicas)) == len(replicas) == factor
        assert not by_id[replicas[0]].is_fenced
        assert len({by_id[replica].rack for replica in replicas}) == min(factor, racks)


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 2**32))
def test_leaders_and_replicas_are_spread_evenly(count: int, laps: int, seed: int) -> None:
    drawn = [UsableBroker(broker_id, None, False) for broker_id in range(count)]
    placer = StripedPlacer(drawn, min(3, count), Random(seed))
    placed = [placer.place() for _ in range(count * laps)]
    assert set(Counter(replicas[0] for replicas in placed).values()) == {laps}
    assert set(Counter(broker for replicas in placed for broker in replicas).values()) == {laps * min(3, count)}


@given(st.integers(0, 2**32))
def test_racks_of_one_size_share_leaders_evenly(seed: int) -> None:
    drawn = [UsableBroker(broker_id, "ab"[broker_id % 2], False) for broker_id in range(4)]
    placer = StripedPlacer(drawn, 1, Random(seed))
    assert set(Counter(placer.place()[0] for _ in range(4)).values()) == {1}


def test_the_same_seed_places_the_same_way() -> None:
    drawn = [UsableBroker(broker_id, None, False) for broker_id in range(5)]
    first, second = (StripedPlacer(drawn, 3, Random(7)) for _ in range(2))
    assert [first.place() for _ in range(20)] == [second.place() for _ in range(20)]


@pytest.mark.parametrize(
    ("drawn", "factor"),
    [
        ([], 1),
        ([UsableBroker(1, None, True)], 1),
        ([UsableBroker(1, None, False)], 2),
        ([UsableBroker(1, None, False)], 0),
    ],
)
def test_what_cannot_be_placed_is_refused(drawn: list[UsableBroker], factor: int) -> None:
    with pytest.raises(InvalidReplicationFactor):
        StripedPlacer(drawn, factor, Random(0))

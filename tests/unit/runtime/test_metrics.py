"""Metrics: buckets that bound what they count, and a registry that gives back what it was asked for before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.runtime.metrics import Counter, Histogram, Registry, bucket_bound


@given(st.integers(0, 2**62) | st.integers(0, 100))
def test_a_bucket_bounds_its_values_from_above_by_a_quarter_at_most(value: int) -> None:
    histogram = Histogram()
    histogram.record(value)
    (bucket,) = histogram.counts
    bound = bucket_bound(bucket)
    assert value <= bound <= value * 1.25
    assert bucket == 0 or bucket_bound(bucket - 1) < value


@given(st.lists(st.integers(0, 10**6), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_that_of_the_values_or_a_little_more(values: list[int], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    exact = next(v for v in sorted(values) if sum(other <= v for other in values) >= share * len(values))
    assert exact <= histogram.quantile(share) <= exact * 1.25
    assert (histogram.count, histogram.total) == (len(values), sum(values))


def test_a_histogram_without_values_says_0() -> None:
    assert Histogram().quantile(0.99) == 0


def test_an_instrument_is_found_again_by_its_name_and_labels_in_any_order() -> None:
    registry = Registry()
    counter = registry.counter("requests", api="Fetch", listener="L")
    counter.value += 2
    assert registry.counter("requests", listener="L", api="Fetch") is counter
    assert registry.counter("requests", api="Produce", listener="L") is not counter
    with pytest.raises(AssertionError, match="requests is no histogram"):
        registry.histogram("requests", api="Fetch", listener="L")


def test_all_instruments_are_listed_by_name() -> None:
    registry = Registry()
    registry.gauge("b", lambda: 7.0)
    registry.histogram("c", api="Fetch").record(3)
    registry.counter("a").value += 1
    samples = {sample.name: sample for sample in registry}
    assert list(samples) == ["a", "b", "c"]
    assert samples["c"].labels == (("api", "Fetch"),)
    assert isinstance(samples["a"].instrument, Counter)

"""Deadlines never go below zero, and waits double within their bounds."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from barnabas.client.patience import Deadline, backoff_ms
from unit.client.scripted_node import VirtualTime


@given(st.integers(1, 1000), st.integers(0, 10_000), st.integers(0, 10_000), st.integers())
def test_a_wait_is_a_fifth_around_the_doubled_one(failures: int, first_ms: int, most_ms: int, seed: int) -> None:
    expected = min(first_ms * 2 ** (failures - 1), most_ms)
    wait_ms = backoff_ms(failures, first_ms, most_ms, Random(seed))
    assert 0.8 * expected - 1 <= wait_ms <= 1.2 * expected + 1


@given(st.integers(0, 100), st.integers(0, 200), st.integers(0, 200))
def test_a_deadline_within_another_is_over_no_later(timeout_ms: int, passed_ms: int, inner_ms: int) -> None:
    time = VirtualTime()
    outer = Deadline(time, timeout_ms)
    time.ms += passed_ms
    assert outer.left_ms() == max(0, timeout_ms - passed_ms)
    assert outer.is_over == (passed_ms >= timeout_ms)
    assert outer.within(inner_ms).left_ms() == min(inner_ms, outer.left_ms())

"""A short run of the fuzzer over each of its targets, and proof that it would notice."""

from __future__ import annotations

from random import Random

import pytest

from barnabas.protocol.errors import ApiError
from barnabas.protocol.schema import ProtocolError
from tools.fuzz import TARGETS, Finding, Seed, mutated, throw

INPUTS = 1500


@pytest.mark.parametrize("target", TARGETS)
def test_mutated_inputs_end_in_a_value_or_a_named_error(target: str) -> None:
    random = Random(20)
    throw(random, TARGETS[target](random), INPUTS)


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_get_far_enough_that_some_are_read_and_some_refused(target: str) -> None:
    random = Random(21)
    outcomes = set()
    for seed in TARGETS[target](random):
        data = mutated(random, seed.data)
        if seed.repair is not None:
            seed.repair(data)
        try:
            seed.read(bytes(data))
            outcomes.add("read")
        except (ProtocolError, ApiError):
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_any_other_error_is_a_finding_with_its_input() -> None:
    def read(data: bytes) -> object:
        return data[5]

    with pytest.raises(Finding, match=r"(?s)sample: IndexError.*input: "):
        throw(Random(1), [Seed("sample", b"123456", read)], 1000)


def test_the_same_seed_gives_the_same_inputs() -> None:
    one, other = ([bytes(mutated(random, bytes(20))) for _ in range(50)] for random in (Random(3), Random(3)))
    assert one == other
    assert len(set(one)) > 25

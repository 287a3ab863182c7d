"""The command that runs seeded worlds says which seed failed, why, and how to run that one alone."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from tools import simulate

BAD_SEED = 13


def fake_world(seed: int) -> SimpleNamespace:
    assert seed != BAD_SEED, "two leaders in epoch 4"
    return SimpleNamespace(steps=10, counts=Counter(crash=2), summary="10 steps and a trace")


@pytest.fixture(autouse=True)
def worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SimpleNamespace(draw=lambda seed: f"plan of {seed}")
    monkeypatch.setattr(simulate, "WORLDS", {"fake": SimpleNamespace(simulate=fake_world, Plan=plan)})
    monkeypatch.setattr(simulate, "ProcessPoolExecutor", ThreadPoolExecutor)


def test_the_first_seed_that_fails_is_told_with_how_to_replay_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate.run_many("fake", first=0, count=40, jobs=2) == 1
    out = capsys.readouterr().out
    assert f"seed {BAD_SEED} fails: AssertionError: two leaders in epoch 4" in out
    assert f"replay: python -m tools.simulate --world fake --seed {BAD_SEED}\n" in out


def test_seeds_that_all_pass_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate.run_many("fake", first=100, count=20, jobs=2) == 0
    out = capsys.readouterr().out
    assert "20 seeds, 200 steps" in out
    assert out.endswith("crash: 40\n")


def test_one_seed_is_shown_with_its_plan_and_where_it_failed(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate.run_one("fake", 1) == 0
    assert "10 steps and a trace" in capsys.readouterr().out
    assert simulate.run_one("fake", BAD_SEED) == 1
    shown = capsys.readouterr()
    assert f"seed {BAD_SEED}: plan of {BAD_SEED}" in shown.out
    assert "in fake_world" in shown.err

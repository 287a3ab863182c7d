"""Run many seeded worlds under fire and tell how to replay the first that fails.

python -m tools.simulate --count 5000            quorums, seeds from 0 on
python -m tools.simulate --from 5000 --count 5000
python -m tools.simulate --seed 4711             one seed, with its plan and what happened in it
python -m tools.simulate --world controllers     whole controllers, with brokers and a tool that ask things of them
python -m tools.simulate --world groups          groups whose members and coordinators come and go
python -m tools.simulate --world consumer-groups   the same for groups of the newer protocol
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from barnabas.sim import consumer_group_world, controller_world, group_world, raft_world

PROGRESS_EVERY = 100
WORLDS = {
    "raft": raft_world,
    "controllers": controller_world,
    "groups": group_world,
    "consumer-groups": consumer_group_world,
}


def run_seed(kind: str, seed: int) -> tuple[int, int, Counter[str], str | None]:
    """A seed, its steps, what happened in it, and how it failed if it did."""
    try:
        world = WORLDS[kind].simulate(seed)
    except Exception as error:  # Whatever stops a world is what this command looks for.
        return seed, 0, Counter(), f"{type(error).__name__}: {error}"
    return seed, world.steps, world.counts, None


def run_many(kind: str, first: int, count: int, jobs: int) -> int:
    started, steps, happened, done = time.monotonic(), 0, Counter[str](), 0
    with ProcessPoolExecutor(jobs) as pool:
        for seed, taken, counts, failure in pool.map(
            partial(run_seed, kind), range(first, first + count), chunksize=10
        ):
            if failure is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                print(f"\nseed {seed} fails: {failure}")
                print(f"replay: python -m tools.simulate --world {kind} --seed {seed}")
                return 1
            steps, happened, done = steps + taken, happened + counts, done + 1
            if done % PROGRESS_EVERY == 0:
                rate = done / (time.monotonic() - started)
                print(f"\r{done} of {count} seeds, {steps} steps, {rate:.0f} seeds/s", end="", flush=True)
    print(f"\r{count} seeds, {steps} steps, {time.monotonic() - started:.0f} s; all safe, all went on after healing")
    print(", ".join(f"{what}: {times}" for what, times in sorted(happened.items())))
    return 0


def run_one(kind: str, seed: int) -> int:
    print(f"seed {seed}: {WORLDS[kind].Plan.draw(seed)}")
    try:
        world = WORLDS[kind].simulate(seed)
    except Exception:  # The whole trace is what the reader wants here.
        traceback.print_exc()
        return 1
    print(world.summary)
    print(", ".join(f"{what}: {times}" for what, times in sorted(world.counts.items())))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=WORLDS, default="raft")
    parser.add_argument("--seed", type=int, help="run this one and say what happened")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    logging.disable()  # What nodes have to say of faults that are put in on purpose is no news.
    if given.seed is not None:
        return run_one(given.world, given.seed)
    return run_many(given.world, given.first, given.count, given.jobs)


if __name__ == "__main__":
    sys.exit(main())

"""Throws random and mutated inputs at everything that reads bytes from outside, and stops at the first surprise.

An input must end in a value or in an error made for it, soon, and within bounded memory. The same seed gives the same
inputs, so that a finding can be seen again. `script/fuzz` runs a million; a short run is one of the unit tests.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter
from typing import NamedTuple

import click

from barnabas.protocol.codec import decode, encode
from barnabas.protocol.errors import ApiError
from barnabas.protocol.framing import read_request, split_frames
from barnabas.protocol.schema import ProtocolError
from declared_messages import RandomMessages, every_message
from tools.fuzz_records import read_batches, repair_batch, sound_batches

SEED_BYTES_MAX = 2048
INPUT_SECONDS_MAX = 2.0
MEMORY_BYTES_MAX = 1 << 30
INPUTS_A_STEP = 1000

# Values at which lengths and counts change their meaning, as they stand on the wire.
TELLING = (
    *(b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff"),
    *(b"\x7f\xff", b"\x80\x00", b"\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff"),
    *(b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x00", b"\x7f" + b"\xff" * 7, b"\xff" * 8),
)


class Seed(NamedTuple):
    """A good input, and what reads it; `repair` makes a mutated one pass the outermost check, such as a checksum."""

    name: str
    data: bytes
    read: Callable[[bytes], object]
    repair: Callable[[bytearray], object] | None = None


class Finding(Exception):  # noqa: N818 (it is what the command looks for)
    """An input that ended in neither a value nor a named error, or took too long."""

    def __init__(self, seed: Seed, data: bytes, what: str) -> None:
        super().__init__(f"{seed.name}: {what}\ninput: {data.hex()}")


def message_seeds(random: Random) -> list[Seed]:
    """One message of every version of everything declared."""
    source = RandomMessages(seed=random.getrandbits(32))
    seeds = []
    for cls in every_message():
        for version in cls.valid_versions:
            drawn = [bytes(encode(source.message(cls, version), version)) for _ in range(3)]
            data = min(drawn, key=lambda encoded: abs(len(encoded) - SEED_BYTES_MAX // 8))
            seeds.append(Seed(f"{cls.__name__} v{version}", data, lambda data, c=cls, v=version: decode(c, v, data)))  # type: ignore[misc]
    return seeds


def frame_seeds(random: Random) -> list[Seed]:
    """Requests in frames, of APIs and versions that may or may not exist."""
    headers = [
        key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True) + random.randbytes(4)
        for key in range(-1, 95)
        for version in (0, 3, 9, 99)
    ]
    return [
        Seed("frame", len(frame).to_bytes(4, "big") + frame, _read_frames)
        for frame in (header + b"\x00\x02me\x00" + random.randbytes(20) for header in headers)
    ]


def _read_frames(data: bytes) -> object:
    return [read_request(frame) for frame in split_frames(memoryview(data), SEED_BYTES_MAX).whole]


def batch_seeds(random: Random) -> list[Seed]:
    """Batches of every format and codec, mostly repaired after mutation, so that a checksum does not hide faults."""
    return [Seed(sound.name, sound.data, read_batches, repair_batch) for sound in sound_batches(random)]


TARGETS: dict[str, Callable[[Random], list[Seed]]] = {
    "messages": message_seeds,
    "frames": frame_seeds,
    "batches": batch_seeds,
}


def mutated(random: Random, data: bytes) -> bytearray:
    """The input with a few bytes changed, cut, doubled, or put in place of others; sometimes nothing of it is left."""
    if random.random() < 0.05:
        return bytearray(random.randbytes(random.randint(0, 64)))
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        place = random.randint(0, len(changed))
        match random.randrange(5):
            case 0:
                changed[place : place + 1] = random.randbytes(1)
            case 1:
                value = random.choice(TELLING)
                changed[place : place + random.choice((0, len(value)))] = value
            case 2:
                del changed[place : place + random.choice((1, 1, 2, 4, 30))]
            case 3:
                changed[place:place] = changed[place : place + random.choice((1, 2, 8, 30))]
            case _:
                if random.random() < 0.3:
                    del changed[place:]
    return changed


def throw(random: Random, seeds: Sequence[Seed], inputs: int) -> float:
    """Read that many mutated inputs; the seconds of the slowest. Raises Finding at the first surprise."""
    slowest = 0.0
    for _ in range(inputs):
        seed = random.choice(seeds)
        changed = mutated(random, seed.data)
        if seed.repair is not None and random.random() < 0.8:
            seed.repair(changed)
        data = bytes(changed)
        begin = perf_counter()
        try:
            seed.read(data)
        except (ProtocolError, ApiError):
            pass
        except Exception as error:
            raise Finding(seed, data, f"{type(error).__name__}: {error}") from error
        seconds = perf_counter() - begin
        if seconds > INPUT_SECONDS_MAX:
            raise Finding(seed, data, f"took {seconds:.1f} s")
        slowest = max(slowest, seconds)
    return slowest


def _bound_memory() -> None:
    """Let an allocation that no input justifies fail, as a MemoryError is a finding."""
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES_MAX, resource.RLIM_INFINITY))


@click.command(help=__doc__)
@click.argument("targets", nargs=-1, type=click.Choice(list(TARGETS)))
@click.option("--inputs", default=1_000_000, show_default=True, help="Inputs in all, shared between the targets.")
@click.option("--seed", type=int, help="Repeat the run that printed this seed.")
def main(targets: tuple[str, ...], inputs: int, seed: int | None) -> None:
    chosen = targets or tuple(TARGETS)
    seed = Random().getrandbits(32) if seed is None else seed
    click.echo(f"seed {seed}")
    _bound_memory()
    for name in chosen:
        random = Random(f"{seed} {name}")
        seeds = TARGETS[name](random)
        share = inputs // len(chosen)
        slowest = 0.0
        with click.progressbar(length=share, label=f"{name:10}", file=sys.stderr) as progress:
            while (step := min(INPUTS_A_STEP, share - progress.pos)) > 0:
                try:
                    slowest = max(slowest, throw(random, seeds, step))
                except Finding as finding:
                    raise click.ClickException(str(finding)) from finding
                progress.update(step)
        click.echo(f"{name}: {share:,} inputs of {len(seeds)} kinds, the slowest took {slowest * 1e3:.1f} ms")


if __name__ == "__main__":
    main()

"""Numbers that a node keeps about itself: counters, gauges and histograms, cheap to write, read by whoever shows them.

An instrument is looked up once, by name and labels, and then held by what it measures. Everything belongs to the loop's
thread; nothing is locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

Labels = tuple[tuple[str, str], ...]

# A histogram's bucket is the place of a value's highest bit and the two bits below it: an error of an eighth at most.
_SHARE_BITS: Final = 2
_SHARES: Final = 1 << _SHARE_BITS


class Counter:
    """Only rises. Hot paths add to `value` themselves."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Gauge:
    """Asked when somebody looks."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self.read = read


class Histogram:
    """How often which values came, in buckets that widen with the value."""

    __slots__ = ("count", "counts", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.counts: dict[int, int] = {}

    def record(self, value: int) -> None:
        """Count a value of 0 or more."""
        self.count += 1
        self.total += value
        shift = value.bit_length() - _SHARE_BITS - 1
        bucket = value if shift <= 0 else (shift << _SHARE_BITS) + (value >> shift)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1

    def quantile(self, share: float) -> int:
        """The upper bound of the bucket in which the given share of all values ends; 0 before there are any."""
        wanted = share * self.count
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= wanted:
                return bucket_bound(bucket)
        return 0


def bucket_bound(bucket: int) -> int:
    """The largest value that is counted in a bucket."""
    if bucket < 2 * _SHARES:
        return bucket
    shift, share = divmod(bucket - _SHARES, _SHARES)
    return ((share + _SHARES + 1) << shift) - 1


Instrument = Counter | Gauge | Histogram


class Sample(NamedTuple):
    name: str
    labels: Labels
    instrument: Instrument


@dataclass(slots=True)
class Registry:
    """All instruments of a node."""

    _instruments: dict[tuple[str, Labels], Instrument]

    def __init__(self) -> None:
        self._instruments = {}

    def counter(self, name: str, **labels: str) -> Counter:
        found = self._instruments.setdefault((name, tuple(sorted(labels.items()))), Counter())
        assert isinstance(found, Counter), f"{name} is no counter"
        return found

    def histogram(self, name: str, **labels: str) -> Histogram:
        found = self._instruments.setdefault((name, tuple(sorted(labels.items()))), Histogram())
        assert isinstance(found, Histogram), f"{name} is no histogram"
        return found

    def gauge(self, name: str, read: Callable[[], float], **labels: str) -> None:
        """Have `read` asked for the value; the last one given counts."""
        self._instruments[name, tuple(sorted(labels.items()))] = Gauge(read)

    def __iter__(self) -> Iterator[Sample]:
        for (name, labels), instrument in sorted(self._instruments.items(), key=lambda item: item[0]):
            yield Sample(name, labels, instrument)

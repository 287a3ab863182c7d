"""How many requests of each API came, and how long each took from its turn to its answer."""

from __future__ import annotations

from barnabas.protocol.api import APIS
from barnabas.runtime.metrics import Histogram, Registry


class RequestMeters:
    """Histograms of nanoseconds by API, made when an API is first asked for on this listener."""

    __slots__ = ("_by_key", "_listener", "_registry")

    def __init__(self, registry: Registry, listener: str) -> None:
        self._registry = registry
        self._listener = listener
        self._by_key: dict[int, Histogram] = {}

    def record(self, key: int, duration_ns: int) -> None:
        histogram = self._by_key.get(key)
        if histogram is None:
            histogram = self._add(key)
        histogram.record(duration_ns)

    def _add(self, key: int) -> Histogram:
        api = next(api for api in APIS.values() if api.key == key)
        histogram = self._registry.histogram("request_time_ns", api=api.name, listener=self._listener)
        return self._by_key.setdefault(key, histogram)

"""How long work in the background has to rest so that its reads and writes stay below a rate."""

from __future__ import annotations

from math import ceil, inf


class IoThrottle:
    """Charged with every piece of work; whoever drives the work waits as long as it is told, or does not."""

    def __init__(self, bytes_per_second: float = inf) -> None:
        if not bytes_per_second > 0:
            raise ValueError(f"a rate of {bytes_per_second} bytes a second never ends")
        self.bytes_per_second = bytes_per_second
        self._free_at_ms = 0.0

    def charge(self, io_bytes: int, now_ms: int) -> int:
        """Note work that was done, and give the milliseconds to wait before more. Idle time is not saved up."""
        self._free_at_ms = max(self._free_at_ms, now_ms) + io_bytes * 1000 / self.bytes_per_second
        return ceil(self._free_at_ms) - now_ms

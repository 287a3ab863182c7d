"""Making many objects that stay, without a search for garbage among them every few hundred."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Objects in cycles wait for the end of this; all others go as ever when nobody refers to them any more."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""Many objects that stay: made without a search for garbage among them, and left out of later ones.

A search stops the loop for as long as it takes, which is a tenth of a second for the metadata of a large cluster.
"""

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


def keep_for_good() -> None:
    """Leave what is there now out of later searches. It still goes when nobody refers to it, unless by a cycle."""
    gc.collect()
    gc.freeze()

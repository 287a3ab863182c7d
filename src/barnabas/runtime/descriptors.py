"""How many files a process may have open: as many as the system lets it, for a broker keeps several for every log."""

from __future__ import annotations

import resource
from contextlib import suppress


def raise_descriptor_limit() -> int:
    """Raise the limit that holds to the highest that this process may have; the limit from now on."""
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != highest:
        # Some systems name a highest limit that they do not grant.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]

"""Ports of this machine that nobody listens at, for nodes that tests start."""

from __future__ import annotations

from contextlib import suppress
from socket import create_server


def free_pair() -> int:
    """A free port with a free one behind it, which is where `barnabas up` puts a broker and its controller."""
    while True:
        with create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            with suppress(OSError), create_server(("127.0.0.1", port + 1)):
                return port

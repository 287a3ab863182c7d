"""One node of ours, broker and controller at once, as `barnabas up` makes it and kafka-server-start runs it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from barnabas.cli.up.command import prepare
from interop.watched_process import WatchedProcess, free_ports

SERVING = r"broker serving"


class OurBroker(WatchedProcess):
    def __init__(self, directory: Path, properties: Mapping[str, str] | None = None) -> None:
        """A new node, with these settings beside or in place of those that it would have."""
        super().__init__()
        port = free_pair()
        (self._node,) = prepare(directory, broker_count=1, port=port, is_fresh=False)
        with self._node.settings_file.open("a") as settings:
            settings.writelines(f"{name}={value}\n" for name, value in (properties or {}).items())
        self.bootstrap_servers = f"127.0.0.1:{port}"
        self.log_directory = Path(self._node.config.log_dirs[0])
        self.settings_file = self._node.settings_file

    def start(self) -> None:
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._node.settings_file)])
        self.wait_for_line(SERVING)


def free_pair() -> int:
    """A free port with a free one behind it, which is the controller's."""
    while True:
        (port,) = free_ports(1)
        with suppress(OSError), socket.create_server(("127.0.0.1", port + 1)):
            return port

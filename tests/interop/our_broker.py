"""One node of ours, broker and controller at once, as `barnabas up` makes it and kafka-server-start runs it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from barnabas.cli.up.command import prepare
from free_ports import free_pair
from interop.watched_process import WatchedProcess

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

    def begin(self) -> None:
        """Start it, and do not wait until it serves."""
        self.launch([sys.executable, "-m", "barnabas.cli.server_start", str(self._node.settings_file)])

    def start(self) -> None:
        self.begin()
        self.wait_for_line(SERVING)

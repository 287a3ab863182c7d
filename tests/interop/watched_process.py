"""A node's process whose log a test follows: started, waited for by lines of its log, stopped or killed by its id."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class ProcessError(RuntimeError):
    """A process ended, or stayed silent, where a line was awaited; the text carries what it wrote."""


class WatchedProcess:
    """Subclasses say how it is started. Waiting is for a line of its log, never for a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._lines: list[str] = []
        self._arrived = threading.Condition()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        raise NotImplementedError

    def launch(self, command: Sequence[str]) -> None:
        assert self._process is None
        self._lines.clear()
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                with self._arrived:
                    self._lines.append(line)
                    self._arrived.notify_all()
        process.wait()
        with self._arrived:
            self._arrived.notify_all()

    def mark(self) -> int:
        """A place in the node's log: lines before it are not looked at by a wait that starts from it."""
        return len(self._lines)

    def wait_for_line(self, pattern: str, *, since: int = 0, limit_s: float = 60) -> str:
        """The first line of its log that the pattern is found in; ProcessError where it ends or stays silent."""
        expression = re.compile(pattern)
        seen = since
        with self._arrived:
            while True:
                while seen < len(self._lines):
                    seen += 1
                    if expression.search(self._lines[seen - 1]):
                        return self._lines[seen - 1]
                if not self.is_running or not self._arrived.wait(limit_s):
                    raise ProcessError(f"No line with {pattern!r} in the node's log:\n{self.log()}")

    def has_line(self, pattern: str, *, since: int = 0) -> bool:
        return any(re.search(pattern, line) for line in self._lines[since:])

    def log(self) -> str:
        return "".join(self._lines)

    def stop(self) -> None:
        """Shut down as an operator would."""
        assert self._process is not None
        self._process.terminate()
        self._reap()

    def kill(self) -> None:
        """kill -9: nothing is flushed, trimmed or said."""
        assert self._process is not None
        self._process.kill()
        self._reap()

    def wait(self) -> int:
        """Wait until it ends by itself; its exit status."""
        assert self._process is not None
        process = self._process
        self._reap()
        return process.returncode

    def _reap(self) -> None:
        assert self._process is not None
        assert self._reader is not None
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            self._reader.join()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill it, if it still runs."""
        if self._process is not None:
            self.kill()


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports

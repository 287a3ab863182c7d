"""Runs the nodes of a cluster as processes of their own, and tells what becomes of them.

Until all of them serve, the end of one is the end of all. After that the others go on, as a cluster does: a node may be
killed to see what happens. None is started again unasked. Stopping asks all at once, and asks whoever is left again, as
the last of a quorum would wait for a controller that is gone. A node that takes too long, or all of them when somebody
insists, are ended by force.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from barnabas.cli.signals import STOPPING

LAST_LINES: Final = 10
HURRY_AFTER_S: Final = 1.0
STOP_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True)
class Command:
    """How a node is started, and the file that its output goes to."""

    node_id: int
    words: Sequence[str]
    output_file: Path


class Supervisor:
    """`say` tells the person at the terminal a line."""

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        hurry_after_s: float = HURRY_AFTER_S,
        stop_timeout_s: float = STOP_TIMEOUT_S,
    ) -> None:
        self._say = say
        self._hurry_after_s = hurry_after_s
        self._stop_timeout_s = stop_timeout_s
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()

    async def run(
        self,
        commands: Sequence[Command],
        wait_until_serving: Callable[[], Awaitable[None]],
        serving: Callable[[], None],
    ) -> int:
        """Run the nodes until they were asked to stop or all have ended; the exit status."""
        loop = asyncio.get_running_loop()
        for each in STOPPING:
            loop.add_signal_handler(each, self.stop)
        try:
            ends = [asyncio.create_task(self._run_node(command)) for command in commands]
            return await self._watch(ends, wait_until_serving, serving)
        finally:
            for each in STOPPING:
                loop.remove_signal_handler(each)

    async def _watch(
        self,
        ends: list[asyncio.Task[None]],
        wait_until_serving: Callable[[], Awaitable[None]],
        serving: Callable[[], None],
    ) -> int:
        ready = asyncio.ensure_future(wait_until_serving())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([ready, stopping, *ends], return_when=asyncio.FIRST_COMPLETED)
            is_ready = ready.done() and not any(end.done() for end in ends)
            if is_ready and not stopping.done():
                serving()
                all_ended = asyncio.create_task(_gather(ends))
                await asyncio.wait([stopping, all_ended], return_when=asyncio.FIRST_COMPLETED)
            was_asked = stopping.done()
            if not was_asked and not is_ready:
                self._say("The cluster did not start; stopping the other nodes.")
            await self._stop_all(ends)
            return 0 if was_asked else 1
        finally:
            ready.cancel()
            stopping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ready

    async def _run_node(self, command: Command) -> None:
        """Start a node and tell of its end, unless it was asked for."""
        with command.output_file.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command.words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Ctrl-C at the terminal is for the supervisor, which passes it on once.
                start_new_session=True,
            )
        self._processes[command.node_id] = process
        status = await process.wait()
        del self._processes[command.node_id]
        if not self._stopping.is_set() or status not in (0, -signal.SIGTERM, -signal.SIGKILL):
            self._say(_describe_end(command, status))

    def stop(self) -> None:
        """Stop all nodes; asked again, by force."""
        if self._stopping.is_set():
            self._signal_all(signal.SIGKILL)
        self._stopping.set()

    async def _stop_all(self, ends: list[asyncio.Task[None]]) -> None:
        self._stopping.set()
        now_s = asyncio.get_running_loop().time
        until_s = now_s() + self._stop_timeout_s
        running: set[asyncio.Task[None]] = set(ends)
        while running and (left_s := until_s - now_s()) > 0:
            self._signal_all(signal.SIGTERM)
            _, running = await asyncio.wait(running, timeout=min(left_s, self._hurry_after_s))
        if running:
            ids = ", ".join(str(node_id) for node_id in sorted(self._processes))
            self._say(f"Not stopped after {self._stop_timeout_s:g} s, so ended by force: node {ids}")
            self._signal_all(signal.SIGKILL)
        await asyncio.gather(*ends)

    def _signal_all(self, number: signal.Signals) -> None:
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)


async def _gather(ends: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*ends)


def _describe_end(command: Command, status: int) -> str:
    cause = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    lines = read_last_lines(command.output_file, LAST_LINES)
    return "\n".join(
        [f"Node {command.node_id} {cause}. The end of {command.output_file}:", *(f"    {line}" for line in lines)]
    )


def read_last_lines(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in deque(file, count)]

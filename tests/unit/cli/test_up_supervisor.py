"""The supervisor of `barnabas up`, with small programs in the place of nodes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from barnabas.cli.up.supervisor import Command, Supervisor, read_last_lines

# Says that it is there, and ends when it is asked to.
PATIENT = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (print("asked", flush=True), sys.exit(0)))
print("up", flush=True)
while True: signal.pause()
"""
# Ends only when it is asked for the second time.
SLOW = """
import signal, sys
asked = []
signal.signal(signal.SIGTERM, lambda *_: (asked.append(1), len(asked) > 1 and sys.exit(0)))
print("up", flush=True)
while True: signal.pause()
"""
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True: signal.pause()
"""
FAILING = "print('a line'); print('what is wrong'); raise SystemExit(3)"


class Trial:
    """A supervisor and what it said; its nodes serve when each has written a line."""

    def __init__(self, folder: Path, *programs: str, hurry_after_s: float = 60, stop_timeout_s: float = 60) -> None:
        self.said: list[str] = []
        self.commands = [
            Command(node_id, [sys.executable, "-c", program], folder / f"{node_id}.log")
            for node_id, program in enumerate(programs, 1)
        ]
        self.is_serving = False
        self._hurry_after_s = hurry_after_s
        self._stop_timeout_s = stop_timeout_s

    def run(
        self,
        when_serving: Callable[[Supervisor], None] = Supervisor.stop,
        wait: Callable[[], Awaitable[None]] | None = None,
    ) -> int:
        async def run() -> int:
            supervisor = Supervisor(
                self.said.append, hurry_after_s=self._hurry_after_s, stop_timeout_s=self._stop_timeout_s
            )

            def serving() -> None:
                self.is_serving = True
                when_serving(supervisor)

            return await supervisor.run(self.commands, wait or self._wait, serving)

        return asyncio.run(run())

    async def _wait(self) -> None:
        while not all(each.output_file.exists() and each.output_file.read_text() for each in self.commands):
            await asyncio.sleep(0.01)

    def output(self, node_id: int) -> str:
        return self.commands[node_id - 1].output_file.read_text()


def test_nodes_that_were_asked_to_stop_end_in_silence(tmp_path: Path) -> None:
    trial = Trial(tmp_path, PATIENT, PATIENT)
    assert trial.run() == 0
    assert trial.is_serving
    assert trial.said == []
    assert trial.output(1) == trial.output(2) == "up\nasked\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all(tmp_path: Path, number: int) -> None:
    trial = Trial(tmp_path, PATIENT, PATIENT)
    assert trial.run(lambda _: os.kill(os.getpid(), number)) == 0
    assert trial.output(1) == "up\nasked\n"


def test_what_is_typed_at_the_terminal_reaches_the_supervisor_alone(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "import os; print(os.getpgrp(), flush=True)" + PATIENT)
    assert trial.run() == 0
    assert int(trial.output(1).split()[0]) != os.getpgrp()


def test_a_node_that_does_not_start_ends_all_and_is_shown(tmp_path: Path) -> None:
    trial = Trial(tmp_path, PATIENT, FAILING)

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    assert trial.run(wait=wait_for_ever) == 1
    assert not trial.is_serving
    log = trial.commands[1].output_file
    assert trial.said == [
        f"Node 2 ended with status 3. The end of {log}:\n    a line\n    what is wrong",
        "The cluster did not start; stopping the other nodes.",
    ]


def test_a_node_that_is_killed_is_shown_and_the_others_go_on(tmp_path: Path) -> None:
    trial = Trial(tmp_path, PATIENT, PATIENT)
    after: list[list[int]] = []

    def kill_one(supervisor: Supervisor) -> None:
        supervisor._processes[1].kill()

        def look() -> None:
            if trial.said:
                after.append(list(supervisor._processes))
                supervisor.stop()
            else:
                asyncio.get_running_loop().call_later(0.01, look)

        look()

    assert trial.run(kill_one) == 0
    assert trial.said[0].startswith("Node 1 was ended by SIGKILL. The end of ")
    assert after == [[2]]
    assert trial.output(2) == "up\nasked\n"


def test_a_cluster_whose_nodes_have_all_ended_has_failed(tmp_path: Path) -> None:
    trial = Trial(tmp_path, PATIENT)

    def kill(supervisor: Supervisor) -> None:
        supervisor._processes[1].kill()

    assert trial.run(kill) == 1
    assert len(trial.said) == 1


def test_who_is_left_is_asked_a_second_time(tmp_path: Path) -> None:
    trial = Trial(tmp_path, SLOW, PATIENT, hurry_after_s=0.05)
    assert trial.run() == 0
    assert trial.said == []


def test_a_node_that_takes_too_long_is_ended_by_force(tmp_path: Path) -> None:
    trial = Trial(tmp_path, STUBBORN, PATIENT, hurry_after_s=0.01, stop_timeout_s=0.2)
    assert trial.run() == 0
    assert trial.said == ["Not stopped after 0.2 s, so ended by force: node 1"]


def test_who_insists_ends_all_by_force(tmp_path: Path) -> None:
    trial = Trial(tmp_path, STUBBORN)

    def insist(supervisor: Supervisor) -> None:
        supervisor.stop()
        asyncio.get_running_loop().call_later(0.05, supervisor.stop)

    assert trial.run(insist) == 0
    assert trial.said == []


def test_the_last_lines_of_a_file_are_read(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"1\n2\n\xff\n4")
    assert read_last_lines(file, 2) == ["\ufffd", "4"]

"""The `barnabas` command: its help, what it refuses, and one node that it starts and stops."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from socket import create_server

import pytest
from click.testing import CliRunner

from barnabas import __version__
from barnabas.cli.main import main
from free_ports import free_pair


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.output


def test_it_says_what_it_is() -> None:
    assert run("--version") == (0, f"barnabas, version {__version__}\n")
    status, page = run("--help")
    assert status == 0
    assert "up " in page


@pytest.mark.parametrize("words", [["--brokers", "0"], ["--brokers", "10"], ["--port", "0"], ["--port", "x"], ["more"]])
def test_options_out_of_range_are_refused(words: list[str]) -> None:
    status, page = run("up", *words)
    assert status == 2
    assert "Usage: " in page


def test_what_keeps_a_cluster_from_starting_is_said_in_a_line(tmp_path: Path) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        status, said = run("up", "--data", str(tmp_path), "--port", str(taken.getsockname()[1]))
    assert status == 1
    assert said.startswith("Error: 127.0.0.1:")
    (tmp_path / "file").write_text("")
    status, said = run("up", "--data", str(tmp_path / "file" / "below"))
    assert status == 1
    assert said.startswith("Error: ")


def test_one_node_is_up_until_it_is_interrupted(tmp_path: Path) -> None:
    port = free_pair()
    words = ["up", "--data", str(tmp_path), "--port", str(port)]
    running = subprocess.Popen(
        [sys.executable, "-m", "barnabas.cli.main", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    title, listens = running.stdout.readline(), running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, ""), (tmp_path / "node-0" / "server.log").read_text()
    assert title.startswith(f"Barnabas {__version__}: 1 broker in cluster ")
    assert listens.split() == ["listens", "at", f"127.0.0.1:{port}"]
    assert "broker serving" in (tmp_path / "node-0" / "server.log").read_text()

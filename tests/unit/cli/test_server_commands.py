"""kafka-server-start and kafka-server-stop: their command lines, and which processes a stop is meant for."""

from __future__ import annotations

import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli import server_start, server_stop
from barnabas.cli.server_stop import Process, find_nodes, is_meant

SETTINGS = "process.roles=controller\nnode.id=3\n"


@pytest.fixture
def properties(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(SETTINGS)
    return path


def start(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    status = server_start.run(arguments, {}, out, err)
    return status, out.getvalue(), err.getvalue()


def test_overrides_take_the_place_of_settings_in_the_file(properties: Path) -> None:
    words = [str(properties), "--override", "node.id=4", "--override=log.dirs=/a=b", "--override", "x="]
    given = server_start.read_settings(words)
    assert given == {"process.roles": "controller", "node.id": "4", "log.dirs": "/a=b", "x": ""}


@pytest.mark.parametrize(
    ("behind", "complaint"),
    [
        (["what"], "what"),
        (["--override"], "requires an argument"),
        (["--override", "name"], "name"),
        (["--override", "=value"], "=value"),
    ],
)
def test_a_command_line_that_cannot_be_followed_is_refused(properties: Path, behind: list[str], complaint: str) -> None:
    status, _, err = start(str(properties), *behind)
    assert status == 1
    assert complaint in err
    assert "USAGE" in err


def test_usage_version_and_files_that_are_not_there(properties: Path) -> None:
    assert start() == (1, "", server_start.USAGE + "\n")
    assert start("--version") == (0, "4.3.1\n", "")
    status, _, err = start(str(properties) + ".not")
    assert status == 1
    assert "server.properties.not" in err
    status, _, err = start(str(properties), "--override", "process.roles=king")
    assert status == 1
    assert "process.roles" in err


def test_nodes_are_told_from_other_processes() -> None:
    folder = Path("/")
    processes = [
        Process(1, ("/v/bin/python", "/v/bin/kafka-server-start", "a.properties"), folder),
        Process(2, ("python", "-m", "barnabas.cli.server_start", "b.properties", "--override", "x=y"), folder),
        Process(3, ("sh", "/v/bin/kafka-server-start.sh", "-daemon", "c.properties"), folder),
        Process(4, ("vim", "kafka-server-start.md"), folder),
        Process(5, ("python", "/v/bin/kafka-server-start"), folder),
        Process(6, ("python", "/v/bin/kafka-server-stop"), folder),
    ]
    assert [(each.pid, each.words[0]) for each in find_nodes(iter(processes))] == [
        (1, "a.properties"),
        (2, "b.properties"),
        (3, "c.properties"),
    ]


def test_a_role_or_an_id_selects_by_what_the_settings_say(properties: Path) -> None:
    process = Process(1, (properties.name,), properties.parent)
    assert is_meant(process, None, None)
    assert is_meant(process, "controller", None)
    assert not is_meant(process, "broker", None)
    assert is_meant(process, None, "3")
    assert not is_meant(process, None, "4")
    assert is_meant(process._replace(words=(properties.name, "--override", "node.id=4")), None, "4")
    assert not is_meant(process._replace(words=("gone.properties",)), "controller", None)
    assert is_meant(process._replace(words=("gone.properties",)), None, None)


def test_a_stop_reaches_the_process_that_is_meant(tmp_path: Path) -> None:
    """The process only looks like a node: it waits, and its command line has the same words."""
    name = tmp_path / "kafka-server-start"
    name.write_text("import sys\nprint('up', flush=True)\nsys.stdin.read()\n")
    settings = tmp_path / "server.properties"
    settings.write_text("node.id=987654\n")
    command = [sys.executable, str(name), settings.name]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            out = StringIO()
            assert server_stop.run(["--node-id=987653"], out, StringIO()) == 1
            assert out.getvalue() == "No kafka server to stop\n"
            assert server_stop.run(["--node-id=987654"], StringIO(), StringIO()) == 0
            assert process.wait() == -signal.SIGTERM
        finally:
            process.kill()


def test_a_stop_with_other_words_changes_nothing() -> None:
    err = StringIO()
    assert server_stop.run(["--all"], StringIO(), err) == 1
    assert err.getvalue() == server_stop.USAGE + "\n"

"""The command line of `kafka-dump-log`: which files it takes, what it refuses, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.dump_log import run
from builders import make_batch

LOG = "00000000000000000000.log"
COMMAND = [sys.executable, "-c", "from barnabas.cli.dump_log import main; main()"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dump(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    return run(arguments, out, err), out.getvalue(), err.getvalue()


def test_several_files_are_dumped_in_their_order_and_unknown_ones_passed_over() -> None:
    Path(LOG).touch()
    status, out, err = dump("--files", f"leader-epoch-checkpoint,{LOG},.//{LOG}.deleted,")
    assert status == 0
    assert out == (f"Dumping leader-epoch-checkpoint\nDumping {LOG}\nLog starting offset: 0\nDumping ./{LOG}.deleted\n")
    assert err == f"Ignoring unknown file leader-epoch-checkpoint\nIgnoring unknown file ./{LOG}.deleted\n"


def test_findings_are_told_behind_the_last_file() -> None:
    Path(LOG).write_bytes(make_batch(1, 5))
    status, out, err = dump("--deep-iteration", "--files", f"{LOG},unknown")
    assert status == 0
    assert out.endswith("Dumping unknown\n")
    assert err.startswith("Ignoring unknown file unknown\nNon-consecutive offsets in ")


@pytest.mark.parametrize("name", [LOG, "name.log", "name.index", "name.checkpoint", "00000000000000000000.snapshot"])
def test_a_file_that_cannot_be_dumped_is_named_and_ends_the_run(name: str) -> None:
    status, out, err = dump("--files", f"{name},other")
    assert status == 1
    assert "Dumping other" not in out
    assert name.split(".")[0] in err


@pytest.mark.parametrize("option", ["--key-decoder-class", "--value-decoder-class"])
def test_options_that_name_a_java_class_are_refused(option: str) -> None:
    status, out, err = dump(option, "org.example.Decoder", "--files", LOG)
    assert (status, out) == (1, "")
    assert f"{option} names a Java class" in err


def test_the_first_decoder_in_kafkas_order_decides() -> None:
    Path(LOG).write_bytes(make_batch(1))
    _, out, _ = dump("--cluster-metadata-decoder", "--offsets-decoder", "--files", LOG)
    assert "key: " in out


def test_the_reader_of_a_pipe_may_leave_early() -> None:
    Path(LOG).write_bytes(make_batch(1000) * 50)
    with subprocess.Popen(
        [*COMMAND, "--deep-iteration", "--files", LOG], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == f"Dumping {LOG}\n".encode()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_closed_output_is_told() -> None:
    Path(LOG).touch()
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *COMMAND, "--files", LOG], capture_output=True)
    assert (closed.returncode, closed.stderr) == (1, b"The output cannot be written: it is closed\n")


def test_output_is_utf_8_whatever_the_locale() -> None:
    Path(LOG).write_bytes(make_batch(1).replace(b"k0", "é".encode()))
    environment = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    files = LOG.encode() + b",name\xff"
    dumped = subprocess.run([*COMMAND, "--print-data-log", "--files", files], capture_output=True, env=environment)
    assert "key: é ".encode() in dumped.stdout
    assert b"Dumping name\xff\n" in dumped.stdout

"""A tool runs on the standard streams, and goes on when nobody reads its output any more."""

from __future__ import annotations

import os
import subprocess
import sys

from barnabas.cli.entry import open_output

PROGRAM = """
from barnabas.cli.entry import start

def run(arguments, out, err):
    print(*arguments, "\\u00e4", file=out)
    print("aside", file=err)
    return 3

start(run)
"""


def test_a_tool_is_given_its_words_and_ends_with_its_status() -> None:
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", PROGRAM, "a", "b c"], capture_output=True)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (3, "a b c \u00e4\n", b"aside\n")


def test_what_nobody_reads_is_dropped() -> None:
    reader, writer = os.pipe()
    out = open_output(writer)
    print("read", file=out, flush=True)
    assert os.read(reader, 100) == b"read\n"
    os.close(reader)
    print("x" * 100_000, file=out, flush=True)
    out.close()
    os.close(writer)

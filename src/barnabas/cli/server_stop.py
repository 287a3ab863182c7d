"""`kafka-server-stop`: asks the nodes on this machine to stop, all of them or those of a role or an id.

A node is found as a running process whose command line is that of kafka-server-start; what its settings file says
decides whether it is meant.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from barnabas.cli.server_start import DAEMON, UsageError, read_settings
from barnabas.config.setting import ConfigError

USAGE = "USAGE: kafka-server-stop [--process-role=broker|controller] [--node-id=ID]"
PROGRAMS = ("kafka-server-start", "kafka-server-start.sh")
MODULE = "barnabas.cli.server_start"
_ROLE = re.compile(r"--process-role=(broker|controller)")
_NODE_ID = re.compile(r"--node-id=(\d+)")


class Process(NamedTuple):
    pid: int
    words: tuple[str, ...]
    folder: Path


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    role, node_id = None, None
    for word in arguments:
        if match := _ROLE.fullmatch(word):
            role = match[1]
        elif match := _NODE_ID.fullmatch(word):
            node_id = match[1]
        else:
            print(USAGE, file=err)
            return 1
    # With both, Kafka's script goes by the id.
    meant = [each for each in find_nodes(list_processes()) if is_meant(each, None if node_id else role, node_id)]
    if not meant:
        print("No kafka server to stop", file=out)
        return 1
    for process in meant:
        os.kill(process.pid, signal.SIGTERM)
    return 0


def find_nodes(processes: Iterator[Process]) -> Iterator[Process]:
    """Those that run a node, with the words behind the command."""
    for process in processes:
        for position, word in enumerate(process.words):
            if word == MODULE or word.rpartition("/")[2] in PROGRAMS:
                behind = [each for each in process.words[position + 1 :] if each != DAEMON]
                if behind:
                    yield process._replace(words=tuple(behind))
                break


def is_meant(process: Process, role: str | None, node_id: str | None) -> bool:
    if role is None and node_id is None:
        return True
    path, *rest = process.words
    try:
        given = read_settings([str(process.folder / path), *rest])
    except (OSError, ConfigError, UsageError):
        return False
    if node_id is not None:
        return given.get("node.id", given.get("broker.id")) == node_id
    return role in [each.strip() for each in given.get("process.roles", "").split(",")]


def list_processes() -> Iterator[Process]:
    """All processes of this machine: from /proc where there is one, else from ps."""
    if Path("/proc/self/cmdline").exists():
        yield from _list_proc()
    else:
        listed = subprocess.run(["ps", "-axww", "-o", "pid=,args="], capture_output=True, text=True, check=True)
        for line in listed.stdout.splitlines():
            pid, *words = line.split()
            yield Process(int(pid), tuple(words), Path.cwd())


def _list_proc() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            yield Process(int(folder.name), tuple(words), (folder / "cwd").readlink())
        except OSError:
            # It has ended since, or is somebody else's.
            continue


if __name__ == "__main__":
    main()

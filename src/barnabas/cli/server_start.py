"""`kafka-server-start`: runs the node that a server.properties file describes, in the foreground or as a daemon."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from barnabas.cli.options import KAFKA_VERSION
from barnabas.config.java_properties import load_properties
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.runtime.garbage import collection_paused
from barnabas.runtime.logging import start_logging
from barnabas.runtime.loop import new_event_loop

USAGE = "USAGE: kafka-server-start [-daemon] server.properties [--override property=value]*"
DAEMON = "-daemon"
OVERRIDE = "--override"
# Where a daemon's output goes, in the folder that LOG_DIR names or in ./logs.
OUTPUT_FILE = "kafkaServer.out"


class UsageError(Exception):
    """A command line that cannot be followed."""


def main() -> None:
    sys.exit(run(sys.argv[1:], os.environ, sys.stdout, sys.stderr))


def run(arguments: Sequence[str], environment: Mapping[str, str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    if "--version" in arguments:
        print(KAFKA_VERSION, file=out)
        return 0
    if not arguments or "--help" in arguments:
        print(USAGE, file=err)
        return 1
    is_daemon = arguments[0] == DAEMON
    words = arguments[1:] if is_daemon else arguments
    try:
        given = read_settings(words)
        node = parse_node(given)
    except (UsageError, ConfigError, OSError) as error:
        print(error, file=err)
        return 1
    if is_daemon:
        return _start_daemon(words, environment, out)
    # The parts of a node are many modules; whoever only wants the usage does not wait for them. None of what they hold
    # becomes garbage.
    with collection_paused():
        from barnabas import server

    start_logging()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(server.run(node))


def read_settings(words: Sequence[str]) -> dict[str, str]:
    """The settings in the file that is named first, and those that the overrides behind it put in their place."""
    if not words:
        raise UsageError(USAGE)
    path = words[0]
    with open(path, "rb") as file:
        data = file.read()
    try:
        given = dict(load_properties(data))
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word != OVERRIDE and not word.startswith(OVERRIDE + "="):
            raise UsageError(f"Found non argument parameters: {word}\n{USAGE}")
        if word == OVERRIDE and not rest:
            raise UsageError(f"Option override requires an argument\n{USAGE}")
        pair = rest.pop(0) if word == OVERRIDE else word.removeprefix(OVERRIDE + "=")
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"Invalid command line property: {pair}\n{USAGE}")
        given[name.strip()] = value.strip()
    return given


def _start_daemon(words: Sequence[str], environment: Mapping[str, str], out: TextIO) -> int:
    """Run the same command without a terminal; its output goes to a file."""
    folder = Path(environment.get("LOG_DIR") or "logs")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / OUTPUT_FILE, "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "barnabas.cli.server_start", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    print(f"Started as process {process.pid}; its log is {folder / OUTPUT_FILE}", file=out)
    return 0


if __name__ == "__main__":
    main()

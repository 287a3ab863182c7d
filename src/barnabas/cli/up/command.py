"""What `barnabas up` does: finds or makes the nodes, runs them, and says where they are and what to try.

One node runs in this process; more are processes of their own under a supervisor. Either way the code is that of
kafka-server-start.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from barnabas import __version__
from barnabas.cli.server_start import OVERRIDE
from barnabas.cli.up.data_folder import (
    DataFolderError,
    PreparedNode,
    create_nodes,
    find_nodes,
    read_cluster_id,
    read_nodes,
    remove_nodes,
)
from barnabas.cli.up.layout import DEFAULT_PORT, lay_out
from barnabas.cli.up.readiness import wait_until_serving
from barnabas.cli.up.supervisor import LAST_LINES, Command, Supervisor, read_last_lines
from barnabas.runtime.logging import start_logging
from barnabas.runtime.loop import new_event_loop

TRIAL_TOPIC: Final = "greetings"
_PREFIX: Final = "    "


def run_up(
    data: Path, *, broker_count: int | None, port: int | None, is_fresh: bool, say: Callable[[str], None]
) -> int:
    """Run a cluster until it is asked to stop; the exit status. DataFolderError where it cannot be started."""
    data = data.absolute()
    nodes = prepare(data, broker_count=broker_count, port=port, is_fresh=is_fresh)
    check_ports(nodes)
    banner = describe(data, nodes, read_cluster_id(nodes[0]))
    for node in nodes:
        _set_aside(node.output_file)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        if len(nodes) == 1:
            return runner.run(_run_here(nodes[0], lambda: say(banner), say))
        supervised = [Command(node.node_id, _start_words(node), node.output_file) for node in nodes]
        return runner.run(_run_supervised(nodes, supervised, lambda: say(banner), say))


def prepare(data: Path, *, broker_count: int | None, port: int | None, is_fresh: bool) -> list[PreparedNode]:
    """The nodes in the folder, made if there are none or if they are to be made anew."""
    if is_fresh:
        remove_nodes(data)
    found = find_nodes(data)
    if not found:
        create_nodes(data, lay_out(data, broker_count or 1, DEFAULT_PORT if port is None else port))
        return read_nodes(data, None)
    if broker_count is not None and broker_count != len(found):
        raise DataFolderError(
            f"{data} holds a cluster of {_count(len(found), 'node')}, which cannot become one of {broker_count}; "
            "choose another folder with --data, or let --fresh delete this one's records"
        )
    return read_nodes(data, port)


def check_ports(nodes: list[PreparedNode]) -> None:
    """Say which port is taken before anything is started."""
    for node in nodes:
        for at in node.config.listeners:
            try:
                socket.create_server((at.host or "", at.port)).close()
            except OSError as error:
                raise DataFolderError(
                    f"{at.host or ''}:{at.port} cannot be listened at ({error.strerror}); another broker may run "
                    "there. Stop it, or choose others with --port"
                ) from error


def describe(data: Path, nodes: list[PreparedNode], cluster_id: str) -> str:
    """Where the cluster is, and what to do with it."""
    servers = ",".join(f"{host}:{port}" for host, port in (node.address for node in nodes))
    folders = " to ".join(dict.fromkeys(node.folder.name for node in (nodes[0], nodes[-1])))
    factor = f" --replication-factor {min(len(nodes), 3)}" if len(nodes) > 1 else ""
    at = f"--bootstrap-server {servers}"
    return "\n".join(
        [
            f"Barnabas {__version__}: {_count(len(nodes), 'broker')} in cluster {cluster_id}",
            f"{_PREFIX}listens at  {servers}",
            f"{_PREFIX}keeps data  {data} ({folders}: server.properties, server.log, logs)",
            f"{_PREFIX}stops with  Ctrl-C",
            "",
            "Try it in another terminal:",
            f"{_PREFIX}kafka-topics {at} --create --topic {TRIAL_TOPIC} --partitions 3{factor}",
            f"{_PREFIX}echo hello | kafka-console-producer {at} --topic {TRIAL_TOPIC}",
            f"{_PREFIX}kafka-console-consumer {at} --topic {TRIAL_TOPIC} --from-beginning",
        ]
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _set_aside(output_file: Path) -> None:
    """Keep what was said in the last run, and no older."""
    if output_file.exists():
        shutil.move(output_file, output_file.with_suffix(".log.old"))


def _start_words(node: PreparedNode) -> list[str]:
    overrides = [word for name, value in node.overrides.items() for word in (OVERRIDE, f"{name}={value}")]
    return [sys.executable, "-m", "barnabas.cli.server_start", str(node.settings_file), *overrides]


async def _run_here(node: PreparedNode, serving: Callable[[], None], say: Callable[[str], None]) -> int:
    from barnabas import server

    with node.output_file.open("w", buffering=1) as output:
        start_logging(stream=output)
        running = asyncio.create_task(server.run(node.config))
        ready = asyncio.create_task(wait_until_serving(node.address, 1))
        await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            serving()
        status = await running
        ready.cancel()
    if status != 0:
        lines = (f"{_PREFIX}{line}" for line in read_last_lines(node.output_file, LAST_LINES))
        say("\n".join([f"The node ended with status {status}. The end of {node.output_file}:", *lines]))
    return status


async def _run_supervised(
    nodes: list[PreparedNode], commands: list[Command], serving: Callable[[], None], say: Callable[[str], None]
) -> int:
    async def wait() -> None:
        # Each has to know of all, or a client might be sent to one that is not there yet.
        await asyncio.gather(*(wait_until_serving(node.address, len(nodes)) for node in nodes))

    return await Supervisor(say).run(commands, wait, serving)

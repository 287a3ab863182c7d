"""How a broker of ours bears up under many partitions and many connections.

The same load each time: batches of 16 KiB to at most a hundred of the partitions in turn, five requests in flight in
all, whatever the number of connections that they are spread over. What differs is how much else the broker holds.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack
from typing import NamedTuple

from bench.broker_nodes import new_node
from bench.measure import Row
from bench.network import IN_FLIGHT, produce_frames, receive_response

PARTITIONS = (1, 100, 10_000)
CONNECTIONS = (1, 100, 1_000)
# Controllers refuse to make ten thousand at a time.
TOPIC_PARTITIONS_MAX = 1_000
TOUCHED_MAX = 100
REQUESTS = 4_000


class Scaled(NamedTuple):
    """What a broker does, and takes, at one size."""

    mb_per_s: float
    cpu_us: float
    memory_mib: float
    descriptors: int


def run() -> list[Row]:
    rows = []
    by_partitions = {count: _measure(count, 1) for count in PARTITIONS}
    for count in PARTITIONS[1:]:
        rows += _rows(f"{count:,} partitions", "1 partition", by_partitions[count], by_partitions[PARTITIONS[0]])
    by_connections = {count: _measure(1, count) for count in CONNECTIONS}
    for count in CONNECTIONS[1:]:
        rows += _rows(f"{count:,} connections", "1 connection", by_connections[count], by_connections[CONNECTIONS[0]])
    return rows


def _rows(size: str, peer: str, many: Scaled, one: Scaled) -> list[Row]:
    return [
        Row(f"produce with {size}", peer, one.mb_per_s, many.mb_per_s, "MB/s", many.mb_per_s / one.mb_per_s),
        Row("  CPU for a request", peer, one.cpu_us, many.cpu_us, "µs", one.cpu_us / many.cpu_us),
        Row("  memory", peer, one.memory_mib, many.memory_mib, "MiB", one.memory_mib / many.memory_mib),
        Row("  descriptors", peer, one.descriptors, many.descriptors, "", one.descriptors / many.descriptors),
    ]


def _measure(partitions: int, connections: int) -> Scaled:
    with new_node("ours") as node, ExitStack() as open_connections:
        node.start_s()
        for first in range(0, partitions, TOPIC_PARTITIONS_MAX):
            node.create_topic(f"from-{first}", min(TOPIC_PARTITIONS_MAX, partitions - first))
        frames = produce_frames("from-0", range(min(partitions, TOUCHED_MAX)), 16, 1000)
        clients = [
            open_connections.enter_context(socket.create_connection((node.address.host, node.address.port)))
            for _ in range(connections)
        ]
        # Every connection and every partition has been used once when the time begins.
        _drive(clients, frames, max(len(clients), len(frames)))
        began, begin_cpu_s = time.perf_counter(), node.cpu_s()
        _drive(clients, frames, REQUESTS)
        seconds, cpu_s = time.perf_counter() - began, node.cpu_s() - begin_cpu_s
        sent_bytes = REQUESTS * len(frames[0])
        descriptors = len(os.listdir(f"/proc/{node.pid}/fd"))
        return Scaled(sent_bytes / 1e6 / seconds, cpu_s / REQUESTS * 1e6, node.resident_mib(), descriptors)


def _drive(clients: list[socket.socket], frames: list[bytes], times: int) -> None:
    buffer = bytearray(64 * 1024)
    for turn in range(times + IN_FLIGHT):
        if turn >= IN_FLIGHT:
            receive_response(clients[(turn - IN_FLIGHT) % len(clients)], buffer)
        if turn < times:
            clients[turn % len(clients)].sendall(frames[turn % len(frames)])

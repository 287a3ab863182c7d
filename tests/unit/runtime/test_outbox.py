"""Sending: every byte once and in order, whatever the kernel takes at a time, from memory and from files."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.segment import FileRegion
from barnabas.ports.disk import File
from barnabas.runtime.disk import PosixDisk, PosixFile
from barnabas.runtime.outbox import Outbox
from unit.runtime.scripted import ScriptedSocket

CONTENT = os.urandom(3 * 1024 * 1024)


class MemoryFile:
    """Only its reading is asked for here."""

    def read_at(self, position: int, size: int) -> bytes:
        return CONTENT[position : position + size]


def part_of(kind: str, size: int) -> tuple[Any, bytes]:
    data = CONTENT[7 : 7 + size]
    if kind == "region":
        return FileRegion(cast(File, MemoryFile()), 7, size), data
    return {"bytes": data, "bytearray": bytearray(data), "view": memoryview(data)}[kind], data


@given(
    parts=st.lists(
        st.tuples(st.sampled_from(["region", "bytes", "bytearray", "view"]), st.integers(0, 50)), min_size=1
    ),
    takes=st.lists(st.integers(0, 60), max_size=5).map(lambda sizes: [*sizes, 1]),
)
def test_parts_leave_whole_and_in_order_however_little_is_taken_at_a_time(
    parts: list[tuple[str, int]], takes: list[int]
) -> None:
    made = [part_of(kind, size) for kind, size in parts]
    expected = b"".join(data for _, data in made)
    to = ScriptedSocket(takes=takes)
    outbox = Outbox(cast(Any, to))
    outbox.add(part for part, _ in made)
    assert outbox.unsent_bytes == len(expected)
    counted = 0
    while outbox.unsent_bytes:
        counted += outbox.send()
        assert outbox.unsent_bytes == len(expected) - len(to.sent)
    assert bytes(to.sent) == expected
    assert counted == len(expected)
    assert outbox.send() == 0


def test_more_parts_than_one_call_gathers_leave_in_several() -> None:
    to = ScriptedSocket()
    outbox = Outbox(cast(Any, to))
    outbox.add(bytes([number % 256]) for number in range(3_000))
    outbox.send()
    assert bytes(to.sent) == bytes(number % 256 for number in range(3_000))
    assert to.calls == 3


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    yield near, far
    near.close()
    far.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[PosixFile]:
    (tmp_path / "0.log").write_bytes(CONTENT)
    opened = PosixDisk().open(str(tmp_path / "0.log"))
    yield opened
    opened.close()


def drain(of: socket.socket) -> bytes:
    received = b""
    while True:
        try:
            received += of.recv(1 << 20)
        except BlockingIOError:
            return received


def test_large_regions_are_sent_from_their_file(pair: tuple[socket.socket, socket.socket], file: PosixFile) -> None:
    near, far = pair
    outbox = Outbox(near)
    outbox.add([b"head", FileRegion(file, 100, 2_000_000), b"middle", FileRegion(file, 5, 10), b"tail"])
    received = b""
    while outbox.unsent_bytes:
        outbox.send()
        received += drain(far)
    expected = b"head" + CONTENT[100:2_000_100] + b"middle" + CONTENT[5:15] + b"tail"
    assert received == expected


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_file_that_was_cut_meanwhile_fails_the_connection(
    pair: tuple[socket.socket, socket.socket], file: PosixFile, size: int
) -> None:
    outbox = Outbox(pair[0])
    outbox.add([FileRegion(file, len(CONTENT) - size, size)])
    file.truncate(len(CONTENT) - size)
    with pytest.raises(ConnectionAbortedError):
        outbox.send()


def test_a_file_that_was_closed_meanwhile_fails_the_connection(
    pair: tuple[socket.socket, socket.socket], file: PosixFile
) -> None:
    outbox = Outbox(pair[0])
    outbox.add([FileRegion(file, 0, 1_000_000)])
    file.close()
    with pytest.raises(OSError):
        outbox.send()

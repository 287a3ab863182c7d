"""One connection: the same answers however the bytes arrive and leave, in order, in bounded and unshared memory."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.broker.call import Client, Disconnect
from barnabas.runtime.connection import Connection, Surroundings
from barnabas.runtime.inbox import Inbox, RequestMemory
from barnabas.runtime.metrics import Histogram, Registry
from barnabas.runtime.request_meters import RequestMeters
from unit.runtime.scripted import ScriptedLoop, ScriptedSocket, VirtualClock
from unit.runtime.toy_service import ToyService, ask_at_once, ask_later, get, put

INBOX_BYTES = 96
FRAME_BYTES_MAX = 4_000


class Node:
    """What connections share here; it notes who was touched and who is gone."""

    def __init__(self, memory_bytes_max: int = -1, inbox_bytes: int = INBOX_BYTES) -> None:
        self.loop = ScriptedLoop()
        self.clock = VirtualClock()
        self.service = ToyService()
        self.memory = RequestMemory(memory_bytes_max)
        self.registry = Registry()
        self.touched: list[Connection] = []
        self.gone: list[Connection] = []
        self.around = Surroundings(
            self.loop.as_loop(),
            self.clock,
            self.service.dispatcher,
            self,
            Inbox(inbox_bytes, spare_bytes_max=2_000),
            self.memory,
            RequestMeters(self.registry, "L"),
            FRAME_BYTES_MAX,
        )

    def touch(self, connection: Connection) -> None:
        self.touched.append(connection)

    def forget(self, connection: Connection) -> None:
        self.gone.append(connection)

    def connect(self, socket: ScriptedSocket) -> Connection:
        return Connection(cast(Any, socket), Client("c", "127.0.0.1", 1, "L"), self.around)

    def run(self) -> None:
        """Let everything happen, and keep the service's promises as often as nothing else is left to do."""
        self.loop.run()
        while self.service.promises:
            self.service.keep_promises()
            self.loop.run()


def requests() -> st.SearchStrategy[list[tuple[str, int]]]:
    """Kinds with a size; those around the inbox's size are where a frame just fits or just does not."""
    kind = st.sampled_from(["at once", "later", "put", "put silently", "get"])
    sizes = st.integers(0, 40) | st.integers(INBOX_BYTES - 60, INBOX_BYTES + 10) | st.integers(0, 1_500)
    return st.lists(st.tuples(kind, sizes), max_size=8)


def conversation(asked: list[tuple[str, int]]) -> tuple[bytes, bytes, list[bytes]]:
    """The bytes of all requests and of all answers, and the records that were put."""
    pairs, records = [], []
    for correlation_id, (kind, size) in enumerate(asked):
        if kind == "at once":
            pairs.append(ask_at_once(correlation_id, size))
        elif kind == "later":
            pairs.append(ask_later(correlation_id, "k" * size))
        elif kind == "get":
            pairs.append(get(correlation_id, b"fetched"))
        else:
            records.append(bytes([correlation_id + 1]) * size)
            pairs.append(put(correlation_id, records[-1], acks=1 if kind == "put" else 0))
    return b"".join(pair[0] for pair in pairs), b"".join(pair[1] for pair in pairs), records


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


@given(
    asked=requests(),
    cuts=st.lists(st.integers(0, 10_000), max_size=20),
    takes=st.lists(st.integers(0, 80), max_size=4).map(lambda sizes: [*sizes, 50]),
)
def test_any_split_of_requests_and_answers_gives_the_same_answers(
    asked: list[tuple[str, int]], cuts: list[int], takes: list[int]
) -> None:
    sent, expected, records = conversation(asked)
    node = Node()
    node.service.fetched = b"fetched"
    socket = ScriptedSocket(split(sent, cuts), takes)
    connection = node.connect(socket)
    node.run()
    assert bytes(socket.sent) == expected
    # The service has kept views of all it received: nothing was received over them.
    assert [bytes(view) for view in node.service.records] == records
    assert node.memory.used_bytes == 0
    assert not connection.is_closed
    socket.has_ended = True
    node.run()
    assert socket.is_closed
    assert node.gone == [connection]
    assert not node.loop.readers
    assert not node.loop.writers


@given(
    asked=requests(), cuts=st.lists(st.integers(0, 10_000), max_size=20), bad=st.sampled_from([-1, 4_001, 2**31 - 1])
)
def test_a_bad_size_ends_the_connection_after_earlier_answers_wherever_the_bytes_are_split(
    asked: list[tuple[str, int]], cuts: list[int], bad: int
) -> None:
    sent, expected, _ = conversation(asked)
    node = Node()
    node.service.fetched = b"fetched"
    socket = ScriptedSocket(split(sent + bad.to_bytes(4, signed=True) + b"more", cuts))
    node.connect(socket)
    node.run()
    assert socket.is_closed
    assert bytes(socket.sent) == expected
    assert node.memory.used_bytes == 0


@pytest.mark.parametrize("bad", [-1, FRAME_BYTES_MAX + 1, 2**31 - 1])
def test_a_bad_size_behind_a_request_that_waits_is_found_when_its_turn_comes(bad: int) -> None:
    node = Node()
    owed = ask_later(1, "key")
    socket = ScriptedSocket([owed[0] + bad.to_bytes(4, signed=True)])
    node.connect(socket)
    node.loop.run()
    assert not socket.is_closed
    assert node.memory.used_bytes == len(owed[0]) + 4
    node.run()
    assert socket.is_closed
    assert bytes(socket.sent) == owed[1]


def test_a_connection_that_is_ended_says_why(caplog: pytest.LogCaptureFixture) -> None:
    node = Node()
    node.connect(ScriptedSocket([b"GET / HTTP/1.1\r\n\r\n"]))
    node.run()
    (record,) = caplog.records
    assert (record.levelno, record.message) == (logging.WARNING, "connection closed")
    assert "1195725856 bytes" in record.__dict__["reason"]


def test_requests_wait_their_turn_while_one_awaits_its_answer() -> None:
    node = Node()
    first, second, third = ask_at_once(1, 10), ask_later(2, "key"), ask_at_once(3, 30)
    socket = ScriptedSocket([first[0] + second[0] + third[0]])
    node.connect(socket)
    node.loop.run()
    assert bytes(socket.sent) == first[1]
    assert len(node.service.promises) == 1
    node.service.keep_promises()
    # Whoever completes an answer is not kept from its own work by the rest of this conversation.
    assert bytes(socket.sent) == first[1]
    node.loop.run()
    assert bytes(socket.sent) == first[1] + second[1] + third[1]


def test_a_connection_is_not_read_from_while_it_owes_an_answer() -> None:
    node = Node()
    socket = ScriptedSocket([ask_later(1, "key")[0]])
    node.connect(socket)
    node.loop.run()
    socket.chunks.append(ask_at_once(2, 5)[0])
    node.loop.run()
    assert len(socket.chunks) == 1
    assert not node.loop.readers
    node.run()
    assert bytes(socket.sent) == ask_later(1, "key")[1] + ask_at_once(2, 5)[1]


def test_a_slow_reader_holds_no_more_than_it_was_sent() -> None:
    node = Node()
    node.service.fetched = bytes(1_000)
    socket = ScriptedSocket([get(1)[0] * 50], takes=[0])
    node.connect(socket)
    on_readable = node.loop.readers[socket]
    for _ in range(20):
        if socket in node.loop.readers:
            on_readable()
    assert len(socket.chunks) == 1, "the rest stays with the client"
    assert not node.loop.readers
    assert node.memory.used_bytes < INBOX_BYTES


def test_no_more_is_handled_for_a_slow_reader_than_is_sent_at_a_time() -> None:
    node = Node(inbox_bytes=4_096)
    node.service.fetched = bytes(300_000)
    asked, answer = get(1, bytes(300_000))
    socket = ScriptedSocket([asked * 10], takes=[0, 10**6])
    connection = node.connect(socket)
    node.loop.readers[socket]()
    assert connection._outbox.unsent_bytes == len(answer)
    assert node.memory.used_bytes == 9 * len(asked)
    node.run()
    assert bytes(socket.sent) == answer * 10


def test_answers_of_one_wake_up_leave_together() -> None:
    node = Node()
    pairs = [ask_at_once(number, number) for number in range(2)]
    sent = b"".join(pair[0] for pair in pairs)
    assert len(sent) <= INBOX_BYTES
    socket = ScriptedSocket([sent])
    node.connect(socket)
    node.run()
    assert socket.calls == 1


def test_the_memory_of_a_large_request_grows_with_what_came_and_not_with_what_was_announced() -> None:
    node = Node()
    data = put(1, bytes(3_500), acks=1)[0]
    socket = ScriptedSocket([data[:50]])
    connection = node.connect(socket)
    node.run()
    assert connection._large is not None
    assert len(connection._large) <= 100
    # The limit over all connections counts what the client may yet send.
    assert node.memory.used_bytes == len(data)
    socket.chunks.append(data[50:])
    node.run()
    assert bytes(socket.sent) == put(1, b"", acks=1)[1]


def test_while_memory_is_full_no_request_is_begun_and_begun_ones_are_finished() -> None:
    node = Node(memory_bytes_max=100)
    large = put(1, bytes(500), acks=1)
    first, second = ScriptedSocket([large[0][:200]]), ScriptedSocket()
    node.connect(first)
    node.connect(second)
    node.run()
    second.chunks.append(ask_at_once(2, 7)[0])
    node.run()
    assert not second.sent
    first.chunks.append(large[0][200:])
    node.run()
    assert bytes(first.sent) == large[1]
    assert bytes(second.sent) == ask_at_once(2, 7)[1]
    assert node.memory.used_bytes == 0


def test_a_small_request_that_was_begun_is_finished_while_memory_is_full() -> None:
    node = Node(memory_bytes_max=100)
    asked, answer = ask_at_once(2, 7)
    begun = ScriptedSocket([asked[:10]])
    node.connect(begun)
    node.run()
    node.connect(ScriptedSocket([put(1, bytes(500), acks=1)[0][:200]]))
    node.run()
    assert node.memory.is_full
    begun.chunks.append(asked[10:])
    node.run()
    assert bytes(begun.sent) == answer


def test_memory_of_a_connection_that_ends_goes_to_those_who_wait() -> None:
    node = Node(memory_bytes_max=100)
    hog, waiting = ScriptedSocket([put(1, bytes(500), acks=1)[0][:200]]), ScriptedSocket()
    connection = node.connect(hog)
    node.connect(waiting)
    node.run()
    waiting.chunks.append(ask_at_once(2, 7)[0])
    node.run()
    connection.close("enough")
    node.run()
    assert bytes(waiting.sent) == ask_at_once(2, 7)[1]


def test_half_a_frame_is_a_sign_of_life_when_it_begins_and_not_while_it_trickles() -> None:
    node = Node()
    data = put(1, bytes(200), acks=1)[0]
    socket = ScriptedSocket([data[:3]])
    node.connect(socket)
    node.run()
    assert len(node.touched) == 1
    for byte in data[3:-1]:
        socket.chunks.append(bytes([byte]))
        node.run()
    assert len(node.touched) == 1
    socket.chunks.append(data[-1:])
    node.run()
    assert len(node.touched) == 2


def test_a_connection_that_is_to_finish_sends_what_it_owes_and_takes_nothing_more() -> None:
    node = Node()
    owed, late = ask_later(1, "key"), ask_at_once(2, 5)
    socket = ScriptedSocket([owed[0]], takes=[7, 0])
    connection = node.connect(socket)
    node.loop.run()
    socket.chunks.append(late[0])
    connection.finish()
    assert not connection.is_closed
    node.run()
    assert connection.is_closed
    assert bytes(socket.sent) == owed[1]


def test_an_idle_connection_finishes_at_once() -> None:
    node = Node()
    connection = node.connect(ScriptedSocket())
    connection.finish()
    assert connection.is_closed
    assert node.gone == [connection]


def test_an_answer_that_comes_after_the_end_is_dropped() -> None:
    node = Node()
    socket = ScriptedSocket([ask_later(1, "key")[0]])
    connection = node.connect(socket)
    node.loop.run()
    connection.close("the other side is gone")
    node.run()
    assert not socket.sent
    assert node.memory.used_bytes == 0


def test_a_promise_that_ends_the_connection_does_so(caplog: pytest.LogCaptureFixture) -> None:
    node = Node()
    socket = ScriptedSocket([ask_later(1, "key")[0]])
    node.connect(socket)
    node.loop.run()
    promise, _ = node.service.promises.pop()
    promise.fail(Disconnect("an error with acks=0"))
    node.loop.run()
    assert socket.is_closed
    assert caplog.records[0].__dict__["reason"] == "an error with acks=0"


def test_requests_are_counted_by_api() -> None:
    node = Node()
    node.connect(ScriptedSocket([ask_at_once(1, 1)[0], ask_later(2, "key")[0], put(3, b"", acks=0)[0]]))
    node.run()
    counts = {
        dict(labels)["api"]: instrument.count
        for name, labels, instrument in node.registry
        if isinstance(instrument, Histogram) and name == "request_time_ns"
    }
    assert counts == {"Heartbeat": 1, "FindCoordinator": 1, "Produce": 1}

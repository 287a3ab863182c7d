"""A broker with many connections, most of them idle, and with callers that do not speak Kafka's protocol."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.peer import Peer
from interop.our_broker import OurBroker

IDLE, BUSY, REQUESTS_EACH = 2_000, 200, 10
TIMEOUT_MS = 60_000
NAMED_TOPICS_VERSION = 12


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with OurBroker(tmp_path_factory.mktemp("node")) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic("shared", 1, 1)])["shared"].result(60)
        yield running


def address(broker: OurBroker) -> tuple[str, int]:
    host, _, port = broker.bootstrap_servers.partition(":")
    return host, int(port)


async def produce(broker: OurBroker, caller: int, times: int) -> list[int]:
    """Send one record after another over one connection; the offsets that they were given."""
    peer = await Peer.connect(*address(broker), timeout_ms=TIMEOUT_MS, client_id=f"busy-{caller}")
    try:
        await peer.negotiate(TIMEOUT_MS)
        offsets = []
        for number in range(times):
            batch = build_batch([Record(0, 1_794_000_000_000, None, f"{caller} {number}".encode(), ())])
            partition = PartitionProduceData(index=0, records=batch)
            topic = TopicProduceData(name="shared", partition_data=[partition])
            request = ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[topic])
            response: ProduceResponse = await peer.send(request, NAMED_TOPICS_VERSION, TIMEOUT_MS)
            (answer,) = response.responses[0].partition_responses
            assert answer.error_code == ErrorCode.NONE
            offsets.append(answer.base_offset)
        return offsets
    finally:
        peer.close("done")


def test_two_hundred_busy_connections_are_served_beside_two_thousand_idle_ones(broker: OurBroker) -> None:
    async def all_at_once() -> list[list[int]]:
        return await asyncio.gather(*(produce(broker, caller, REQUESTS_EACH) for caller in range(BUSY)))

    with ExitStack() as open_sockets:
        idle = [open_sockets.enter_context(socket.create_connection(address(broker))) for _ in range(IDLE)]
        given = asyncio.run(all_at_once())
        # Each caller's records are in its order, and nobody was given an offset twice.
        assert all(offsets == sorted(offsets) for offsets in given)
        assert sorted(offset for offsets in given for offset in offsets) == list(range(BUSY * REQUESTS_EACH))
        for each in idle:
            each.setblocking(False)
            with pytest.raises(BlockingIOError):
                each.recv(1)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a browser"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), id="TLS"),
        pytest.param(b"\xff\xff\xff\xff", id="a negative size"),
        pytest.param(b"\0\0\0\0", id="an empty request"),
        pytest.param(b"\0\0\0\x0a\x7f\x7f\0\0" + bytes(6), id="an API that there is not"),
        pytest.param(b"\0\0\0\x0a\0\x03\0\x63" + bytes(6), id="a version that there is not"),
    ],
)
def test_what_is_no_request_costs_its_connection_and_is_logged(broker: OurBroker, data: bytes) -> None:
    mark = broker.mark()
    with socket.create_connection(address(broker), timeout=60) as caller:
        caller.sendall(data)
        assert caller.recv(100) == b""
    broker.wait_for_line("connection closed", since=mark)
    assert len(asyncio.run(produce(broker, BUSY, 1))) == 1

"""Where the time of a Produce request goes: each part of its way through the broker, by itself and without sockets.

The parts are timed one by one on the same request, so they do not add up to the whole exactly. What a request costs
with sockets and all is in the tables of `network` and `broker`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from time import process_time, time_ns

from barnabas.broker.call import Call, Client
from barnabas.log.append import check_leader_batch
from barnabas.log.log_config import LogConfig
from barnabas.log.producer_entry import AppendOrigin
from barnabas.protocol.api import ApiKey
from barnabas.protocol.codec import decoder
from barnabas.protocol.framing import frame_request, frame_response, read_request_header
from barnabas.protocol.messages import produce
from barnabas.protocol.schema import Message
from barnabas.records.build import build_batch
from barnabas.records.record import Record
from barnabas.runtime.disk import PosixDisk
from bench.hosted_topic import TOPIC, TOPIC_ID, HostedTopic
from bench.measure import Row

TITLE = "produce: where the time of a request of 16 KiB goes, as shares of the whole"

VERSION = 12
TIMES = 4_000
ROUNDS = 5
NO_OFFSET = bytes(8)


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        parts = _measure(directory)
    whole = parts.pop("the whole, without sockets")
    rows = [Row(name, "the whole", whole, taken, "µs", taken / whole) for name, taken in parts.items()]
    return [*rows, Row("the whole, without sockets", "the whole", whole, whole, "µs", 1.0)]


def _measure(directory: str) -> dict[str, float]:
    now_ms = time_ns() // 1_000_000
    hosted = HostedTopic(f"{directory}/logs", 1, now_ms)
    batch = build_batch([Record(i, now_ms + i, None, os.urandom(1000)) for i in range(16)])
    data = produce.PartitionProduceData(index=0, records=memoryview(batch))
    topic = produce.TopicProduceData(name=TOPIC, topic_id=TOPIC_ID, partition_data=[data])
    asked = produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
    framed = bytearray(b"".join(frame_request(asked, VERSION, 1, "bench")))
    frame = memoryview(framed)[4:]
    at = bytes(frame).index(bytes(batch))
    client = Client("bench", "127.0.0.1", 1, "PLAINTEXT")
    header, position = read_request_header(frame)
    read_body = decoder(produce.ProduceRequest, VERSION)
    request, _ = read_body(frame, position)
    call = Call(header, VERSION, client, now_ms)
    handle = hosted.table.routes[ApiKey.PRODUCE].handle
    leader = hosted.replicas.find_leader(TOPIC, 0)
    records = request.topic_data[0].partition_data[0].records
    config = LogConfig()
    file = PosixDisk().open(f"{directory}/bare", create=True)
    written = 0

    def renew() -> None:
        # An append stamps the batch where it lies; a producer's begins at offset 0.
        frame[at : at + 8] = NO_OFFSET

    def write() -> None:
        nonlocal written
        file.write_at(written, records)
        written += len(records)

    def append() -> None:
        renew()
        leader.append(records, now_ms, needs_all=True)

    def answer() -> Message:
        renew()
        response = handle(request, call)
        assert isinstance(response, Message)
        return response

    def whole() -> None:
        renew()
        hosted.dispatcher.answer(frame, client, now_ms)

    response = answer()
    taken = {
        "read the header": _best_us(lambda: read_request_header(frame)),
        "read the request": _best_us(lambda: read_body(frame, position)),
        "check the batch and its records": _best_us(
            lambda: check_leader_batch(records, config, AppendOrigin.CLIENT, now_ms), renew
        ),
        "write to the file": _best_us(write),
        "append, with both and the index": _best_us(append),
        "handle, with the append": _best_us(answer),
        "frame the answer": _best_us(lambda: frame_response(response, VERSION, 1)),
        "the whole, without sockets": _best_us(whole),
    }
    file.close()
    return taken


def _best_us(work: Callable[[], object], prepare: Callable[[], None] | None = None) -> float:
    """The CPU time of the best of a few rounds."""
    if prepare is not None:
        prepare()
    rounds = []
    for _ in range(ROUNDS):
        begin = process_time()
        for _ in range(TIMES):
            work()
        rounds.append(process_time() - begin)
    return min(rounds) / TIMES * 1e6

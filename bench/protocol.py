"""Messages: our compiled codecs beside kio's, and buffers gathered beside buffers copied."""

from __future__ import annotations

from io import BytesIO

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from barnabas.protocol.api import ApiKey
from barnabas.protocol.codec import decoder, encode, encoder, gatherer
from barnabas.protocol.framing import frame_request, frame_response, read_request
from barnabas.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.protocol.schema import Uuid
from bench.measure import Row, compare

TITLE = "protocol: Produce with one topic and one partition, batches of 16 KiB"
BATCH_BYTES = 16 * 1024
PRODUCE_VERSION = 13
FETCH_VERSION = 17
TIMES = 5_000
KIO_SUM = "kio: read request + write response"


def run() -> list[Row]:
    return [*_compare_with_kio(), _compare_frames(), *_compare_gathering()]


def _produce_request() -> ProduceRequest:
    partition = PartitionProduceData(index=3, records=bytes(BATCH_BYTES))
    topic = TopicProduceData(topic_id=Uuid(bytes(range(16))), partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def _produce_response() -> ProduceResponse:
    partition = PartitionProduceResponse(index=3, error_code=0, base_offset=123_456, log_start_offset=0)
    topic = TopicProduceResponse(topic_id=Uuid(bytes(range(16))), partition_responses=[partition])
    return ProduceResponse(responses=[topic])


def _compare_with_kio() -> list[Row]:
    request_bytes = encode(_produce_request(), PRODUCE_VERSION)
    view, whole = memoryview(request_bytes), bytes(request_bytes)
    response = _produce_response()
    theirs = load_response_schema(ApiKey.PRODUCE, PRODUCE_VERSION)
    read_theirs = entity_reader(load_request_schema(ApiKey.PRODUCE, PRODUCE_VERSION))
    write_theirs = entity_writer(theirs)
    their_response, _ = entity_reader(theirs)(bytes(encode(response, PRODUCE_VERSION)), 0)
    decode_ours = decoder(ProduceRequest, PRODUCE_VERSION)
    encode_ours = encoder(ProduceResponse, PRODUCE_VERSION)

    def kio_sum() -> None:
        read_theirs(whole, 0)
        write_theirs(BytesIO(), their_response)

    return [
        compare(
            "decode the request",
            ours=lambda: decode_ours(view, 0),
            peer=kio_sum,
            peer_name=KIO_SUM,
            wanted=1,
            times=TIMES,
        ),
        compare(
            "encode the response",
            ours=lambda: encode_ours(response, bytearray()),
            peer=kio_sum,
            peer_name=KIO_SUM,
            wanted=1,
            times=TIMES,
        ),
    ]


def _compare_frames() -> Row:
    """What a broker does for a request besides its work: the whole frame in, the whole frame out."""
    frame = memoryview(b"".join(frame_request(_produce_request(), PRODUCE_VERSION, 7, "producer-1")))[4:]
    response = _produce_response()
    body = encode(_produce_request(), PRODUCE_VERSION)
    decode_body, encode_body = decoder(ProduceRequest, PRODUCE_VERSION), encoder(ProduceResponse, PRODUCE_VERSION)

    def frames() -> None:
        request = read_request(frame)
        frame_response(response, request.version, request.header.correlation_id)

    def bodies() -> None:
        decode_body(memoryview(body), 0)
        encode_body(response, bytearray())

    return compare(
        "request and response in frames", ours=frames, peer=bodies, peer_name="the same without headers", times=TIMES
    )


def _compare_gathering() -> list[Row]:
    rows = []
    for name, size in (("100 B", 100), ("16 KiB", BATCH_BYTES), ("1 MiB", 1 << 20)):
        partition = PartitionData(
            partition_index=0, error_code=0, high_watermark=5, aborted_transactions=None, records=bytes(size)
        )
        response = FetchResponse(throttle_time_ms=0, responses=[FetchableTopicResponse(partitions=[partition])])
        gather, copy = gatherer(FetchResponse, FETCH_VERSION), encoder(FetchResponse, FETCH_VERSION)
        rows.append(
            compare(
                f"gather a Fetch response with {name} of records",
                ours=lambda gather=gather, response=response: gather(response, bytearray()),  # type: ignore[misc]
                peer=lambda copy=copy, response=response: copy(response, bytearray()),  # type: ignore[misc]
                peer_name="copied into one buffer",
                times=500,
            )
        )
    return rows

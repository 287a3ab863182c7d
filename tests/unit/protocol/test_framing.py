"""Frames and headers: splitting what was received, sizes, header versions, and ApiVersions' exceptions."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.framing import (
    frame_request,
    frame_response,
    read_request,
    read_request_header,
    read_response,
    request_header_version,
    response_header_version,
    split_frames,
)
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.schema import ProtocolError, UnsupportedVersion

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")


def framed(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


@given(st.lists(st.binary(max_size=10), max_size=5), st.binary(max_size=10), st.data())
def test_whole_frames_are_taken_and_a_partial_one_is_left(
    payloads: list[bytes], last: bytes, data: st.DataObject
) -> None:
    whole, partial = framed(*payloads), framed(last)
    cut = data.draw(st.integers(0, len(partial) - 1))
    frames = split_frames(memoryview(whole + partial[:cut]), 10)
    assert [bytes(frame) for frame in frames.whole] == payloads
    assert frames.position == len(whole)
    assert frames.next_bytes == (len(partial) if cut >= 4 else 4)


@pytest.mark.parametrize("size", [-1, -(2**31), 11, 2**31 - 1])
def test_a_frame_of_impossible_size_is_refused_as_soon_as_the_size_is_there(size: int) -> None:
    received = framed(b"fine") + struct.pack(">i", size)
    with pytest.raises(ProtocolError, match=rf"at byte 8: a frame of {size} bytes, where 0 to 10 are allowed"):
        split_frames(memoryview(received), 10)


def test_a_request_has_exactly_these_bytes() -> None:
    (fixed,) = frame_request(HEARTBEAT, 0, 7, "me")
    assert fixed.hex(" ") == bytes.fromhex("00000016 000c 0000 00000007 00026d65 000167 00000003 00016d").hex(" ")
    (flexible,) = frame_request(HEARTBEAT, 4, 7, None)
    # The client id keeps its two-byte length, and the header ends with its tagged fields.
    expected = "00000015 000c 0004 00000007 ffff 00 0267 00000003 026d 00 00"
    assert flexible.hex(" ") == bytes.fromhex(expected).hex(" ")


@pytest.mark.parametrize("version", HeartbeatRequest.valid_versions)
def test_a_request_is_read_back_with_its_header(version: int) -> None:
    frame = memoryview(b"".join(frame_request(HEARTBEAT, version, -5, "me")))[4:]
    request = read_request(frame)
    assert request.body == HEARTBEAT
    assert request.version == version
    assert (request.header.correlation_id, request.header.client_id) == (-5, "me")


@pytest.mark.parametrize("version", HeartbeatResponse.valid_versions)
def test_a_response_is_read_back_with_its_correlation_id(version: int) -> None:
    response = HeartbeatResponse(error_code=27)
    parts = frame_response(response, version, 2**31 - 1)
    assert read_response(memoryview(b"".join(parts))[4:], HeartbeatResponse, version) == (2**31 - 1, response)


def test_header_versions_follow_flexibility_except_for_answers_to_api_versions() -> None:
    assert [request_header_version(HeartbeatRequest, version) for version in (3, 4)] == [1, 2]
    assert [response_header_version(HeartbeatResponse, version) for version in (3, 4)] == [0, 1]
    assert [request_header_version(ApiVersionsRequest, version) for version in (2, 3)] == [1, 2]
    assert [response_header_version(ApiVersionsResponse, version) for version in (2, 3)] == [0, 0]


@pytest.mark.parametrize("version", [5, 99, -1])
def test_api_versions_of_an_unknown_version_is_answered_in_version_0(version: int) -> None:
    header = struct.pack(">hhi", 18, version, 11) + b"\x00\x01c" + (b"\x00" if version > 0 else b"")
    request = read_request(memoryview(header + b"what only the future can read"))
    assert request.header.request_api_version == version
    assert (request.body, request.version) == (ApiVersionsRequest(), 0)


def test_a_client_understands_the_version_0_answer_to_its_newer_api_versions() -> None:
    refusal = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=2)])
    frame = memoryview(b"".join(frame_response(refusal, 0, 3)))[4:]
    assert read_response(frame, ApiVersionsResponse, 4) == (3, refusal)


def test_other_responses_do_not_fall_back() -> None:
    frame = memoryview(b"".join(frame_response(HeartbeatResponse(error_code=0), 0, 3)))[4:]
    with pytest.raises(ProtocolError):
        read_response(frame, HeartbeatResponse, 4)


def test_records_stand_uncopied_in_a_framed_response_and_count_in_its_size() -> None:
    records = memoryview(bytes(1000))
    partition = PartitionData(
        partition_index=0, error_code=0, high_watermark=5, aborted_transactions=None, records=records
    )
    topic = FetchableTopicResponse(topic="t", partitions=[partition])
    response = FetchResponse(throttle_time_ms=0, responses=[topic])
    parts = frame_response(response, 11, 1)
    assert any(part is records for part in parts)
    (size,) = struct.unpack_from(">i", parts[0])
    assert size == sum(map(len, parts)) - 4


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("", "ends before"),
        ("000c00", "ends before"),
        ("7fff 0000 00000001 ffff", "no API has the number 32767"),
        ("0004 0000 00000001 ffff", "no API has the number 4"),
        ("000c 0000 0000", "correlation_id, at byte 4: the input ends before"),
    ],
)
def test_a_bad_header_is_refused(frame: str, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        read_request_header(memoryview(bytes.fromhex(frame)))


def test_an_unknown_version_of_an_api_is_refused_after_its_header() -> None:
    frame = memoryview(struct.pack(">hhih", 12, 9, 1, -1) + b"\x00")
    header, _ = read_request_header(frame)
    assert header.correlation_id == 1
    with pytest.raises(UnsupportedVersion, match="HeartbeatRequest v9"):
        read_request(frame)

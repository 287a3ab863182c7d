"""Dispatch: which frames are answered, which end the connection, and what a handler's failure costs."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.broker.call import Call, Client, Disconnect, Outcome, Pending
from barnabas.broker.dispatch import Dispatcher, bare_error
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.codec import encode
from barnabas.protocol.errors import ErrorCode, InvalidRecord
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.schema import Message

CLIENT = Client("PLAINTEXT-127.0.0.1:5000-0", "127.0.0.1", 5000, "PLAINTEXT")
HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
VERSION = 4


def frame_of(request: Message, version: int, correlation_id: int = 7) -> memoryview:
    return memoryview(b"".join(frame_request(request, version, correlation_id, "me")))[4:]


def dispatcher(handle: Callable[[Any, Call], Outcome], key: ApiKey = ApiKey.HEARTBEAT, **options: Any) -> Dispatcher:
    return Dispatcher(build_table([Route(key, APIS[key].versions, ServedBy.BROKER, handle, **options)]))


def raising(error: BaseException) -> Callable[[Any, Call], Outcome]:
    def handle(_: Message, __: Call) -> Outcome:
        raise error

    return handle


def answered(parts: object, response: type[Message] = HeartbeatResponse, version: int = VERSION) -> Any:
    assert isinstance(parts, list)
    correlation_id, message = read_response(memoryview(b"".join(parts))[4:], response, version)
    assert correlation_id == 7
    return message


def test_a_request_reaches_its_handler_with_its_circumstances_and_is_answered_in_its_version() -> None:
    seen: list[Any] = []

    def handle(request: HeartbeatRequest, call: Call) -> HeartbeatResponse:
        seen.extend([request, call])
        return HeartbeatResponse(error_code=27)

    for version in APIS[ApiKey.HEARTBEAT].versions:
        seen.clear()
        parts = dispatcher(handle).answer(frame_of(HEARTBEAT, version), CLIENT, 1234)
        assert answered(parts, version=version).error_code == 27
        request, call = seen
        assert request == HEARTBEAT
        assert (call.version, call.client, call.now_ms, call.header.client_id) == (version, CLIENT, 1234, "me")


def test_a_handler_may_leave_a_request_without_an_answer() -> None:
    assert dispatcher(lambda _, __: None).answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0) is None


def test_a_promise_is_finished_when_it_is_completed() -> None:
    promise = Pending()
    served = dispatcher(lambda _, __: promise)
    assert served.answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0) is promise
    notified: list[bool] = []
    promise.when_completed(lambda: notified.append(True))
    assert not notified
    promise.complete(HeartbeatResponse(error_code=5))
    assert notified == [True]
    assert answered(served.finish(promise)).error_code == 5


def test_a_promise_that_is_completed_already_is_answered_at_once() -> None:
    promise = Pending()
    promise.complete(HeartbeatResponse(error_code=5))
    parts = dispatcher(lambda _, __: promise).answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0)
    assert answered(parts).error_code == 5


def test_a_promise_is_completed_once() -> None:
    promise = Pending()
    promise.complete(None)
    with pytest.raises(AssertionError, match="answered once"):
        promise.fail(ValueError())


def test_a_promise_that_fails_is_answered_as_if_its_handler_had(caplog: pytest.LogCaptureFixture) -> None:
    promise = Pending()
    served = dispatcher(lambda _, __: promise)
    served.answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0)
    promise.fail(ValueError("the disk is made of cheese"))
    assert answered(served.finish(promise)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert "cheese" in caplog.text


def test_an_unforeseen_failure_is_logged_once_with_its_request_and_answered(caplog: pytest.LogCaptureFixture) -> None:
    handle = raising(ZeroDivisionError("nobody foresaw this"))
    parts = dispatcher(handle).answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0)
    assert answered(parts).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.__dict__["api"] == "Heartbeat"
    assert record.__dict__["connection"] == CLIENT.connection_id
    assert record.__dict__["correlation_id"] == 7


def test_an_error_with_a_code_is_an_answer_and_no_event(caplog: pytest.LogCaptureFixture) -> None:
    handle = raising(InvalidRecord("as foreseen"))
    parts = dispatcher(handle).answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0)
    assert answered(parts).error_code == ErrorCode.INVALID_RECORD
    assert not caplog.records


def test_a_response_that_its_version_cannot_carry_is_a_failure_of_the_handler(caplog: pytest.LogCaptureFixture) -> None:
    parts = dispatcher(lambda _, __: HeartbeatResponse(error_code=10**9)).answer(
        frame_of(HEARTBEAT, VERSION), CLIENT, 0
    )
    assert answered(parts).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(caplog.records) == 1


def test_an_assertion_is_a_bug_and_goes_through() -> None:
    handle = raising(AssertionError())
    with pytest.raises(AssertionError):
        dispatcher(handle).answer(frame_of(HEARTBEAT, VERSION), CLIENT, 0)


METADATA = MetadataRequest(topics=[])


def test_a_response_without_a_place_for_an_error_ends_the_connection() -> None:
    with pytest.raises(Disconnect, match="Metadata failed and cannot say so: INVALID_RECORD"):
        dispatcher(raising(InvalidRecord("no")), ApiKey.METADATA).answer(frame_of(METADATA, 9), CLIENT, 0)


def test_a_route_may_say_how_a_request_is_refused() -> None:
    def refuse(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
        assert request == METADATA
        return MetadataResponse(brokers=[], topics=[], controller_id=code)

    parts = dispatcher(raising(InvalidRecord("no")), ApiKey.METADATA, refuse=refuse).answer(
        frame_of(METADATA, 9), CLIENT, 0
    )
    assert answered(parts, MetadataResponse, 9).controller_id == ErrorCode.INVALID_RECORD


def test_a_route_may_say_that_there_is_no_way_to_refuse() -> None:
    with pytest.raises(Disconnect):
        dispatcher(raising(InvalidRecord("no")), ApiKey.METADATA, refuse=lambda _, __: None).answer(
            frame_of(METADATA, 9), CLIENT, 0
        )


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_bare_errors_can_be_sent_in_every_version_that_has_a_place_for_them(api: Any) -> None:
    for version in api.versions:
        response = bare_error(api.response, version, ErrorCode.UNKNOWN_SERVER_ERROR)
        if response is not None:
            assert encode(response, version)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "ends before"),
        (b"\x00\x0c\x00", "ends before"),
        (struct.pack(">hhih", 999, 0, 1, -1), "no API has the number 999"),
        (struct.pack(">hhih", ApiKey.FETCH, 11, 1, -1), "version 11 of API 1, which this broker listener does not"),
        (struct.pack(">hhih", ApiKey.HEARTBEAT, 5, 1, -1) + b"\x00", r"\(Heartbeat\), of which versions 0 to 4 are"),
        (struct.pack(">hhih", ApiKey.HEARTBEAT, -1, 1, -1), "version -1 of API 12"),
        (struct.pack(">hhih", ApiKey.HEARTBEAT, 0, 1, -1) + b"\x7f\xff", "HeartbeatRequest v0, group_id"),
    ],
)
def test_bytes_that_are_no_request_which_is_served_end_the_connection(frame: bytes, reason: str) -> None:
    with pytest.raises(Disconnect, match=reason):
        dispatcher(lambda _, __: None).answer(memoryview(frame), CLIENT, 0)

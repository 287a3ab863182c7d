"""Forwarding: what the controller is asked in a client's name, and what the client is answered whatever comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.broker.call import Call, Client, Disconnect
from barnabas.broker.forwarding import Forwarding, address_bytes, refuse_bare
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.codec import decode
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.framing import frame_response, read_request
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.schema import Message

VERSION = 0


class TimedOut(ApiError):  # noqa: N818 (says what happened)
    code = ErrorCode.REQUEST_TIMED_OUT


def call_from(host: str = "127.0.0.1") -> Call:
    header = RequestHeader(
        request_api_key=ApiKey.UNREGISTER_BROKER, request_api_version=VERSION, correlation_id=5, client_id="me"
    )
    return Call(header, VERSION, Client("c", host, 5000, "PLAINTEXT"), 0)


def forward(answer: Callable[[EnvelopeRequest], EnvelopeResponse], host: str = "127.0.0.1") -> Any:
    """Pass a request on to a controller that answers so; what its client gets."""

    async def ask(request: Message, _timeout_ms: int) -> EnvelopeResponse:
        assert isinstance(request, EnvelopeRequest)
        return answer(request)

    async def scenario() -> Any:
        tasks: list[asyncio.Task[None]] = []
        forwarding = Forwarding(ask, refuse_bare, lambda work: tasks.append(asyncio.ensure_future(work)))
        pending = forwarding.handle(UnregisterBrokerRequest(broker_id=9), call_from(host))
        await asyncio.gather(*tasks)
        return pending.result()

    return asyncio.run(scenario())


def enclosed(response: Message, correlation_id: int = 5) -> EnvelopeResponse:
    framed = b"".join(frame_response(response, VERSION, correlation_id))
    return EnvelopeResponse(response_data=framed[4:], error_code=0)


def test_a_request_goes_with_its_header_its_principal_and_its_address_and_the_answer_comes_back() -> None:
    seen: list[EnvelopeRequest] = []

    def answer(envelope: EnvelopeRequest) -> EnvelopeResponse:
        seen.append(envelope)
        return enclosed(UnregisterBrokerResponse(throttle_time_ms=3, error_code=102, error_message="no"))

    response = forward(answer, "::ffff:10.1.2.3")
    assert (response.throttle_time_ms, response.error_code, response.error_message) == (3, 102, "no")
    (envelope,) = seen
    inner = read_request(memoryview(envelope.request_data))
    assert inner.body == UnregisterBrokerRequest(broker_id=9)
    assert (inner.header.client_id, inner.header.correlation_id, inner.version) == ("me", 5, VERSION)
    assert bytes(envelope.client_host_address) == bytes([10, 1, 2, 3])
    principal = bytes(envelope.request_principal or b"")
    assert principal[:2] == b"\0\0"
    decoded = decode(DefaultPrincipalData, 0, principal[2:])
    assert (decoded.type, decoded.name, decoded.token_authenticated) == ("User", "ANONYMOUS", False)


@pytest.mark.parametrize(
    ("host", "size"), [("127.0.0.1", 4), ("::1", 16), ("::ffff:127.0.0.1", 4), ("fe80::1%eth0", 16)]
)
def test_addresses_are_as_long_as_java_has_them(host: str, size: int) -> None:
    assert len(address_bytes(Client("c", host, 1, "L"))) == size


def test_an_error_of_the_envelope_is_no_clients_business() -> None:
    response = forward(lambda _: EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_an_answer_that_cannot_be_read_is_an_unknown_error() -> None:
    response = forward(lambda _: EnvelopeResponse(response_data=b"\0\0\0\5", error_code=0))
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_controller_that_is_not_reached_in_time_is_said_to_be_so() -> None:
    def answer(_: EnvelopeRequest) -> EnvelopeResponse:
        raise TimedOut

    assert forward(answer).error_code == ErrorCode.REQUEST_TIMED_OUT


def test_a_version_that_the_controller_does_not_speak_ends_the_connection() -> None:
    with pytest.raises(Disconnect, match="does not speak"):
        forward(lambda _: EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))


def test_what_is_passed_on_is_offered_in_all_its_versions_as_the_controllers() -> None:
    async def never(_request: Message, _timeout_ms: int) -> Any:
        raise AssertionError

    for route in Forwarding(never, refuse_bare, lambda work: work.close()).routes:
        assert route.versions == APIS[route.key].versions
        assert route.served_by == "controller"

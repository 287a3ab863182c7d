"""Envelope: a client's request that a broker passes on, with the client's principal and address.

v0 only. What is wrong with the envelope itself is answered in it; the answer to the request inside, refusals included,
is its payload. A controller that is not active says so in the envelope, so that the broker asks the one that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.broker.call import Call, Pending
from barnabas.broker.dispatch import bare_error
from barnabas.broker.forwarding import FORWARDED
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.decision import RequestContext
from barnabas.protocol.api import ApiKey
from barnabas.protocol.codec import decode
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.framing import Request, frame_response, read_request
from barnabas.protocol.messages.describe_quorum import DescribeQuorumResponse
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.schema import Message, ProtocolError, Struct, field_specs
from barnabas.runtime.controller.contexts import RequestContexts
from barnabas.runtime.controller.routes import QUORUM_APIS, AskController, AskQuorum
from barnabas.security.acls import AclOperation

VERSIONS: Final = range(1)
ADDRESS_BYTES: Final = (4, 16)

# What brokers pass on whole, in part, or ask for themselves.
FORWARDABLE: Final = frozenset(
    {
        *FORWARDED,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.ALLOCATE_PRODUCER_IDS,
    }
)


class _BadEnvelope(Exception):  # noqa: N818 (what is wrong with it is in the code)
    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Envelopes:
    """`routes` are those of the listener without Envelope itself; only their versions are looked at."""

    def __init__(
        self,
        routes: Mapping[int, Route],
        ask_controller: AskController,
        ask_quorum: AskQuorum,
        contexts: RequestContexts,
    ) -> None:
        self._routes = routes
        self._ask_controller = ask_controller
        self._ask_quorum = ask_quorum
        self._contexts = contexts

    @property
    def route(self) -> Route:
        return Route(ApiKey.ENVELOPE, VERSIONS, ServedBy.CONTROLLER, self.handle)

    def handle(self, request: EnvelopeRequest, call: Call) -> EnvelopeResponse | Pending:
        self._contexts.access(call).require_of_cluster(AclOperation.CLUSTER_ACTION)
        try:
            principal = _read_principal(request.request_principal)
            inner = self._open(request)
        except _BadEnvelope as error:
            return EnvelopeResponse(error_code=error.code)
        answer = self._ask(inner, self._contexts.forwarded(inner, principal, request.client_host_address, call))
        pending = Pending()
        answer.when_completed(lambda: _enclose(answer, inner, pending))
        return pending

    def _open(self, request: EnvelopeRequest) -> Request:
        if len(request.client_host_address) not in ADDRESS_BYTES:
            raise _BadEnvelope(ErrorCode.INVALID_REQUEST)
        try:
            inner = read_request(memoryview(request.request_data))
        except ProtocolError as error:
            raise _BadEnvelope(ErrorCode.UNSUPPORTED_VERSION) from error
        if inner.header.request_api_key not in FORWARDABLE:
            raise _BadEnvelope(ErrorCode.INVALID_REQUEST)
        route = self._routes.get(inner.header.request_api_key)
        if route is None or inner.version not in route.versions:
            raise _BadEnvelope(ErrorCode.UNSUPPORTED_VERSION)
        return inner

    def _ask(self, inner: Request, context: RequestContext) -> Pending:
        needs = QUORUM_APIS.get(inner.header.request_api_key)
        if needs is None:
            return self._ask_controller(inner.body, context)
        try:
            context.access.require_of_cluster(needs)
        except ApiError as error:
            refused = Pending()
            response = self._routes[inner.header.request_api_key].api.response
            refused.complete(bare_error(response, inner.version, error.code))
            return refused
        return self._ask_quorum(inner.body, inner.version, context.listener)


def _read_principal(data: Any) -> DefaultPrincipalData:
    """What DefaultKafkaPrincipalBuilder wrote: a version of two bytes, then the message."""
    try:
        view = memoryview(data or b"")
        version = int.from_bytes(view[:2], "big")
        return decode(DefaultPrincipalData, version, view[2:])
    except ProtocolError as error:
        raise _BadEnvelope(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE) from error


def _enclose(answer: Pending, inner: Request, pending: Pending) -> None:
    try:
        response = answer.result()
        assert response is not None, "what is forwarded is answered"
        if _must_ask_another(response):
            pending.complete(EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER))
            return
        size, *parts = frame_response(response, inner.version, inner.header.correlation_id)
        payload = b"".join([memoryview(size)[4:], *parts])
    except Exception as error:
        pending.fail(error)
    else:
        pending.complete(EnvelopeResponse(response_data=payload, error_code=ErrorCode.NONE))


def _must_ask_another(response: Message) -> bool:
    """Whether a response says, on top or of anything in it, that this is not the controller to ask."""
    is_quorum = isinstance(response, DescribeQuorumResponse)
    code = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_quorum else ErrorCode.NOT_CONTROLLER
    return any(each == code for each in _error_codes(response))


def _error_codes(struct: Struct) -> Iterator[int]:
    for spec in field_specs(type(struct)):
        value = getattr(struct, spec.name)
        if spec.name == "error_code":
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], Struct):
            for each in value:
                yield from _error_codes(each)

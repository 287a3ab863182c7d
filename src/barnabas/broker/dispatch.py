"""From a frame to its answer: reads the request, finds its route, calls the handler, and frames the response.

Bytes that are no request which this listener serves end the connection, as they do in Kafka: whoever sent them may not
understand any answer. A handler that raises costs its request and nobody else's: it is logged once, with the request's
circumstances, and answered with an error where the response has a place for one. An AssertionError is a bug of ours
and goes through.
"""

from __future__ import annotations

import logging
from functools import cache
from struct import Struct as Layout
from typing import Any, Final, NamedTuple

from barnabas.broker.call import Call, Client, Disconnect, Pending
from barnabas.broker.routing import Route, RoutingTable
from barnabas.protocol.api import ApiKey
from barnabas.protocol.codec import decoder
from barnabas.protocol.decoder import Decoder
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.framing import frame_response, read_request_header, request_header_version
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import ZERO_UUID, ArrayOf, FieldSpec, Message, Primitive, ProtocolError, field_specs

LOG: Final = logging.getLogger(__name__)

# The buffers of a framed response; records, or regions of files in their place, stand among them uncopied.
Parts = list[Any]


# The API and its version, with which every frame begins, as one number.
_BEGINNING: Final = Layout(">I")


class _Way(NamedTuple):
    """How the frames of one API in one version are read, and who answers them."""

    route: Route
    version: int
    read_header: Decoder
    read_body: Decoder


class Dispatcher:
    """Answers the frames of one kind of listener."""

    def __init__(self, table: RoutingTable) -> None:
        self._routes = table.routes
        self._listener = table.listener
        # What was asked for already, by the first bytes of its frames.
        self._ways: dict[int, _Way] = {}

    def answer(self, frame: memoryview, client: Client, now_ms: int) -> Parts | Pending | None:
        """The framed response, or a promise of one to `finish` when it is completed, or None where none is wanted."""
        way = self._ways.get(_BEGINNING.unpack_from(frame)[0]) if len(frame) >= _BEGINNING.size else None
        try:
            if way is not None:
                route, version, read_header, read_body = way
                header, position = read_header(frame, 0)
                request, _ = read_body(frame, position)
            else:
                header, route, request, version = self._read_first(frame)
        except ProtocolError as error:
            raise Disconnect(f"no request that can be read: {error}") from error
        call = Call(header, version, client, now_ms)
        try:
            outcome = route.handle(request, call)
            if isinstance(outcome, Message):
                return frame_response(outcome, version, header.correlation_id)
        except (AssertionError, Disconnect):
            raise
        except Exception as error:
            return self._refuse(route, request, call, error)
        if outcome is None:
            return None
        outcome.call = call
        return self.finish(outcome) if outcome.is_completed else outcome

    def _read_first(self, frame: memoryview) -> tuple[RequestHeader, Route, Message, int]:
        """Read a request of an API and version that was not asked for so far, and note the way for the next one."""
        header, position = read_request_header(frame)
        route = self._routes.get(header.request_api_key)
        version = header.request_api_version
        if route is not None and version in route.versions:
            read_body = decoder(route.request, version)
            request, _ = read_body(frame, position)
            read_header = decoder(RequestHeader, request_header_version(route.request, version))
            self._ways[_BEGINNING.unpack_from(frame)[0]] = _Way(route, version, read_header, read_body)
        elif route is not None and header.request_api_key == ApiKey.API_VERSIONS:
            # The answer in version 0 tells the client what to ask in (KIP-511).
            request, version = ApiVersionsRequest(), 0
        else:
            raise Disconnect(self._describe_unserved(header, route))
        return header, route, request, version

    def finish(self, pending: Pending) -> Parts | None:
        """The framed response of a promise that is completed, or None where none is wanted."""
        call = pending.call
        assert call is not None, "a promise comes from the dispatcher"
        try:
            response = pending.result()
            return None if response is None else frame_response(response, call.version, call.header.correlation_id)
        except (AssertionError, Disconnect):
            raise
        except Exception as error:
            return self._refuse(self._routes[call.header.request_api_key], None, call, error)

    def _describe_unserved(self, header: RequestHeader, route: Route | None) -> str:
        asked = f"version {header.request_api_version} of API {header.request_api_key}"
        if route is None:
            return f"{asked}, which this {self._listener} listener does not serve"
        return f"{asked} ({route.api.name}), of which versions {route.versions[0]} to {route.versions[-1]} are served"

    def _refuse(self, route: Route, request: Message | None, call: Call, error: Exception) -> Parts:
        """Answer with the error's code; without the request, as after a promise, only on top of the response."""
        if isinstance(error, ApiError):
            code = error.code
        else:
            code = ErrorCode.UNKNOWN_SERVER_ERROR
            LOG.error("request failed", exc_info=error, extra={"api": route.api.name, **call.describe()})
        if route.refuse is not None and request is not None:
            response = route.refuse(request, code)
        else:
            response = bare_error(route.api.response, call.version, code)
        if response is None:
            raise Disconnect(f"{route.api.name} failed and cannot say so: {code.name}") from error
        return frame_response(response, call.version, call.header.correlation_id)


def bare_error(response: type[Message], version: int, code: ErrorCode) -> Message | None:
    """A response that holds an error code and nothing else; None where this version has no such field on top."""
    required = _required_fields(response, version)
    if required is None:
        return None
    values: dict[str, Any] = {spec.name: _empty(spec, version) for spec in required}
    values["error_code"] = code
    return response(**values)


@cache
def _required_fields(response: type[Message], version: int) -> tuple[FieldSpec, ...] | None:
    specs = field_specs(response)
    if not any(spec.name == "error_code" and spec.is_present(version) for spec in specs):
        return None
    return tuple(spec for spec in specs if spec.name != "error_code" and not spec.has_default)


def _empty(spec: FieldSpec, version: int) -> Any:
    if spec.is_nullable(version):
        return None
    if isinstance(spec.type, ArrayOf):
        return []
    if isinstance(spec.type, Primitive):
        if spec.type.code:
            return ZERO_UUID if spec.type.name == "uuid" else 0
        return "" if spec.type.name == "string" else b""
    inner_specs = [inner for inner in field_specs(spec.type) if not inner.has_default]
    return spec.type(**{inner.name: _empty(inner, version) for inner in inner_specs})

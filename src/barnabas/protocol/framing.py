"""Frames on a connection: four bytes of size, then a header and a message; splits, reads and writes them.

A frame is judged by its size before anything is kept for it. Bytes after a message are left alone, as Apache does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct as Layout
from typing import Any, Final, NamedTuple

from barnabas.protocol.codec import decoder, encoder, gatherer
from barnabas.protocol.messages import REQUESTS
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.messages.response_header import ResponseHeader
from barnabas.protocol.schema import Message, ProtocolError

_SIZE: Final = Layout(">i")
_KEY_AND_VERSION: Final = Layout(">hh")
# Size and correlation id by version of the response header, whose newer one ends with an empty list of tagged fields.
_RESPONSE_PREFIXES: Final = (Layout(">ii"), Layout(">iix"))


class Frames(NamedTuple):
    """The whole frames at the start of a buffer, where they end, and how many bytes the frame after them takes.

    Of a frame whose size is not there yet nothing but that size is known to be needed.
    """

    whole: list[memoryview]
    position: int
    next_bytes: int


class Request(NamedTuple):
    """A request as it was read; `version` is the one to answer in, which may differ from the header's."""

    header: RequestHeader
    body: Message
    version: int


def split_frames(buffer: memoryview, frame_bytes_max: int) -> Frames:
    """Take the whole frames out of what was received, as views without their sizes."""
    position, end = 0, len(buffer)
    whole: list[memoryview] = []
    while end - position >= _SIZE.size:
        (size,) = _SIZE.unpack_from(buffer, position)
        if not 0 <= size <= frame_bytes_max:
            reason = f"a frame of {size} bytes, where 0 to {frame_bytes_max} are allowed"
            raise ProtocolError("Frame", 0, "size", position, reason)
        stop = position + _SIZE.size + size
        if stop > end:
            return Frames(whole, position, stop - position)
        whole.append(buffer[position + _SIZE.size : stop])
        position = stop
    return Frames(whole, position, _SIZE.size)


def request_header_version(request: type[Message], version: int) -> int:
    return 2 if request.is_flexible(version) else 1


def response_header_version(response: type[Message], version: int) -> int:
    """ApiVersions always answers with the oldest header, because its client does not know yet what we speak."""
    return 1 if response.is_flexible(version) and response is not ApiVersionsResponse else 0


def read_request_header(frame: memoryview) -> tuple[RequestHeader, int]:
    """The header and the position of the body. The API and its version at the start say which header it is."""
    if len(frame) < _KEY_AND_VERSION.size:
        raise ProtocolError("RequestHeader", 1, "request_api_key", 0, "the input ends before the field does")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    request = REQUESTS.get(key)
    if request is None:
        raise ProtocolError("RequestHeader", 1, "request_api_key", 0, f"no API has the number {key}")
    header: RequestHeader
    header, position = decoder(RequestHeader, request_header_version(request, version))(frame, 0)
    return header, position


def read_request(frame: memoryview) -> Request:
    """Header and body. An ApiVersions request of a version we do not know is taken for one of version 0, unread.

    Its answer says so in version 0, from which the client learns the versions to choose from (KIP-511).
    """
    header, position = read_request_header(frame)
    version = header.request_api_version
    request = REQUESTS[header.request_api_key]
    if request is ApiVersionsRequest and version not in ApiVersionsRequest.valid_versions:
        return Request(header, ApiVersionsRequest(), 0)
    body, _ = decoder(request, version)(frame, position)
    return Request(header, body, version)


def frame_request(request: Message, version: int, correlation_id: int, client_id: str | None) -> list[Any]:
    """The buffers of a whole frame; records stand among them uncopied."""
    key = type(request).api_key
    assert key is not None, f"{type(request).__name__} is no request"
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    first = bytearray(_SIZE.size)
    encoder(RequestHeader, request_header_version(type(request), version))(header, first)
    return _framed(first, request, version)


def frame_response(response: Message, version: int, correlation_id: int) -> list[Any]:
    """The buffers of a whole frame; records, or regions of files in their place, stand among them uncopied."""
    return response_framer(type(response), version)(response, correlation_id)


@cache
def response_framer(response: type[Message], version: int) -> Callable[[Message, int], list[Any]]:
    """What `frame_response` does for one kind of response: a broker frames tens of thousands of a few kinds."""
    prefix = _RESPONSE_PREFIXES[response_header_version(response, version)]
    gather = gatherer(response, version)

    def frame(message: Message, correlation_id: int) -> list[Any]:
        first = bytearray(prefix.pack(0, correlation_id))
        parts = gather(message, first)
        size = len(first) if len(parts) == 1 else sum(map(len, parts))
        _SIZE.pack_into(first, 0, size - _SIZE.size)
        return parts

    return frame


def read_response(frame: memoryview, response: type[Message], version: int) -> tuple[int, Message]:
    """The correlation id and the body. ApiVersions falls back to version 0, in which an older node refuses."""
    header: ResponseHeader
    header, position = decoder(ResponseHeader, response_header_version(response, version))(frame, 0)
    body: Message
    try:
        body, _ = decoder(response, version)(frame, position)
    except ProtocolError:
        if response is not ApiVersionsResponse or version == 0:
            raise
        body, _ = decoder(response, 0)(frame, position)
    return header.correlation_id, body


def _framed(first: bytearray, body: Message, version: int) -> list[Any]:
    """Put the body behind a size and a header, and the size right."""
    parts = gatherer(type(body), version)(body, first)
    _SIZE.pack_into(first, 0, sum(map(len, parts)) - _SIZE.size)
    return parts

"""A blocking connection to one node: a request goes out, and its response is waited for before the next.

Versions are agreed on first: of every API the newest that both sides have is spoken. A connection on which anything
went wrong, lateness too, is closed and stays closed, for what arrives on it next may answer an older request.
"""

from __future__ import annotations

import socket
from struct import Struct as Layout
from typing import Final, Self, TypeVar

from barnabas import __version__
from barnabas.client.addresses import Address
from barnabas.client.errors import ConnectionLostError, UnsupportedByNodeError, check_code
from barnabas.client.patience import Deadline
from barnabas.protocol.api_table import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.schema import EncodeError, Message, ProtocolError

SOFTWARE_NAME: Final = "barnabas"
_SIZE: Final = Layout(">i")
_RECEIVE_BYTES: Final = 1 << 20

R = TypeVar("R", bound=Message)


class Connection:
    """Made by `open`; closed after any error but those that the response itself carries."""

    def __init__(self, connected: socket.socket, address: Address, client_id: str) -> None:
        self.address = address
        self.is_closed = False
        # By API, as the node serves them.
        self.versions: dict[int, range] = {ApiVersionsRequest.api_key or 0: ApiVersionsRequest.valid_versions}
        self._socket = connected
        self._client_id = client_id
        self._correlation_id = 0

    @classmethod
    def open(cls, address: Address, client_id: str, connecting: Deadline, asking: Deadline) -> Self:
        """Connect until the one deadline, and agree on versions until the other."""
        if connecting.is_over:
            raise ConnectionLostError(f"{address}: no time was left to connect")
        try:
            connected = socket.create_connection(
                (address.host or "localhost", address.port), timeout=connecting.left_ms() / 1000
            )
        except OSError as error:
            raise ConnectionLostError(f"{address}: {error.strerror or error}") from error
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = cls(connected, address, client_id)
        try:
            connection._agree_on_versions(asking)
        except BaseException:
            connection.close()
            raise
        return connection

    def request(self, request: Message, response: type[R], deadline: Deadline, *, newest: int | None = None) -> R:
        """Ask in the newest version that the node has, or none newer than `newest`, and wait for the response."""
        version = self._choose_version(type(request), newest)
        self._correlation_id += 1
        try:
            parts = frame_request(request, version, self._correlation_id, self._client_id)
        except EncodeError as error:
            raise UnsupportedByNodeError(f"{self.address} is too old for this request: {error}") from error
        try:
            self._allow(deadline)
            self._socket.sendall(b"".join(parts))
            frame = self._receive_frame(deadline)
            correlation_id, answer = read_response(frame, response, version)
        except (OSError, ProtocolError, ConnectionLostError) as error:
            self.close()
            raise ConnectionLostError(f"{self.address}: {_reason(error)}") from error
        if correlation_id != self._correlation_id:
            self.close()
            raise ConnectionLostError(f"{self.address} answered another request than the one that was sent")
        assert isinstance(answer, response)
        return answer

    def close(self) -> None:
        self.is_closed = True
        self._socket.close()

    def _agree_on_versions(self, deadline: Deadline) -> None:
        """A node that is older than our ApiVersions says in version 0 up to which it has it (KIP-511)."""
        asked = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=__version__)
        answer = self.request(asked, ApiVersionsResponse, deadline)
        self._note_versions(answer)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION and answer.api_keys:
            answer = self.request(asked, ApiVersionsResponse, deadline)
            self._note_versions(answer)
        check_code(answer.error_code)

    def _note_versions(self, answer: ApiVersionsResponse) -> None:
        self.versions |= {each.api_key: range(each.min_version, each.max_version + 1) for each in answer.api_keys}

    def _choose_version(self, request: type[Message], newest: int | None) -> int:
        assert request.api_key is not None, f"{request.__name__} is no request"
        name = ApiKey(request.api_key).name
        served, spoken = self.versions.get(request.api_key), request.valid_versions
        if newest is not None:
            spoken = range(spoken[0], newest + 1)
        if not served:
            raise UnsupportedByNodeError(f"The node does not support {name}")
        version = min(served[-1], spoken[-1])
        if version < max(served[0], spoken[0]):
            raise UnsupportedByNodeError(
                f"The node does not support {name} with version in range [{spoken[0]},{spoken[-1]}]. The supported "
                f"range is [{served[0]},{served[-1]}]."
            )
        return version

    def _receive_frame(self, deadline: Deadline) -> memoryview:
        (size,) = _SIZE.unpack(self._receive(_SIZE.size, deadline))
        if size < 0:
            raise ConnectionLostError(f"a frame of {size} bytes; this is no Kafka node")
        return memoryview(self._receive(size, deadline))

    def _receive(self, count: int, deadline: Deadline) -> bytearray:
        # Room is made for what has come, not for what a size of four stray bytes promises.
        received = bytearray()
        while len(received) < count:
            self._allow(deadline)
            part = self._socket.recv(min(count - len(received), _RECEIVE_BYTES))
            if not part:
                raise ConnectionLostError("the node closed the connection")
            received += part
        return received

    def _allow(self, deadline: Deadline) -> None:
        """Let the next step of the socket take the time that is left."""
        left_ms = deadline.left_ms()
        if left_ms == 0:
            raise TimeoutError
        self._socket.settimeout(left_ms / 1000)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no response came in time"
    if isinstance(error, ProtocolError):
        return f"a response that cannot be read: {error}"
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)

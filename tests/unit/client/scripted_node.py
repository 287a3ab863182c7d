"""A node on a loopback socket that answers as a script says, and remembers what it was asked.

It speaks the real protocol, so what a test sees is what a node would. Each connection has a thread, which ends with it.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from barnabas.client.addresses import Address
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_response, read_request
from barnabas.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from barnabas.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message

CLUSTER_ID = "barnabasBarnabasBarnab"


class HangUp:
    """In place of an answer: end the connection."""


class Silence:
    """In place of an answer: none."""


class Raw(bytes):
    """In place of an answer: these bytes."""


Answer = Message | HangUp | Silence | Raw
Script = Answer | Callable[[Any], Answer] | Sequence[Answer]


class ScriptedNode:
    """Answers by the type of the request; a list gives its answers one after the other, the last again and again.

    It serves what it has answers to and what discovery needs, in the newest version or in those of `versions`. By
    itself it is a cluster of one node, `node_id`, which is its controller.
    """

    def __init__(
        self,
        answers: Mapping[type[Message], Script] | None = None,
        *,
        versions: Mapping[ApiKey, range] | None = None,
        node_id: int = 1,
    ) -> None:
        self.node_id = node_id
        self.peers: list[ScriptedNode] = [self]
        self.controller_id = node_id
        self.requests: list[tuple[RequestHeader, Message]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = Address(*self._socket.getsockname())
        self._answers: dict[type[Message], Any] = {
            ApiVersionsRequest: self.api_versions,
            MetadataRequest: self._metadata,
            DescribeClusterRequest: self.cluster,
        }
        for request, answer in (answers or {}).items():
            self.script(request, answer)
        self._versions = dict(versions or {})
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def script(self, request: type[Message], answer: Script) -> None:
        self._answers[request] = deque(answer) if isinstance(answer, list) else answer

    def asked(self, request: type[Message]) -> list[Any]:
        """What it was asked, of one type, in order."""
        return [body for _, body in self.requests if type(body) is request]

    def api_versions(self, _: Message | None = None) -> ApiVersionsResponse:
        keys = {ApiKey(request.api_key or 0) for request in self._answers}
        served = {key: self._versions.get(key, APIS[key].versions) for key in sorted(keys)}
        return ApiVersionsResponse(
            error_code=ErrorCode.NONE,
            api_keys=[ApiVersion(api_key=k, min_version=v[0], max_version=v[-1]) for k, v in served.items() if v],
            supported_features=[
                SupportedFeatureKey(name="metadata.version", min_version=7, max_version=30),
                SupportedFeatureKey(name="group.version", min_version=0, max_version=1),
            ],
            finalized_features_epoch=41,
            finalized_features=[
                FinalizedFeatureKey(name="metadata.version", max_version_level=29, min_version_level=29)
            ],
        )

    def cluster(self, request: DescribeClusterRequest) -> DescribeClusterResponse:
        return DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NONE,
            endpoint_type=request.endpoint_type,
            cluster_id=CLUSTER_ID,
            controller_id=self.controller_id,
            brokers=[
                DescribeClusterBroker(broker_id=peer.node_id, host=peer.address.host, port=peer.address.port)
                for peer in self.peers
            ],
        )

    def _metadata(self, _: MetadataRequest) -> MetadataResponse:
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=peer.node_id, host=peer.address.host, port=peer.address.port)
                for peer in self.peers
            ],
            cluster_id=CLUSTER_ID,
            controller_id=self.controller_id,
            topics=[],
        )

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError), connection.makefile("rb") as stream:
            while size := stream.read(4):
                request = read_request(memoryview(stream.read(int.from_bytes(size, "big"))))
                self.requests.append((request.header, request.body))
                answer = self._answer(request.header, request.body)
                if isinstance(answer, HangUp):
                    return
                if isinstance(answer, Raw):
                    connection.sendall(answer)
                elif isinstance(answer, Message):
                    parts = frame_response(answer, request.version, request.header.correlation_id)
                    connection.sendall(b"".join(parts))

    def _answer(self, header: RequestHeader, body: Message) -> Answer:
        key = ApiKey(header.request_api_key)
        if key is ApiKey.API_VERSIONS and header.request_api_version not in self._versions.get(key, range(100)):
            refusal = self.api_versions()
            refusal.error_code = ErrorCode.UNSUPPORTED_VERSION
            return Raw(b"".join(frame_response(refusal, 0, header.correlation_id)))
        answer = self._answers[type(body)]
        if isinstance(answer, deque):
            answer = answer.popleft() if len(answer) > 1 else answer[0]
        made: Answer = answer(body) if callable(answer) else answer
        return made

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        # A shutdown wakes the thread that accepts; a close alone would leave it waiting.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._threads[0].join()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()


class VirtualTime:
    """A clock that only a wait moves; it remembers the waits."""

    def __init__(self) -> None:
        self.ms = 5_000
        self.waits_ms: list[int] = []

    def now_ms(self) -> int:
        return 1_700_000_000_000 + self.ms

    def elapsed_ms(self) -> int:
        return self.ms

    def sleep(self, seconds: float) -> None:
        waited_ms = round(seconds * 1000)
        self.waits_ms.append(waited_ms)
        self.ms += waited_ms


def closed_port() -> Address:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return Address(*server.getsockname())

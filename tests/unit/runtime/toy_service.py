"""A service of a few APIs for tests of connections: one answers at once, one later, one never, one from a file."""

from __future__ import annotations

from typing import Any

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.call import Call, Pending
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.framing import frame_request, frame_response
from barnabas.protocol.messages import fetch, produce
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

VERSIONS = {ApiKey.HEARTBEAT: 4, ApiKey.FIND_COORDINATOR: 3, ApiKey.PRODUCE: 9, ApiKey.FETCH: 12}


class ToyService:
    """Heartbeat gives its generation back at once, FindCoordinator its key when told to, Produce keeps its records."""

    def __init__(self) -> None:
        self.promises: list[tuple[Pending, str]] = []
        self.records: list[Any] = []
        self.fetched: Any = None
        versions = ApiVersions(Features)
        table = build_table(
            versions.routes,
            [
                self._route(ApiKey.HEARTBEAT, self._heartbeat),
                self._route(ApiKey.FIND_COORDINATOR, self._find_coordinator),
                self._route(ApiKey.PRODUCE, self._produce),
                self._route(ApiKey.FETCH, self._fetch),
            ],
        )
        versions.advertise(table)
        self.dispatcher = Dispatcher(table)

    @staticmethod
    def _route(key: ApiKey, handle: Any) -> Route:
        return Route(key, APIS[key].versions, ServedBy.BROKER, handle)

    def _heartbeat(self, request: HeartbeatRequest, _: Call) -> HeartbeatResponse:
        return HeartbeatResponse(error_code=0, throttle_time_ms=request.generation_id)

    def _find_coordinator(self, request: FindCoordinatorRequest, _: Call) -> Pending:
        promise = Pending()
        self.promises.append((promise, request.key))
        return promise

    def _produce(self, request: produce.ProduceRequest, _: Call) -> produce.ProduceResponse | None:
        self.records += [data.records for topic in request.topic_data for data in topic.partition_data]
        return produce.ProduceResponse(responses=[]) if request.acks else None

    def _fetch(self, _: fetch.FetchRequest, __: Call) -> fetch.FetchResponse:
        return fetch_response(self.fetched)

    def keep_promises(self) -> None:
        promises, self.promises = self.promises, []
        for promise, key in promises:
            promise.complete(coordinator_response(key))


def coordinator_response(key: str) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(error_code=0, node_id=1, host=key, port=9092)


def fetch_response(records: Any) -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        partition_index=0, error_code=0, high_watermark=0, aborted_transactions=None, records=records
    )
    topic = fetch.FetchableTopicResponse(topic="t", partitions=[partition])
    return fetch.FetchResponse(throttle_time_ms=0, responses=[topic])


# Requests as bytes, each with the bytes of its answer.


def ask_at_once(correlation_id: int, number: int) -> tuple[bytes, bytes]:
    request = HeartbeatRequest(group_id="g", generation_id=number, member_id="m")
    response = HeartbeatResponse(error_code=0, throttle_time_ms=number)
    return _framed(request, correlation_id), b"".join(frame_response(response, 4, correlation_id))


def ask_later(correlation_id: int, key: str) -> tuple[bytes, bytes]:
    request = FindCoordinatorRequest(key=key)
    return _framed(request, correlation_id), b"".join(frame_response(coordinator_response(key), 3, correlation_id))


def put(correlation_id: int, records: bytes, *, acks: int) -> tuple[bytes, bytes]:
    data = produce.PartitionProduceData(index=0, records=records)
    topic = produce.TopicProduceData(name="t", partition_data=[data])
    request = produce.ProduceRequest(acks=acks, timeout_ms=1, topic_data=[topic])
    response = frame_response(produce.ProduceResponse(responses=[]), 9, correlation_id) if acks else []
    return _framed(request, correlation_id), b"".join(response)


def get(correlation_id: int, expected: bytes = b"") -> tuple[bytes, bytes]:
    request = fetch.FetchRequest(max_wait_ms=0, min_bytes=0, topics=[])
    return _framed(request, correlation_id), b"".join(frame_response(fetch_response(expected), 12, correlation_id))


def _framed(request: Any, correlation_id: int) -> bytes:
    return b"".join(frame_request(request, VERSIONS[ApiKey(type(request).api_key)], correlation_id, "toy"))

"""Fetch: hand out records to consumers and followers, at once or when there are enough of them.

v4-v18: 5 tells the log start offset, 7 has sessions (KIP-227), 9 checks the leader epoch, 11 may be answered by
followers and may name a replica that is nearer (KIP-392), 12 finds logs that have parted (KIP-595), 13 names topics by
id, 15 has the replica's epoch beside its id, 16 tells the current leader where this is not it (KIP-951); 17 and 18 are
about replicas of the metadata log. Records are regions of the log's files until they are sent.
"""

from __future__ import annotations

from typing import Final

from barnabas.broker.call import Call, Outcome, Pending
from barnabas.broker.fetch_sessions import Answers, FetchContext, FetchSessions, PartitionKey
from barnabas.broker.handlers.fetch_reading import FetchReading, FetchTerms, SelectReplica, failed_partition
from barnabas.broker.nodes import Node, alive_node
from barnabas.broker.replicas import Replicas, TopicKey
from barnabas.broker.routing import Route, ServedBy
from barnabas.log.read import Isolation
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from barnabas.protocol.uuid import Uuid

VERSIONS: Final = APIS[ApiKey.FETCH].versions
STORAGE_ERRORS_SINCE: Final = 6
FOLLOWER_READS_SINCE: Final = 11
TOPIC_IDS_SINCE: Final = 13
REPLICA_STATE_SINCE: Final = 15
LEADER_HINTS_SINCE: Final = 16
CONSUMER_ID: Final = -1
READ_COMMITTED: Final = 1
_LEADER_HINT_ERRORS: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Fetch:
    """The handler. `max_bytes` is fetch.max.bytes; `select_replica` may send a consumer to a replica near it."""

    def __init__(
        self,
        replicas: Replicas,
        sessions: FetchSessions,
        *,
        max_bytes: int = 57_671_680,
        select_replica: SelectReplica | None = None,
    ) -> None:
        self._replicas = replicas
        self._sessions = sessions
        self._max_bytes = max_bytes
        self._select_replica = select_replica

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.FETCH, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: FetchRequest, call: Call) -> Outcome:
        terms = self._terms(request, call)
        try:
            context = self._begin(request, call, terms)
        except ApiError as error:
            return _session_error(error)
        reading = FetchReading(self._replicas, terms, list(context.partitions))
        reading.read(is_first=True)
        if request.max_wait_ms <= 0 or reading.is_enough:
            return self._respond(context, reading, call)
        pending = Pending()

        def complete(is_expired: bool) -> None:
            if is_expired:
                reading.read()
            pending.complete(self._respond(context, reading, call))

        room = self._replicas.waiting_room
        waiter = room.park(reading.names, reading.has_become_enough, call.now_ms + request.max_wait_ms, complete)
        # A consumer may be willing to wait for days, and be gone in a minute.
        pending.when_abandoned(lambda: room.cancel(waiter))
        return pending

    def _terms(self, request: FetchRequest, call: Call) -> FetchTerms:
        """Who reads, how far, and how much at once."""
        version = call.version
        replica_id = request.replica_state.replica_id if version >= REPLICA_STATE_SINCE else request.replica_id
        if replica_id != CONSUMER_ID:
            isolation = Isolation.LOG_END
        elif request.isolation_level == READ_COMMITTED:
            isolation = Isolation.COMMITTED
        else:
            isolation = Isolation.HIGH_WATERMARK
        max_bytes = min(request.max_bytes, self._max_bytes)
        return FetchTerms(
            replica_id=replica_id,
            isolation=isolation,
            is_for_leader=replica_id >= 0 or (replica_id == CONSUMER_ID and version < FOLLOWER_READS_SINCE),
            min_bytes=min(request.min_bytes, max_bytes),
            max_bytes=max_bytes,
            rack_id=request.rack_id,
            listener=call.client.listener,
            select_replica=self._select_replica if version >= FOLLOWER_READS_SINCE else None,
        )

    def _begin(self, request: FetchRequest, call: Call, terms: FetchTerms) -> FetchContext:
        has_topic_ids = call.version >= TOPIC_IDS_SINCE
        asked: dict[PartitionKey, FetchPartition] = {
            (topic.topic_id if has_topic_ids else topic.topic, partition.partition): partition
            for topic in request.topics
            for partition in topic.partitions
        }
        forgotten: list[PartitionKey] = [
            (topic.topic_id if has_topic_ids else topic.topic, partition)
            for topic in request.forgotten_topics_data
            for partition in topic.partitions
        ]
        return self._sessions.begin(
            request.session_id,
            request.session_epoch,
            asked,
            forgotten,
            is_privileged=terms.replica_id >= 0,
            has_topic_ids=has_topic_ids,
            now_ms=call.now_ms,
        )

    def _respond(self, context: FetchContext, reading: FetchReading, call: Call) -> FetchResponse:
        try:
            session_id, told = context.answer(reading.answers, call.now_ms)
        except ApiError as error:
            return _session_error(error)
        nodes: dict[int, Node] = {}
        if reading.has_errors:
            nodes = self._explain(told, call)
        responses: list[FetchableTopicResponse] = []
        last_key = None
        for (key, _), answer in told.items():
            if key != last_key:
                responses.append(_topic_response(key))
                last_key = key
            responses[-1].partitions.append(answer)
        return FetchResponse(
            throttle_time_ms=0,
            session_id=session_id,
            responses=responses,
            node_endpoints=[NodeEndpoint(**node._asdict()) for node in nodes.values()],
        )

    def _explain(self, told: Answers, call: Call) -> dict[int, Node]:
        """Put errors as this version knows them, and say who leads what this broker does not, and where."""
        nodes: dict[int, Node] = {}
        for (key, partition), answer in told.items():
            if call.version < STORAGE_ERRORS_SINCE and answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
                # Older clients would give up on a code that they do not know; this one makes them look again.
                answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if call.version >= LEADER_HINTS_SINCE and answer.error_code in _LEADER_HINT_ERRORS:
                leader_id, leader_epoch = self._replicas.current_leader(key, partition)
                answer.current_leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=leader_epoch)
                node = alive_node(self._replicas.image, leader_id, call.client.listener)
                if node is not None:
                    nodes[node.node_id] = node
        return nodes


def _topic_response(key: TopicKey) -> FetchableTopicResponse:
    if isinstance(key, Uuid):
        return FetchableTopicResponse(topic_id=key, partitions=[])
    return FetchableTopicResponse(topic=key, partitions=[])


def _session_error(error: ApiError) -> FetchResponse:
    """Without its session nobody knows which partitions a fetch was about."""
    return FetchResponse(throttle_time_ms=0, error_code=error.code, responses=[])


def refuse(request: FetchRequest, code: ErrorCode) -> FetchResponse:
    """The response that everything failed with this code, said on top where the version has a place there."""
    return FetchResponse(
        throttle_time_ms=0,
        error_code=code,
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[failed_partition(asked.partition, code) for asked in topic.partitions],
            )
            for topic in request.topics
        ],
    )

"""Produce: append each partition's batch to the log that is led here, and acknowledge as the producer asked.

v3-v13: 5 tells the log start offset, 7 takes zstd, 8 names refused records (KIP-467), 10 tells the current leader where
this is not it (KIP-951), 13 names topics by id. With acks=0 there is no answer: an error ends the connection. With
acks=all the answer waits for the high watermark, up to the request's timeout.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final, NamedTuple

from barnabas.broker.call import Call, Disconnect, Outcome, Pending
from barnabas.broker.errors import InvalidProducerIdMapping
from barnabas.broker.internal_topics import INTERNAL_TOPICS
from barnabas.broker.nodes import alive_node
from barnabas.broker.recoding import RunOffLoop, needs_recoding, recode
from barnabas.broker.replicas import Replicas, TopicKey
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import InvalidTopic
from barnabas.log.log_config import LogConfig
from barnabas.ports.disk import Buffer
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ApiError, ErrorCode, InvalidRecord, UnsupportedCompressionType
from barnabas.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from barnabas.records.batch import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    MAGIC_POSITION,
    TRANSACTIONAL_FLAG,
)
from barnabas.records.compression import Compression
from barnabas.records.validation import RejectedRecords, RejectedTimestamps
from barnabas.replication.leader import Leader
from barnabas.security.errors import TransactionalIdAuthorizationFailed

VERSIONS: Final = APIS[ApiKey.PRODUCE].versions
ZSTD_SINCE: Final = 7
LEADER_HINTS_SINCE: Final = 10
TOPIC_IDS_SINCE: Final = 13
ACKS_NONE: Final = 0
ACKS_ALL: Final = -1
ACKS: Final = frozenset({ACKS_NONE, 1, ACKS_ALL})
# Apache's administrative client, which alone may write to internal topics.
ADMIN_CLIENT_ID: Final = "__admin_client"
# The second byte of a batch's attributes, which has all that are defined.
_FLAGS_POSITION: Final = 22
_UNUSUAL_FLAGS: Final = TRANSACTIONAL_FLAG | Compression.ZSTD
_LENGTH: Final = Layout(">8xi")
_NO_OFFSET: Final = -1
# What most answers say in these fields; nobody changes them.
_NO_RECORD_ERRORS: Final[list[BatchIndexAndErrorMessage]] = []
_NO_HINT: Final = LeaderIdAndEpoch()


class _Appended(NamedTuple):
    """A batch that is in the leader's log, and waits to be durable there or in the logs of other replicas."""

    key: TopicKey
    leader: Leader
    end_offset: int
    answer: PartitionProduceResponse
    is_flushing: bool


class _Deferred(NamedTuple):
    """A batch that has to be compressed anew before it is appended."""

    key: TopicKey
    records: Buffer
    config: LogConfig
    answer: PartitionProduceResponse


class Produce:
    """The handler. `run_off_loop` is where batches are compressed anew."""

    def __init__(self, replicas: Replicas, run_off_loop: RunOffLoop) -> None:
        self._replicas = replicas
        self._run_off_loop = run_off_loop

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.PRODUCE, VERSIONS, ServedBy.BROKER, self.handle, refuse),)

    def handle(self, request: ProduceRequest, call: Call) -> Outcome:
        if request.acks not in ACKS:
            return refuse(request, ErrorCode.INVALID_REQUIRED_ACKS)
        return _Production(self._replicas, request, call).run(self._run_off_loop)


class _Production:
    """One request on its way: each partition's answer is filled in as it becomes known."""

    __slots__ = ("_appended", "_call", "_deferred", "_needs_all", "_refused", "_replicas", "_request", "_responses")

    def __init__(self, replicas: Replicas, request: ProduceRequest, call: Call) -> None:
        self._replicas = replicas
        self._request = request
        self._call = call
        self._needs_all = request.acks == ACKS_ALL
        self._responses: list[TopicProduceResponse] = []
        self._appended: list[_Appended] = []
        self._deferred: list[_Deferred] = []
        self._refused: list[tuple[TopicKey, PartitionProduceResponse]] = []

    def run(self, run_off_loop: RunOffLoop) -> Outcome:
        has_topic_ids = self._call.version >= TOPIC_IDS_SINCE
        take = self._take
        for topic in self._request.topic_data:
            key: TopicKey = topic.topic_id if has_topic_ids else topic.name
            answers = [take(key, data) for data in topic.partition_data]
            self._responses.append(
                TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=answers)
            )
        if not self._deferred:
            return self._await_replicas()
        pending = Pending()
        deferred = self._deferred

        def append_recoded(recoded: list[Buffer]) -> None:
            for each, records in zip(deferred, recoded, strict=True):
                self._append_recoded(each, records)
            self._settle(pending)

        run_off_loop(lambda: [recode(each.records, each.config) for each in deferred], append_recoded, pending.fail)
        return pending

    # Appending

    def _take(self, key: TopicKey, data: PartitionProduceData) -> PartitionProduceResponse:
        """Append a partition's batch, or put it aside to be compressed first; what is answered for it."""
        leader = None
        try:
            leader = self._replicas.find_leader(key, data.index)
            records = self._check(leader, data.records)
            config = leader.log.config
            if config.is_rewriting and needs_recoding(records[_FLAGS_POSITION], config):
                answer = _unanswered(data.index)
                self._deferred.append(_Deferred(key, records, config, answer))
                return answer
            info = self._replicas.append(leader, records, self._call.now_ms, needs_all=self._needs_all)
        except ApiError as error:
            answer = _unanswered(data.index)
            self._refuse(key, answer, error, leader)
            return answer
        answer = PartitionProduceResponse(
            index=data.index,
            error_code=0,
            base_offset=info.first_offset,
            log_append_time_ms=info.log_append_time_ms,
            log_start_offset=info.log_start_offset,
            record_errors=_NO_RECORD_ERRORS,
            current_leader=_NO_HINT,
        )
        is_flushing = leader.log.is_flush_wanted
        if is_flushing or (self._needs_all and leader.log.high_watermark <= info.last_offset):
            self._appended.append(_Appended(key, leader, info.last_offset + 1, answer, is_flushing))
        return answer

    def _check(self, leader: Leader, records: Buffer | None) -> Buffer:
        """The records, unless they are refused for what the log does not know of the request, or are no batch."""
        if records is None or len(records) < HEADER_BYTES:
            raise InvalidRecord("a partition without a batch")
        if len(records) < LOG_OVERHEAD_BYTES + _LENGTH.unpack_from(records)[0]:
            raise InvalidRecord("a partition with a part of a batch")
        flags = records[_FLAGS_POSITION]
        if flags & _UNUSUAL_FLAGS and records[MAGIC_POSITION] == MAGIC:
            self._check_flags(flags)
        if leader.name.topic in INTERNAL_TOPICS and self._call.header.client_id != ADMIN_CLIENT_ID:
            raise InvalidTopic(f"clients do not write to {leader.name.topic}")
        return records

    def _check_flags(self, flags: int) -> None:
        if flags & COMPRESSION_MASK == Compression.ZSTD and self._call.version < ZSTD_SINCE:
            raise UnsupportedCompressionType(f"zstd in version {self._call.version} of Produce")
        if flags & TRANSACTIONAL_FLAG:
            if self._request.transactional_id is None:
                raise TransactionalIdAuthorizationFailed("a transaction's batch in a request that names no transaction")
            # What a coordinator says of an id that it has never seen: there is none yet that could have.
            raise InvalidProducerIdMapping(f"no transaction is known by {self._request.transactional_id}")

    def _append_recoded(self, each: _Deferred, records: Buffer) -> None:
        """Append what was compressed anew. Meanwhile another broker may have come to lead the partition."""
        leader = None
        answer = each.answer
        try:
            leader = self._replicas.find_leader(each.key, answer.index)
            info = self._replicas.append(leader, records, self._call.now_ms, needs_all=self._needs_all)
        except ApiError as error:
            self._refuse(each.key, answer, error, leader)
            return
        answer.base_offset = info.first_offset
        answer.log_append_time_ms = info.log_append_time_ms
        answer.log_start_offset = info.log_start_offset
        is_flushing = leader.log.is_flush_wanted
        if is_flushing or self._needs_all:
            self._appended.append(_Appended(each.key, leader, info.last_offset + 1, answer, is_flushing))

    def _refuse(self, key: TopicKey, answer: PartitionProduceResponse, error: ApiError, leader: Leader | None) -> None:
        answer.error_code = error.code
        answer.error_message = str(error)
        if isinstance(error, RejectedRecords | RejectedTimestamps):
            answer.record_errors = [
                BatchIndexAndErrorMessage(batch_index=each.batch_index, batch_index_error_message=each.message)
                for each in error.record_errors
            ]
            if leader is not None:
                answer.log_start_offset = leader.log.log_start_offset
        self._refused.append((key, answer))

    # Acknowledging

    def _await_replicas(self) -> Outcome:
        """The response, or a promise of it where disks or other replicas have to come up first."""
        if not self._appended or self._request.acks == ACKS_NONE:
            return self._respond()
        pending = Pending()
        self._settle(pending)
        return pending

    def _settle(self, pending: Pending) -> None:
        """Complete the promise now or when the high watermarks are there; after the timeout without those missing."""

        def complete(is_expired: bool) -> None:
            if is_expired:
                for each in self._appended:
                    self._fail_acknowledgement(each, ErrorCode.REQUEST_TIMED_OUT)
            try:
                pending.complete(self._respond())
            except Disconnect as reason:
                pending.fail(reason)

        keys = [each.leader.name for each in self._appended]
        deadline_ms = self._call.now_ms + max(0, self._request.timeout_ms)
        room = self._replicas.waiting_room
        waiter = room.park(keys, self._is_acknowledged, deadline_ms, complete)
        pending.when_abandoned(lambda: room.cancel(waiter))

    def _is_acknowledged(self) -> bool:
        """Whether nothing is left to wait for: what has reached all replicas, or never will, is crossed off."""
        self._appended = [each for each in self._appended if not self._is_settled(each)]
        return not self._appended

    def _is_settled(self, each: _Appended) -> bool:
        try:
            leader = self._replicas.find_leader(each.key, each.answer.index)
        except ApiError as error:
            self._fail_acknowledgement(each, error.code)
            return True
        if each.is_flushing and leader.log.recovery_point < each.end_offset:
            return False
        if not self._needs_all:
            return True
        if leader.log.high_watermark < each.end_offset:
            return False
        if not leader.has_enough_in_sync:
            self._fail_acknowledgement(each, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return True

    def _fail_acknowledgement(self, each: _Appended, code: ErrorCode) -> None:
        each.answer.error_code = code
        self._refused.append((each.key, each.answer))

    # Answering

    def _respond(self) -> ProduceResponse | None:
        if self._request.acks == ACKS_NONE:
            if self._refused:
                codes = sorted({ErrorCode(answer.error_code).name for _, answer in self._refused})
                raise Disconnect(f"produced with acks=0 and failed: {', '.join(codes)}")
            return None
        response = ProduceResponse(responses=self._responses)
        if self._refused and self._call.version >= LEADER_HINTS_SINCE:
            self._tell_leaders(response)
        return response

    def _tell_leaders(self, response: ProduceResponse) -> None:
        """Say who leads what this broker does not, and where that one is (KIP-951)."""
        image = self._replicas.image
        nodes = {}
        for key, answer in self._refused:
            if answer.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                continue
            leader_id, leader_epoch = self._replicas.current_leader(key, answer.index)
            answer.current_leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=leader_epoch)
            node = alive_node(image, leader_id, self._call.client.listener)
            if node is not None:
                nodes[node.node_id] = node
        response.node_endpoints = [NodeEndpoint(**node._asdict()) for node in nodes.values()]


def _unanswered(partition: int) -> PartitionProduceResponse:
    """The answer for a partition of which there is nothing to tell yet."""
    return PartitionProduceResponse(index=partition, error_code=0, base_offset=_NO_OFFSET)


def refuse(request: ProduceRequest, code: ErrorCode) -> ProduceResponse | None:
    """The response that every partition failed with this code; None where none is wanted."""
    if request.acks == ACKS_NONE:
        return None
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(index=data.index, error_code=code, base_offset=_NO_OFFSET)
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )

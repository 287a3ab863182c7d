"""AllocateProducerIds: blocks of ids that no other broker will be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.controller.brokers import check_broker_epoch
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.metadata.image import NO_PRODUCER_IDS
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.protocol.metadata_records.producer_ids import ProducerIdsRecord
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation

BLOCK_SIZE: Final = 1_000
LAST_ID: Final = 2**63 - 1


def allocate(situation: Situation, request: AllocateProducerIdsRequest, _context: RequestContext) -> Decision:
    check_broker_epoch(situation.image, request.broker_id, request.broker_epoch)
    next_id = situation.image.next_producer_id
    start = 0 if next_id == NO_PRODUCER_IDS else next_id
    if start > LAST_ID - BLOCK_SIZE:
        raise ApiError("every producer id has been given out")
    record = ProducerIdsRecord(
        broker_id=request.broker_id, broker_epoch=request.broker_epoch, next_producer_id=start + BLOCK_SIZE
    )
    response = AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=0, producer_id_start=start, producer_id_len=BLOCK_SIZE
    )
    return Decision(response, [record])


def _refuse(_request: AllocateProducerIdsRequest, error: ApiError, _version: int) -> Message:
    return AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=error.code, producer_id_start=0, producer_id_len=0
    )


OPERATIONS: Mapping[type[Message], Operation] = {
    AllocateProducerIdsRequest: Operation(allocate, _refuse, needs=AclOperation.CLUSTER_ACTION)
}

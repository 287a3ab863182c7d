"""AllocateProducerIds: hand a broker a block of producer ids of its own."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Int64, Message


class AllocateProducerIdsRequest(Message, key=67, versions=(0, 0), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64 = -1


class AllocateProducerIdsResponse(Message, key=67, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32

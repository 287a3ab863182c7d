"""AddOffsetsToTxn: tell the transaction coordinator that a group's offsets become part of a transaction."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Int64, Message, String


class AddOffsetsToTxnRequest(Message, key=25, versions=(0, 4), flexible_since=3):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    group_id: String


class AddOffsetsToTxnResponse(Message, key=25, versions=(0, 4), flexible_since=3):
    throttle_time_ms: Int32
    error_code: Int16

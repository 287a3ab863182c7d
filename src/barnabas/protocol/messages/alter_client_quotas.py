"""AlterClientQuotas: set and remove quotas of users, clients and addresses."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Float64, Int16, Int32, Message, String, Struct


class RequestEntityData(Struct):
    entity_type: String
    entity_name: String | None


class OpData(Struct):
    key: String
    value: Float64
    remove: Bool


class RequestEntryData(Struct):
    entity: list[RequestEntityData]
    ops: list[OpData]


class AlterClientQuotasRequest(Message, key=49, versions=(0, 1), flexible_since=1):
    entries: list[RequestEntryData]
    validate_only: Bool


class ResponseEntityData(Struct):
    entity_type: String
    entity_name: String | None


class ResponseEntryData(Struct):
    error_code: Int16
    error_message: String | None
    entity: list[ResponseEntityData]


class AlterClientQuotasResponse(Message, key=49, versions=(0, 1), flexible_since=1):
    throttle_time_ms: Int32
    entries: list[ResponseEntryData]

"""ClientQuotaRecord: a quota of a user, client or address was set or removed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Float64, Message, String, Struct


class EntityData(Struct):
    entity_type: String
    entity_name: String | None


class ClientQuotaRecord(Message, key=14, versions=(0, 0), flexible_since=0):
    entity: list[EntityData]
    key: String
    value: Float64
    remove: Bool

"""StreamsGroupMemberMetadata: what a streams group's member runs, and how it is reached."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message, String, Struct, Uint16


class StreamsGroupMemberMetadataKey(Message, key=19, versions=(0, 0)):
    group_id: String
    member_id: String


class Endpoint(Struct):
    host: String
    port: Uint16


class KeyValue(Struct):
    key: String
    value: String


class StreamsGroupMemberMetadataValue(Message, key=19, versions=(0, 0), flexible_since=0):
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32
    process_id: String
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]

"""StreamsGroupMetadata: a streams group's epoch, and the topology it was checked with."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message, String, Struct, field


class StreamsGroupMetadataKey(Message, key=17, versions=(0, 0)):
    group_id: String


class LastAssignmentConfig(Struct):
    key: String
    value: String


class StreamsGroupMetadataValue(Message, key=17, versions=(0, 0), flexible_since=0):
    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Int32 = field(default=-1, tag=0)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(default_factory=list, tag=1)

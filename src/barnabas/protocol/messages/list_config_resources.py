"""ListConfigResources: list what settings can be attached to."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int16, Int32, Message, String, Struct, field


class ListConfigResourcesRequest(Message, key=74, versions=(0, 1), flexible_since=0):
    resource_types: list[Int8] = field(since=1, default_factory=list)


class ConfigResource(Struct):
    resource_name: String
    resource_type: Int8 = field(since=1, default=16, ignorable=True)


class ListConfigResourcesResponse(Message, key=74, versions=(0, 1), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    config_resources: list[ConfigResource]

"""ConfigRecord: a setting of a resource was set or removed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Message, String


class ConfigRecord(Message, key=4, versions=(0, 0), flexible_since=0):
    resource_type: Int8
    resource_name: String
    name: String
    value: String | None

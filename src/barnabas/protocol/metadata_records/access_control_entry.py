"""AccessControlEntryRecord: an access control entry was added."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Message, String, Uuid


class AccessControlEntryRecord(Message, key=18, versions=(0, 0), flexible_since=0):
    id: Uuid
    resource_type: Int8
    resource_name: String
    pattern_type: Int8
    principal: String
    host: String
    operation: Int8
    permission_type: Int8

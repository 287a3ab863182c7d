"""ShareGroupMemberMetadata: what a share group's member subscribes to."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String


class ShareGroupMemberMetadataKey(Message, key=10, versions=(0, 0)):
    group_id: String
    member_id: String


class ShareGroupMemberMetadataValue(Message, key=10, versions=(0, 0), flexible_since=0):
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]

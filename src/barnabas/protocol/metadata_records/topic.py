"""TopicRecord: a topic was created."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String, Uuid


class TopicRecord(Message, key=2, versions=(0, 0), flexible_since=0):
    name: String
    topic_id: Uuid

"""RemoveTopicRecord: a topic was deleted."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, Uuid


class RemoveTopicRecord(Message, key=9, versions=(0, 0), flexible_since=0):
    topic_id: Uuid

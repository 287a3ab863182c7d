"""ClearElrRecord: eligible leader replicas of one topic, or of all, were cleared."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String


class ClearElrRecord(Message, key=28, versions=(0, 0), flexible_since=0):
    topic_name: String

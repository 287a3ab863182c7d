"""ConsumerGroupRegularExpression: the topics that a consumer group's regular expression matched."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int64, Message, String


class ConsumerGroupRegularExpressionKey(Message, key=16, versions=(0, 0)):
    group_id: String
    regular_expression: String


class ConsumerGroupRegularExpressionValue(Message, key=16, versions=(0, 0), flexible_since=0):
    topics: list[String]
    version: Int64
    timestamp: Int64

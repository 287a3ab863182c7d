"""DeleteTopics: delete topics by name or by id."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Int16, Int32, Message, String, Struct, Uuid, field


class DeleteTopicState(Struct):
    name: String | None = None
    topic_id: Uuid


class DeleteTopicsRequest(Message, key=20, versions=(1, 6), flexible_since=4):
    topics: list[DeleteTopicState] = field(since=6, default_factory=list)
    topic_names: list[String] = field(until=5, default_factory=list, ignorable=True)
    timeout_ms: Int32


class DeletableTopicResult(Struct):
    name: String | None = field(nullable_since=6)
    topic_id: Uuid = field(since=6, default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: String | None = field(since=5, default=None, ignorable=True)


class DeleteTopicsResponse(Message, key=20, versions=(1, 6), flexible_since=4):
    throttle_time_ms: Int32
    responses: list[DeletableTopicResult]

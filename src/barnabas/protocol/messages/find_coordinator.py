"""FindCoordinator: which broker coordinates a group, a transactional id, or a share partition."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int16, Int32, Message, String, Struct, field


class FindCoordinatorRequest(Message, key=10, versions=(0, 6), flexible_since=3):
    key: String = field(until=3, default="")
    key_type: Int8 = field(since=1, default=0)
    coordinator_keys: list[String] = field(since=4, default_factory=list)


class Coordinator(Struct):
    key: String
    node_id: Int32
    host: String
    port: Int32
    error_code: Int16
    error_message: String | None


class FindCoordinatorResponse(Message, key=10, versions=(0, 6), flexible_since=3):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = field(until=3, default=0)
    error_message: String | None = field(since=1, until=3, default="", ignorable=True)
    node_id: Int32 = field(until=3, default=0)
    host: String = field(until=3, default="")
    port: Int32 = field(until=3, default=0)
    coordinators: list[Coordinator] = field(since=4, default_factory=list)

"""Heartbeat: a member of a classic group shows that it lives."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, field


class HeartbeatRequest(Message, key=12, versions=(0, 4), flexible_since=4):
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: String | None = field(since=3, default=None)


class HeartbeatResponse(Message, key=12, versions=(0, 4), flexible_since=4):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16

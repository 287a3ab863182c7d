"""LeaveGroup: leave a classic group, or remove its members."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct, field


class MemberIdentity(Struct):
    member_id: String
    group_instance_id: String | None = None
    reason: String | None = field(since=5, default=None, ignorable=True)


class LeaveGroupRequest(Message, key=13, versions=(0, 5), flexible_since=4):
    group_id: String
    member_id: String = field(until=2, default="")
    members: list[MemberIdentity] = field(since=3, default_factory=list)


class MemberResponse(Struct):
    member_id: String
    group_instance_id: String | None
    error_code: Int16


class LeaveGroupResponse(Message, key=13, versions=(0, 5), flexible_since=4):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = field(since=3, default_factory=list)

"""JoinGroup: join a classic group and learn who leads it."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Bytes, Int16, Int32, Message, String, Struct, field


class JoinGroupRequestProtocol(Struct):
    name: String
    metadata: Bytes


class JoinGroupRequest(Message, key=11, versions=(0, 9), flexible_since=6):
    group_id: String
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field(since=1, default=-1, ignorable=True)
    member_id: String
    group_instance_id: String | None = field(since=5, default=None)
    protocol_type: String
    protocols: list[JoinGroupRequestProtocol]
    reason: String | None = field(since=8, default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: String
    group_instance_id: String | None = field(since=5, default=None, ignorable=True)
    metadata: Bytes


class JoinGroupResponse(Message, key=11, versions=(0, 9), flexible_since=6):
    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    error_code: Int16
    generation_id: Int32 = -1
    protocol_type: String | None = field(since=7, default=None, ignorable=True)
    protocol_name: String | None = field(nullable_since=7)
    leader: String
    skip_assignment: Bool = field(since=9, default=False)
    member_id: String
    members: list[JoinGroupResponseMember]

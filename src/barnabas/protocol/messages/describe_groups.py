"""DescribeGroups: state, members and assignments of classic groups."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Bytes, Int16, Int32, Message, String, Struct, field


class DescribeGroupsRequest(Message, key=15, versions=(0, 6), flexible_since=5):
    groups: list[String]
    include_authorized_operations: Bool = field(since=3, default=False)


class DescribedGroupMember(Struct):
    member_id: String
    group_instance_id: String | None = field(since=4, default=None, ignorable=True)
    client_id: String
    client_host: String
    member_metadata: Bytes
    member_assignment: Bytes


class DescribedGroup(Struct):
    error_code: Int16
    error_message: String | None = field(since=6, default=None)
    group_id: String
    group_state: String
    protocol_type: String
    protocol_data: String
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field(since=3, default=-2147483648)


class DescribeGroupsResponse(Message, key=15, versions=(0, 6), flexible_since=5):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    groups: list[DescribedGroup]

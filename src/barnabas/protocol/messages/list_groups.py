"""ListGroups: list the groups that a broker coordinates, by state and type."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct, field


class ListGroupsRequest(Message, key=16, versions=(0, 5), flexible_since=3):
    states_filter: list[String] = field(since=4, default_factory=list)
    types_filter: list[String] = field(since=5, default_factory=list)


class ListedGroup(Struct):
    group_id: String
    protocol_type: String
    group_state: String = field(since=4, default="", ignorable=True)
    group_type: String = field(since=5, default="", ignorable=True)


class ListGroupsResponse(Message, key=16, versions=(0, 5), flexible_since=3):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
    groups: list[ListedGroup]

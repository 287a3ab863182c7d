"""DeleteGroups: delete groups that have no members."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct


class DeleteGroupsRequest(Message, key=42, versions=(0, 2), flexible_since=2):
    groups_names: list[String]


class DeletableGroupResult(Struct):
    group_id: String
    error_code: Int16


class DeleteGroupsResponse(Message, key=42, versions=(0, 2), flexible_since=2):
    throttle_time_ms: Int32
    results: list[DeletableGroupResult]

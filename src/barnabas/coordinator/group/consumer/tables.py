"""What consumer groups bring to a shard: which request, record and timer is theirs."""

from __future__ import annotations

from typing import Final

from barnabas.coordinator.group.consumer import classic_members, timers
from barnabas.coordinator.group.consumer.describing import describe
from barnabas.coordinator.group.consumer.heartbeating import heartbeat
from barnabas.coordinator.group.consumer.leaving import expire, expire_rebalance
from barnabas.coordinator.group.consumer.migration import on_downgraded
from barnabas.coordinator.group.consumer.subscribing import resolve_patterns
from barnabas.coordinator.group.state import Operations, Timers
from barnabas.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest
from barnabas.protocol.messages.leave_group import LeaveGroupRequest
from barnabas.protocol.messages.sync_group import SyncGroupRequest

OPERATIONS: Final[Operations] = {
    ConsumerGroupHeartbeatRequest: heartbeat,
    ConsumerGroupDescribeRequest: describe,
    JoinGroupRequest: classic_members.join,
    SyncGroupRequest: classic_members.sync,
    HeartbeatRequest: classic_members.heartbeat,
    LeaveGroupRequest: classic_members.leave,
}

TIMERS: Final[Timers] = {
    timers.SESSION: expire,
    timers.REBALANCE: expire_rebalance,
    timers.JOIN: expire,
    timers.SYNC: expire,
    timers.PATTERNS: resolve_patterns,
    timers.DOWNGRADE: on_downgraded,
}

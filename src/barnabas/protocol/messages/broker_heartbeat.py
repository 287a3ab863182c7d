"""BrokerHeartbeat: a broker shows the controller that it lives, and asks to be unfenced or shut down."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Int64, Message, Uuid, field


class BrokerHeartbeatRequest(Message, key=63, versions=(0, 2), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64
    want_fence: Bool
    want_shut_down: Bool
    offline_log_dirs: list[Uuid] = field(since=1, default_factory=list, tag=0)
    cordoned_log_dirs: list[Uuid] | None = field(since=2, default=None, tag=1)


class BrokerHeartbeatResponse(Message, key=63, versions=(0, 2), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    is_caught_up: Bool = False
    is_fenced: Bool = True
    should_shut_down: Bool

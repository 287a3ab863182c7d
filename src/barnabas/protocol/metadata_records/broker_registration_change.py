"""BrokerRegistrationChangeRecord: a registered broker was fenced, unfenced, or is shutting down."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Int32, Int64, Message, Uuid, field


class BrokerRegistrationChangeRecord(Message, key=17, versions=(0, 3), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(default=0, tag=0)
    in_controlled_shutdown: Int8 = field(since=1, default=0, tag=1)
    log_dirs: list[Uuid] = field(since=2, default_factory=list, tag=2)
    cordoned_log_dirs: list[Uuid] | None = field(since=3, default=None, tag=3)

"""BrokerRegistration: a broker that starts makes itself known to the controller and gets its epoch."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Int64, Message, String, Struct, Uint16, Uuid, field


class Listener(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class Feature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class BrokerRegistrationRequest(Message, key=62, versions=(0, 4), flexible_since=0):
    broker_id: Int32
    cluster_id: String
    incarnation_id: Uuid
    listeners: list[Listener]
    features: list[Feature]
    rack: String | None
    is_migrating_zk_broker: Bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=2, default_factory=list, ignorable=True)
    previous_broker_epoch: Int64 = field(since=3, default=-1, ignorable=True)


class BrokerRegistrationResponse(Message, key=62, versions=(0, 4), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    broker_epoch: Int64 = -1

"""RegisterBrokerRecord: a broker registered, with its endpoints, features and log directories."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Int64, Message, String, Struct, Uint16, Uuid, field


class BrokerEndpoint(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class BrokerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterBrokerRecord(Message, key=0, versions=(0, 4), flexible_since=0):
    broker_id: Int32
    is_migrating_zk_broker: Bool = field(since=2, default=False)
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: String | None
    fenced: Bool = True
    in_controlled_shutdown: Bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=3, default_factory=list, tag=0)
    cordoned_log_dirs: list[Uuid] | None = field(since=4, default=None, tag=1)

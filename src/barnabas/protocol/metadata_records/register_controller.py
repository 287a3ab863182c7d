"""RegisterControllerRecord: a controller registered, with its endpoints and features."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Message, String, Struct, Uint16, Uuid


class ControllerEndpoint(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class ControllerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterControllerRecord(Message, key=27, versions=(0, 0), flexible_since=0):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]

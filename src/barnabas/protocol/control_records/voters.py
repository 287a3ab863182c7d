"""VotersRecord: the quorum's voters and their endpoints from this offset on."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct, Uint16, Uuid, field


class Endpoint(Struct):
    name: String
    host: String
    port: Uint16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class Voter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature = field(name="kRaftVersionFeature")


class VotersRecord(Message, versions=(0, 0), flexible_since=0):
    version: Int16
    voters: list[Voter]

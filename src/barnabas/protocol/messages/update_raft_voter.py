"""UpdateRaftVoter: a voter reports its endpoints and the quorum features it supports."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Struct, Uint16, Uuid, field


class Listener(Struct):
    name: String
    host: String
    port: Uint16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class UpdateRaftVoterRequest(Message, key=82, versions=(0, 0), flexible_since=0):
    cluster_id: String | None
    current_leader_epoch: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    kraft_version_feature: KRaftVersionFeature = field(name="kRaftVersionFeature")


class CurrentLeader(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    host: String = ""
    port: Int32 = 0


class UpdateRaftVoterResponse(Message, key=82, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    current_leader: CurrentLeader = field(default_factory=CurrentLeader, tag=0)

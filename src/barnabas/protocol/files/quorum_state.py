"""QuorumStateData: a voter's epoch, vote and leader: the `quorum-state` file, which is JSON."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Int32, Int64, Message, String, Struct, Uuid, field


class Voter(Struct):
    voter_id: Int32


class QuorumStateData(Message, versions=(0, 1), flexible_since=0):
    cluster_id: String = field(until=0, default="")
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    voted_id: Int32 = -1
    voted_directory_id: Uuid = field(since=1, default=ZERO_UUID)
    applied_offset: Int64 = field(until=0, default=0)
    current_voters: list[Voter] | None = field(until=0, default_factory=list)

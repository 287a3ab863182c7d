"""LeaderChangeMessage: a quorum leader's first record of its epoch: who leads, and who voted."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import ZERO_UUID, Int16, Int32, Message, Struct, Uuid, field


class Voter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID)


class LeaderChangeMessage(Message, versions=(0, 1), flexible_since=0):
    version: Int16
    leader_id: Int32
    voters: list[Voter]
    granting_voters: list[Voter]

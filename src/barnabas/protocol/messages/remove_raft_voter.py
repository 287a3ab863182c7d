"""RemoveRaftVoter: ask the quorum to take a replica's vote away."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int32, Message, String, Uuid


class RemoveRaftVoterRequest(Message, key=81, versions=(0, 0), flexible_since=0):
    cluster_id: String | None
    voter_id: Int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Message, key=81, versions=(0, 0), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None

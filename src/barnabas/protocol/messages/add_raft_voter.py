"""AddRaftVoter: ask the quorum to let a replica vote."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Message, String, Struct, Uint16, Uuid, field


class Listener(Struct):
    name: String
    host: String
    port: Uint16


class AddRaftVoterRequest(Message, key=80, versions=(0, 1), flexible_since=0):
    cluster_id: String | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    ack_when_committed: Bool = field(since=1, default=True)


class AddRaftVoterResponse(Message, key=80, versions=(0, 1), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None

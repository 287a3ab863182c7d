"""DelegationTokenRecord: a delegation token was issued or prolonged."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int64, Message, String


class DelegationTokenRecord(Message, key=10, versions=(0, 0), flexible_since=0):
    owner: String
    requester: String
    renewers: list[String]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: String

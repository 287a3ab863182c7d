"""UserScramCredentialRecord: a user's SCRAM credential was stored."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int8, Int32, Message, String


class UserScramCredentialRecord(Message, key=11, versions=(0, 0), flexible_since=0):
    name: String
    mechanism: Int8
    salt: Bytes
    stored_key: Bytes
    server_key: Bytes
    iterations: Int32

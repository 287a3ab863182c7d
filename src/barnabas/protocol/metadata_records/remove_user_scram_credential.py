"""RemoveUserScramCredentialRecord: a user's SCRAM credential was removed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Message, String


class RemoveUserScramCredentialRecord(Message, key=22, versions=(0, 0), flexible_since=0):
    name: String
    mechanism: Int8

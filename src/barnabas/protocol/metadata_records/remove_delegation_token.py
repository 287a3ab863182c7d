"""RemoveDelegationTokenRecord: a delegation token was removed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, String


class RemoveDelegationTokenRecord(Message, key=26, versions=(0, 0), flexible_since=0):
    token_id: String

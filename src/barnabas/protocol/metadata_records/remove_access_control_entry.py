"""RemoveAccessControlEntryRecord: an access control entry was removed."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message, Uuid


class RemoveAccessControlEntryRecord(Message, key=19, versions=(0, 0), flexible_since=0):
    id: Uuid

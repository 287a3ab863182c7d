"""NoOpRecord: nothing happened, which moves the log's end."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Message


class NoOpRecord(Message, key=20, versions=(0, 0), flexible_since=0):
    pass

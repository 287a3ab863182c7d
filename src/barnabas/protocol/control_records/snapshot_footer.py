"""SnapshotFooterRecord: the last record of a snapshot."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Message


class SnapshotFooterRecord(Message, versions=(0, 0), flexible_since=0):
    version: Int16

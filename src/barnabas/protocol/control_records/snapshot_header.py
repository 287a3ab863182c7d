"""SnapshotHeaderRecord: the first record of a snapshot: how recent its contents are."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Int64, Message


class SnapshotHeaderRecord(Message, versions=(0, 0), flexible_since=0):
    version: Int16
    last_contained_log_timestamp: Int64

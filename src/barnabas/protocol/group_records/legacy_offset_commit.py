"""LegacyOffsetCommit: how far a group has read in a partition, in its oldest form."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message, String


class LegacyOffsetCommitKey(Message, key=0, versions=(0, 0)):
    group: String
    topic: String
    partition: Int32


class LegacyOffsetCommitValue(Message, key=0, versions=(0, 0)):
    offset: Int64
    metadata: String
    commit_timestamp: Int64

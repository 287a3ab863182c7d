"""FeatureLevelRecord: a feature was finalized at a level."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Message, String


class FeatureLevelRecord(Message, key=12, versions=(0, 0), flexible_since=0):
    name: String
    feature_level: Int16

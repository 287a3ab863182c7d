"""KRaftVersionRecord: the version of the quorum's own rules from this offset on."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Message, field


class KRaftVersionRecord(Message, versions=(0, 0), flexible_since=0):
    version: Int16
    kraft_version: Int16 = field(name="kRaftVersion")

"""ControlRecordTypeSchema: the key of a control record after its version: which kind it is."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Message


class ControlRecordTypeSchema(Message, versions=(0, 0)):
    type: Int16

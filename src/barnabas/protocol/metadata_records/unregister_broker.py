"""UnregisterBrokerRecord: a broker was unregistered."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Int64, Message


class UnregisterBrokerRecord(Message, key=1, versions=(0, 0), flexible_since=0):
    broker_id: Int32
    broker_epoch: Int64

"""EndTxnMarker: the end of a producer's transaction in a partition, committed or aborted."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int32, Message


class EndTxnMarker(Message, versions=(0, 0)):
    coordinator_epoch: Int32

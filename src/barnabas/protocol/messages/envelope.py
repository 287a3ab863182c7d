"""Envelope: a client's request that a broker passes on to the controller."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int16, Message


class EnvelopeRequest(Message, key=58, versions=(0, 0), flexible_since=0):
    request_data: Bytes
    request_principal: Bytes | None
    client_host_address: Bytes


class EnvelopeResponse(Message, key=58, versions=(0, 0), flexible_since=0):
    response_data: Bytes | None = None
    error_code: Int16

"""SaslAuthenticate: one step of a SASL exchange."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int16, Int64, Message, String, field


class SaslAuthenticateRequest(Message, key=36, versions=(0, 2), flexible_since=2):
    auth_bytes: Bytes


class SaslAuthenticateResponse(Message, key=36, versions=(0, 2), flexible_since=2):
    error_code: Int16
    error_message: String | None
    auth_bytes: Bytes
    session_lifetime_ms: Int64 = field(since=1, default=0, ignorable=True)

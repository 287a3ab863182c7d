"""SaslHandshake: choose a SASL mechanism."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int16, Message, String


class SaslHandshakeRequest(Message, key=17, versions=(0, 1)):
    mechanism: String


class SaslHandshakeResponse(Message, key=17, versions=(0, 1)):
    error_code: Int16
    mechanisms: list[String]

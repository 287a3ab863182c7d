"""DefaultPrincipalData: the principal on whose behalf a request is forwarded, inside Envelope."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Message, String


class DefaultPrincipalData(Message, versions=(0, 0), flexible_since=0):
    type: String
    name: String
    token_authenticated: Bool

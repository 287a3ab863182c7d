"""Records of the topic `__share_group_state`, one file a type, which holds key and value."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.catalogue import Catalogue

_ENTRIES = {
    0: ("share_snapshot", "ShareSnapshot"),
    1: ("share_update", "ShareUpdate"),
}
KEYS = Catalogue(__name__, _ENTRIES, "Key")
VALUES = Catalogue(__name__, _ENTRIES, "Value")

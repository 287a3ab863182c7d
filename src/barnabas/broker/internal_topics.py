"""The topics that brokers keep for themselves; clients may look but not write."""

from __future__ import annotations

from typing import Final

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

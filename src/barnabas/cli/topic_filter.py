"""Which topics a regular expression on a command line means, in the form that Kafka's tools take it."""

from __future__ import annotations

import re
from typing import Final

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class BadFilterError(Exception):
    """A text that is no regular expression."""


class TopicFilter:
    """Blanks do not count, a comma stands for a choice, and quotes around the whole are passed over."""

    def __init__(self, text: str) -> None:
        cleaned = text.strip().replace(",", "|").replace(" ", "")
        cleaned = re.sub(r"^[\"']+|[\"']+$", "", cleaned)
        try:
            self._pattern = re.compile(cleaned)
        except re.error:
            raise BadFilterError(f"{cleaned} is an invalid regex.") from None

    def allows(self, topic: str) -> bool:
        return self._pattern.fullmatch(topic) is not None

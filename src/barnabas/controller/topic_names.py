"""Which names a topic may have. Two that differ only by dots and underscores would share the names of their metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from barnabas.controller.errors import InvalidTopic

NAME_LENGTH_MAX: Final = 249
METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """Raise InvalidTopic with the rule that the name breaks."""
    if name in ("", ".", ".."):
        raise InvalidTopic(f"a topic cannot be called {name!r}")
    if len(name) > NAME_LENGTH_MAX:
        raise InvalidTopic(f"a topic's name has at most {NAME_LENGTH_MAX} characters, this one has {len(name)}")
    if not _LEGAL.fullmatch(name):
        raise InvalidTopic(
            f"the topic name {name!r} has characters other than ASCII letters and digits, '.', '_' and '-'"
        )


class TopicNames:
    """The names in use, for finding one that a new name would collide with."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_metric_name = {_metric_name(name): name for name in names}

    def add(self, name: str) -> None:
        """Take in a name, if it is one and collides with none."""
        check_topic_name(name)
        other = self._by_metric_name.get(_metric_name(name))
        if other is not None and other != name:
            raise InvalidTopic(f"topic {name} collides with topic {other}: in metrics '.' and '_' are the same")
        self._by_metric_name[_metric_name(name)] = name


def _metric_name(name: str) -> str:
    return name.replace(".", "_")

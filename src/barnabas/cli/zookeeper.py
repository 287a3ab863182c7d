"""`--zookeeper`, by which Kafka's tools reached a cluster while it had a ZooKeeper: what to type instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TextIO

_BROKER = "localhost:9092"


def refuse_zookeeper(tool: str, arguments: Sequence[str], err: TextIO) -> bool:
    """Say how the command is typed now, if it is one of then."""
    words, is_found = _without_zookeeper(arguments)
    if not is_found:
        return False
    if "--bootstrap-server" not in words:
        words = ["--bootstrap-server", _BROKER, *words]
    print("zookeeper is not a recognized option", file=err)
    print(f"A cluster has no ZooKeeper any more; name a broker of it:\n  {shlex.join([tool, *words])}", file=err)
    return True


def _without_zookeeper(arguments: Sequence[str]) -> tuple[list[str], bool]:
    words: list[str] = []
    rest = iter(arguments)
    is_found = False
    for word in rest:
        if word == "--zookeeper":
            next(rest, None)
            is_found = True
        elif word.startswith("--zookeeper="):
            is_found = True
        else:
            words.append(word)
    return words, is_found

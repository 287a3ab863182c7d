"""Members of groups by Apache Kafka's consumer, in one JVM."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, sleep
from typing import Any, TypeVar

from interop.referee import PROGRAMS, JvmProcess

LIMIT_S = 60
PAUSE_S = 0.05

Found = TypeVar("Found")


class JavaMembers:
    def __init__(self, bootstrap_servers: str) -> None:
        self._jvm = JvmProcess(PROGRAMS / "Groups.java", bootstrap_servers)

    def _do(self, command: str, *args: object) -> Any:
        return json.loads(self._jvm.ask(json.dumps([command, *args])))

    def join(self, name: str, group: str, topics: Sequence[str], **settings: str) -> None:
        """Let a consumer of this client id subscribe, with `_` for `.` in the names of its settings.

        `pattern`, where it is among them, is subscribed to in place of the topics.
        """
        chosen = {key.replace("_", "."): value for key, value in settings.items()}
        self._do("join", name, {"group.id": group, **chosen}, list(topics))

    def leave(self, name: str) -> None:
        self._do("leave", name)

    def commit(self, name: str) -> str:
        """`done`, or the name of what was thrown."""
        said: str = self._do("commit", name)
        return said

    def assignment(self, name: str) -> set[str]:
        return set(self._do("assignment", name))

    def member_id(self, name: str) -> str:
        found: str = self._do("member_id", name)
        return found

    def generation(self, name: str) -> int:
        found: int = self._do("generation", name)
        return found

    def seen(self, name: str) -> Mapping[str, int]:
        """How many records it got, by partition."""
        counts: Mapping[str, int] = self._do("seen", name)
        return counts

    def committed(self, group: str) -> Mapping[str, int]:
        offsets: Mapping[str, int] = self._do("committed", group)
        return offsets

    def settle(self, names: Sequence[str], partitions: set[str]) -> dict[str, set[str]]:
        """Wait until these members share the partitions, each owned by one, none with all unless it is alone."""

        def have_settled() -> dict[str, set[str]] | None:
            owned = {name: self.assignment(name) for name in names}
            whole = set().union(*owned.values()) == partitions
            is_shared = sum(map(len, owned.values())) == len(partitions)
            is_even = max(map(len, owned.values())) - min(map(len, owned.values())) <= 1
            return owned if whole and is_shared and is_even else None

        return until(have_settled, f"{names} to share {sorted(partitions)}")

    def close(self) -> None:
        self._jvm.close()


def until(look: Callable[[], Found | None], what: str) -> Found:
    """Look again and again until there is something to see; a limit that no healthy run comes near ends it."""
    deadline = monotonic() + LIMIT_S
    while (found := look()) is None:
        assert monotonic() < deadline, f"waited {LIMIT_S} s for {what}"
        sleep(PAUSE_S)
    return found

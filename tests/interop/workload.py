"""A load of Apache's Java clients on some topics: a producer and a consumer that run until they are stopped.

What was acknowledged and what was read are compared by the program itself; here are only the questions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from interop.referee import JvmProcess

# Enough to have been written and read since the event before, at about 300 records a second.
PROGRESS = 60


@dataclass(frozen=True)
class Load:
    """Started with `start`. A question fails when the producer or the consumer has failed or stands still."""

    jvm: JvmProcess
    name: str
    topics: tuple[str, ...]

    @classmethod
    def start(cls, jvm: JvmProcess, name: str, *topics: str) -> Load:
        load = cls(jvm, name, topics)
        load._ask("start", *topics)
        return load

    def goes_on(self, *topics: str) -> None:
        """Return when more of these topics, or of all, has been acknowledged and read."""
        for topic in topics or self.topics:
            self._ask("await", topic, PROGRESS)

    def differences(self) -> list[str]:
        """In what the records read differ from those that were acknowledged until now."""
        return self._ask("differences")

    def stop(self) -> list[str]:
        """End the load; in what all that was read differs from all that was acknowledged."""
        return self._ask("stop")

    def _ask(self, command: str, *arguments: str | int) -> list[str]:
        answer: list[str] = json.loads(self.jvm.ask(json.dumps([command, self.name, *arguments])))
        return answer

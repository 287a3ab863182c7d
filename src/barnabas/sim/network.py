"""A network that loses, delays, duplicates and reorders, and that can be cut in one direction alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from barnabas.sim.world import World


@dataclass(slots=True)
class Conditions:
    """How bad the network is: chances from 0 to 1, delays in milliseconds."""

    loss: float = 0.0
    duplication: float = 0.0
    delay_max_ms: int = 5
    # Now and then a message takes far longer than its fellows and arrives in another epoch.
    straggling: float = 0.0
    straggle_max_ms: int = 10_000


@dataclass(slots=True)
class Network:
    world: World
    conditions: Conditions = field(default_factory=Conditions)
    cut: set[tuple[int, int]] = field(default_factory=set)

    def send(self, source: int, target: int, deliver: Callable[[], None]) -> None:
        """Let `deliver` happen after a while, never, or more than once."""
        rng, conditions = self.world.rng, self.conditions
        copies = 2 if rng.random() < conditions.duplication else 1
        for _ in range(copies):
            if rng.random() < conditions.loss:
                continue
            delay_ms = rng.randrange(conditions.delay_max_ms) + 1
            if rng.random() < conditions.straggling:
                delay_ms += rng.randrange(conditions.straggle_max_ms)
            self.world.after(delay_ms, lambda: self._arrive(source, target, deliver))

    def _arrive(self, source: int, target: int, deliver: Callable[[], None]) -> None:
        if (source, target) not in self.cut:
            deliver()

    def isolate(self, group: set[int], others: set[int], *, inbound: bool = True, outbound: bool = True) -> None:
        """Cut a group off from the others, both ways or one way alone."""
        for inside in sorted(group):
            for outside in sorted(others - group):
                if outbound:
                    self.cut.add((inside, outside))
                if inbound:
                    self.cut.add((outside, inside))

    def heal(self) -> None:
        self.cut.clear()

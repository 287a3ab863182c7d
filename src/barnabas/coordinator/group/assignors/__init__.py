"""The assignors of the coordinator: pure functions from who subscribes to what, to who is to own what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.coordinator.group.assignors.ranges import assign_ranges
from barnabas.coordinator.group.assignors.spec import Assignor
from barnabas.coordinator.group.assignors.uniform import assign_uniformly

# By the names that settings and members use.
ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}

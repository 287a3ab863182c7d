"""What `kafka-reassign-partitions` complains about in its own words."""

from __future__ import annotations

from barnabas.cli.cluster_access import ToolError


class TerseError(ToolError):
    """A complaint that is printed as it stands; before any other, it says that it is an error."""

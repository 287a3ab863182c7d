"""Levels of features as tools show them: by their labels, those of a release, and what a level depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TextIO

from barnabas.metadata.features import default_levels
from barnabas.metadata.versions import METADATA_VERSION, MetadataVersion

# Levels that only a cluster older than ours is at; a tool still names them.
_OLDER_LEVELS: Final = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
}
_LABELS: Final = _OLDER_LEVELS | {int(version): version.label for version in MetadataVersion}


def show_level(name: str, level: int) -> str:
    """A level as a cluster's description shows it: that of metadata.version by its label."""
    return _LABELS.get(level, f"UNKNOWN {level}") if name == METADATA_VERSION else str(level)


def is_metadata_level(level: int) -> bool:
    """Whether any release has had this level of metadata.version."""
    return level in _LABELS


def print_release_levels(release: str, version: MetadataVersion, out: TextIO) -> None:
    """The level of every feature that a cluster of a release starts with."""
    print(f"{METADATA_VERSION}={int(version)} ({release})", file=out)
    for name, level in default_levels(version).items():
        print(f"{name}={level}", file=out)


def print_needs(name: str, level: int, needs: Mapping[str, int], out: TextIO) -> None:
    """What a level of a feature depends on; of metadata.version a level that there is."""
    if not needs:
        print(f"{_level_line(name, level)} has no dependencies.", file=out)
        return
    print(f"{_level_line(name, level)} requires:", file=out)
    for needed, least in needs.items():
        print(f"    {_level_line(needed, least)}", file=out)


def _level_line(name: str, level: int) -> str:
    label = f" ({_LABELS[level]})" if name == METADATA_VERSION else ""
    return f"{name}={int(level)}{label}"

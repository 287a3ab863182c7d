"""The settings to add and to delete, as `kafka-configs` is given them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from barnabas.cli.cluster_access import ToolError, read_properties

# Holds where no bracket is open.
_OUTSIDE: Final = r"(?=[^\]]*(?:\[|$))"
_COMMA: Final = re.compile("," + _OUTSIDE)
_EQUALS: Final = re.compile(r"\s*=\s*" + _OUTSIDE)
_NAME: Final = re.compile(r"[$a-zA-Z0-9._-]*")


def parse_added(argument: str | None, path: str | None) -> dict[str, str]:
    """The settings of a list, `k1=v1,k2=[v1,v2]`, or of a file."""
    added = read_properties(path) if path is not None else {}
    if argument is not None:
        added |= dict(map(_parse_pair, _COMMA.split(argument)))
    for name in added:
        # The dollar is in the names of loggers.
        if not _NAME.fullmatch(name):
            raise ToolError(f"Invalid character found for config key: {name}")
    return added


def parse_deleted(arguments: Iterable[str]) -> list[str]:
    return [name.strip() for argument in arguments for name in argument.split(",") if name]


def _parse_pair(text: str) -> tuple[str, str]:
    name, *values = _EQUALS.split(text)
    if len(values) != 1:
        raise ToolError(
            'requirement failed: Invalid entity config: all configs to be added must be in the format "key=val" or  '
            '"key=[val1,val2]" to group values which contain commas.'
        )
    return name.strip(), re.sub(r"[\[\]]", "", values[0]).strip()

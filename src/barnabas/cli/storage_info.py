"""What `kafka-storage info` prints: the directories of a node, whom they belong to, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from barnabas.log.meta_properties import META_PROPERTIES, MetaProperties, MetaPropertiesError, read_meta_properties
from barnabas.ports.disk import Disk


def print_info(disk: Disk, directories: Sequence[str], out: TextIO) -> int:
    """The exit status is 1 where there are problems."""
    found: list[str] = []
    problems: list[str] = []
    first: MetaProperties | None = None
    for directory in (re.sub(r"/+", "/", each).rstrip("/") or "/" for each in sorted(directories)):
        if not disk.is_directory(directory):
            problems.append(f"{directory} {'is not a directory' if disk.exists(directory) else 'does not exist'}")
            continue
        found.append(directory)
        try:
            meta = read_meta_properties(disk, directory)
        except MetaPropertiesError as error:
            problems.append(f"Error loading {directory}/{META_PROPERTIES}: {error}")
            continue
        if meta is None:
            problems.append(f"{directory} is not formatted.")
        elif first is None:
            first = meta
        elif first.cluster_id != meta.cluster_id:
            problems.append("Mismatched cluster IDs between storage directories.")
        elif first.node_id != meta.node_id:
            problems.append("Mismatched node IDs between storage directories.")
    if first is not None and first.version == 0:
        problems.append(
            "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories are formatted "
            "for legacy mode."
        )
    _print_list("Found log directory:", "Found log directories:", found, out)
    if first is not None:
        print(f"Found metadata: {_describe(first)}\n", file=out)
    _print_list("Found problem:", "Found problems:", problems, out)
    return 1 if problems else 0


def _print_list(one: str, several: str, lines: Sequence[str], out: TextIO) -> None:
    if lines:
        print(one if len(lines) == 1 else several, *(f"  {line}" for line in lines), "", sep="\n", file=out)


def _describe(meta: MetaProperties) -> str:
    values = {
        "broker.id" if meta.version == 0 else "node.id": meta.node_id,
        "cluster.id": meta.cluster_id,
        "directory.id": meta.directory_id,
        "version": meta.version,
    }
    shown = ", ".join(f"{name}={value}" for name, value in sorted(values.items()) if value is not None)
    return f"{{{shown}}}"

"""`meta.properties` of a log directory: which cluster, which node and which directory its logs belong to.

Version 1 always names cluster and node. Version 0 is read, as a directory from before KRaft has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from barnabas.config.java_properties import load_properties, store_properties
from barnabas.log.checkpoint import parse_number, read_whole, replace_file
from barnabas.ports.disk import Disk
from barnabas.protocol.uuid import Uuid

META_PROPERTIES = "meta.properties"
_RESERVED_IDS = 100  # The lowest ids stand for things like "unassigned" and name no directory.


class MetaPropertiesError(ValueError):
    """A directory that says it belongs elsewhere, or says it so that it cannot be understood."""


@dataclass(frozen=True, kw_only=True)
class MetaProperties:
    version: int = 1
    cluster_id: str | None
    node_id: int | None
    directory_id: Uuid | None = None


def parse_meta_properties(data: bytes) -> MetaProperties:
    try:
        properties = load_properties(data)
        version = parse_number(properties.get("version", "0").strip())
        if version not in (0, 1):
            raise MetaPropertiesError(f"unknown version {version} of {META_PROPERTIES}")
        node_id = properties.get("broker.id" if version == 0 else "node.id")
        directory_id = properties.get("directory.id")
        parsed = MetaProperties(
            version=version,
            cluster_id=properties.get("cluster.id"),
            node_id=None if node_id is None else parse_number(node_id),
            directory_id=None if directory_id is None else Uuid.parse(directory_id),
        )
    except MetaPropertiesError:
        raise
    except ValueError as error:
        raise MetaPropertiesError(f"{META_PROPERTIES} cannot be understood: {error}") from error
    if version == 1 and parsed.cluster_id is None:
        raise MetaPropertiesError(f"{META_PROPERTIES} has no cluster.id")
    if version == 1 and parsed.node_id is None:
        raise MetaPropertiesError(f"{META_PROPERTIES} has no node.id")
    return parsed


def format_meta_properties(meta: MetaProperties, now_ms: int) -> bytes:
    values = {
        "version": str(meta.version),
        "cluster.id": meta.cluster_id,
        "broker.id" if meta.version == 0 else "node.id": None if meta.node_id is None else str(meta.node_id),
        "directory.id": None if meta.directory_id is None else str(meta.directory_id),
    }
    written = datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    present = {name: value for name, value in sorted(values.items()) if value is not None}
    return store_properties(present, comments=["", written])


def read_meta_properties(disk: Disk, directory: str) -> MetaProperties | None:
    """What a directory says of itself; None where it was never formatted."""
    try:
        data = read_whole(disk, f"{directory}/{META_PROPERTIES}")
    except FileNotFoundError:
        return None
    try:
        return parse_meta_properties(data)
    except MetaPropertiesError as error:
        raise MetaPropertiesError(f"{directory}: {error}") from error


def write_meta_properties(disk: Disk, directory: str, meta: MetaProperties, now_ms: int) -> None:
    replace_file(disk, f"{directory}/{META_PROPERTIES}", format_meta_properties(meta, now_ms))


def check_ensemble(
    found: Mapping[str, MetaProperties], *, cluster_id: str | None = None, node_id: int | None = None
) -> None:
    """Raise MetaPropertiesError unless all directories are of one node in one cluster, each with its own id."""
    seen: dict[Uuid, str] = {}
    for directory, meta in found.items():
        cluster_id = meta.cluster_id if cluster_id is None else cluster_id
        node_id = meta.node_id if node_id is None else node_id
        if meta.cluster_id not in (None, cluster_id):
            raise MetaPropertiesError(
                f"{directory} belongs to cluster {meta.cluster_id}, where cluster {cluster_id} was expected"
            )
        if meta.node_id not in (None, node_id):
            raise MetaPropertiesError(
                f"{directory} belongs to node {meta.node_id}, where node {node_id} was expected; data that was moved "
                "keeps its node id, and a new node starts with empty directories"
            )
        if meta.directory_id is None:
            continue
        if int.from_bytes(meta.directory_id, "big") < _RESERVED_IDS:
            raise MetaPropertiesError(f"{directory} has the reserved directory id {meta.directory_id}")
        if meta.directory_id in seen:
            raise MetaPropertiesError(f"{directory} and {seen[meta.directory_id]} have the same directory id")
        seen[meta.directory_id] = directory

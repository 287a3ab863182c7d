"""The directories of a node at its start: formatted, of this node and one cluster, and used by nobody else.

What speaks against a start is said with the setting's name and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from barnabas.config.node import NodeConfig
from barnabas.log.checkpoint import read_whole
from barnabas.log.meta_properties import META_PROPERTIES, MetaPropertiesError, check_ensemble, read_meta_properties
from barnabas.metadata.bootstrap import BOOTSTRAP_FILE, DEFAULT_BOOTSTRAP, BootstrapMetadata, read_checkpoint
from barnabas.metadata.errors import MetadataError
from barnabas.ports.disk import Disk, Lock
from barnabas.protocol.errors import CorruptMessage
from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid

LOCK_FILE: Final = ".lock"


class StorageRefused(Exception):  # noqa: N818 (says what became of the start)
    """Directories that a node must not start with."""


@dataclass(frozen=True, slots=True)
class NodeStorage:
    """The cluster that the directories belong to, the id of the one that holds the metadata, and the locks on all."""

    cluster_id: str
    metadata_directory_id: Uuid
    bootstrap: BootstrapMetadata
    locks: tuple[Lock, ...]

    def release(self) -> None:
        release_all(self.locks)


def release_all(locks: Iterable[Lock]) -> None:
    for lock in locks:
        lock.release()


def open_storage(disk: Disk, node: NodeConfig) -> NodeStorage:
    found = {}
    for directory in node.storage_dirs:
        setting = "metadata.log.dir" if directory not in node.log_dirs else "log.dirs"
        try:
            meta = read_meta_properties(disk, directory)
        except (OSError, MetaPropertiesError) as error:
            raise StorageRefused(f"{setting}: {directory} cannot be used: {error}") from error
        if meta is None:
            raise StorageRefused(
                f"{setting}: {directory} is not formatted, it has no {META_PROPERTIES}. Format it with "
                "`kafka-storage format --cluster-id ID --config FILE`; `kafka-storage random-uuid` makes an ID"
            )
        found[directory] = meta
    try:
        check_ensemble(found, node_id=node.node_id)
    except MetaPropertiesError as error:
        raise StorageRefused(f"log.dirs and node.id do not go together: {error}") from error
    meta = found[node.metadata_log_dir]
    if meta.cluster_id is None:
        raise StorageRefused(f"{node.metadata_log_dir}/{META_PROPERTIES} has no cluster.id: format the directory anew")
    return NodeStorage(
        meta.cluster_id,
        meta.directory_id or ZERO_UUID,
        _read_bootstrap(disk, node.metadata_log_dir),
        _lock_all(disk, node.storage_dirs),
    )


def _read_bootstrap(disk: Disk, directory: str) -> BootstrapMetadata:
    path = f"{directory}/{BOOTSTRAP_FILE}"
    try:
        return read_checkpoint(read_whole(disk, path))
    except FileNotFoundError:
        return DEFAULT_BOOTSTRAP
    except (OSError, MetadataError, CorruptMessage) as error:
        raise StorageRefused(f"{path} cannot be read: {error}") from error


def _lock_all(disk: Disk, directories: Iterable[str]) -> tuple[Lock, ...]:
    locks: list[Lock] = []
    for directory in directories:
        try:
            locks.append(disk.lock(f"{directory}/{LOCK_FILE}"))
        except OSError as error:
            release_all(locks)
            if isinstance(error, BlockingIOError):
                raise StorageRefused(
                    f"log.dirs: {directory} is in use by another process, which holds {LOCK_FILE} in it. Stop that "
                    "node, or give this one directories of its own"
                ) from error
            raise StorageRefused(f"log.dirs: {directory} cannot be locked: {error}") from error
    return tuple(locks)

"""The directories of a node at its start: formatted, of this node and one cluster, and used by nobody else.

A broker's log directories are locked with their logs, the others here. What speaks against a start is said with the
setting's name and what to do about it; a log directory that cannot be read is no such thing, unless the metadata is in
it: a broker starts without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from barnabas.config.node import NodeConfig
from barnabas.log.checkpoint import read_whole
from barnabas.log.directories import LogDirectories
from barnabas.log.directory_opening import LogDirectoryError
from barnabas.log.meta_properties import (
    META_PROPERTIES,
    MetaProperties,
    MetaPropertiesError,
    check_ensemble,
    read_meta_properties,
    write_meta_properties,
)
from barnabas.metadata.bootstrap import BOOTSTRAP_FILE, DEFAULT_BOOTSTRAP, BootstrapMetadata, read_checkpoint
from barnabas.metadata.errors import MetadataError
from barnabas.ports.disk import Disk, Lock
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import CorruptMessage
from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid

LOCK_FILE: Final = ".lock"


class StorageRefused(Exception):  # noqa: N818 (says what became of the start)
    """Directories that a node must not start with."""


@dataclass(frozen=True, slots=True)
class NodeStorage:
    """The cluster that the directories belong to, the id of the one that holds the metadata, and the locks on all.

    `logs` are the log directories of a broker, each under its lock; None in a node that is none.
    """

    cluster_id: str
    metadata_directory_id: Uuid
    bootstrap: BootstrapMetadata
    locks: tuple[Lock, ...]
    logs: LogDirectories | None

    def release(self) -> None:
        if self.logs is not None:
            self.logs.unlock()
        release_all(self.locks)


def release_all(locks: Iterable[Lock]) -> None:
    for lock in locks:
        lock.release()


def open_storage(disk: Disk, node: NodeConfig, *, rng: Rng, now_ms: int) -> NodeStorage:
    found, unreadable = _read_directories(disk, node)
    try:
        check_ensemble(found, node_id=node.node_id)
    except MetaPropertiesError as error:
        raise StorageRefused(f"log.dirs and node.id do not go together: {error}") from error
    meta = found[node.metadata_log_dir]
    if meta.cluster_id is None:
        raise StorageRefused(f"{node.metadata_log_dir}/{META_PROPERTIES} has no cluster.id: format the directory anew")
    bootstrap = _read_bootstrap(disk, node.metadata_log_dir)
    if not node.is_broker:
        locks = _lock_all(disk, node.storage_dirs)
        return NodeStorage(meta.cluster_id, meta.directory_id or ZERO_UUID, bootstrap, locks, None)
    locks = _lock_all(disk, [each for each in node.storage_dirs if each not in node.log_dirs])
    try:
        _name_directories(disk, found, rng, now_ms)
        logs = LogDirectories(disk, node.log_dirs, rng=rng)
        for path, failure in unreadable.items():
            logs.take_offline(path, failure)
        if node.metadata_log_dir in logs.failures:
            raise logs.failures[node.metadata_log_dir]
    except (OSError, LogDirectoryError) as error:
        release_all(locks)
        raise StorageRefused(f"log.dirs: {error}") from error
    return NodeStorage(meta.cluster_id, found[node.metadata_log_dir].directory_id or ZERO_UUID, bootstrap, locks, logs)


def _read_directories(disk: Disk, node: NodeConfig) -> tuple[dict[str, MetaProperties], dict[str, OSError]]:
    """What each directory says of itself, and of a broker's those that cannot be read."""
    found: dict[str, MetaProperties] = {}
    unreadable: dict[str, OSError] = {}
    for directory in node.storage_dirs:
        setting = "metadata.log.dir" if directory not in node.log_dirs else "log.dirs"
        try:
            meta = read_meta_properties(disk, directory)
        except (OSError, MetaPropertiesError) as error:
            if node.is_broker and isinstance(error, OSError) and directory != node.metadata_log_dir:
                unreadable[directory] = error
                continue
            raise StorageRefused(f"{setting}: {directory} cannot be used: {error}") from error
        if meta is None:
            raise StorageRefused(
                f"{setting}: {directory} is not formatted, it has no {META_PROPERTIES}. Format it with "
                "`kafka-storage format --cluster-id ID --config FILE`; `kafka-storage random-uuid` makes an ID"
            )
        found[directory] = meta
    return found, unreadable


def _name_directories(disk: Disk, found: dict[str, MetaProperties], rng: Rng, now_ms: int) -> None:
    """Give an id to the directories that are from before directories had one."""
    for directory, meta in found.items():
        if meta.directory_id is None:
            named = replace(meta, directory_id=Uuid(bytes(rng.randrange(256) for _ in range(16))))
            write_meta_properties(disk, directory, named, now_ms)
            found[directory] = named


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

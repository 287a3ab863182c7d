"""A node's directories at its start: locked once, named, and left out where a broker can do without."""

from __future__ import annotations

import errno
from random import Random

import pytest

from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.log.meta_properties import MetaProperties, read_meta_properties, write_meta_properties
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.node_storage import NodeStorage, StorageRefused, open_storage
from barnabas.sim.disk import SimDisk
from node_settings import COMBINED, CONTROLLER

PATHS = ("/data/a", "/data/b")


def formatted(*paths: str, has_ids: bool = True) -> SimDisk:
    disk = SimDisk()
    for number, path in enumerate(paths, start=200):
        disk.make_directory(path)
        directory_id = Uuid(number.to_bytes(16, "big")) if has_ids else None
        write_meta_properties(disk, path, MetaProperties(cluster_id="c", node_id=1, directory_id=directory_id), 0)
    return disk


def opened(disk: SimDisk, node: NodeConfig) -> NodeStorage:
    return open_storage(disk, node, rng=Random(0), now_ms=0)


def combined(**settings: str) -> NodeConfig:
    return parse_node({**COMBINED, **{name.replace("_", "."): value for name, value in settings.items()}})


def test_a_brokers_directories_are_locked_once_with_their_logs_and_let_go_together() -> None:
    disk = formatted(*PATHS, "/meta")
    node = combined(metadata_log_dir="/meta")
    storage = opened(disk, node)
    assert storage.logs is not None
    assert [directory.path for directory in storage.logs.online] == list(PATHS)
    for path in (*PATHS, "/meta"):
        with pytest.raises(BlockingIOError):
            disk.lock(f"{path}/.lock")
    storage.release()
    opened(disk, node).release()


def test_a_controller_alone_has_locks_and_no_logs() -> None:
    disk = formatted(*PATHS)
    storage = opened(disk, parse_node(CONTROLLER))
    assert storage.logs is None
    with pytest.raises(StorageRefused, match="in use by another process"):
        opened(disk, parse_node(CONTROLLER))


def test_directories_in_use_elsewhere_are_refused_and_none_stays_locked() -> None:
    disk = formatted(*PATHS, "/meta")
    lock = disk.lock("/data/b/.lock")
    with pytest.raises(StorageRefused, match="in use by another process"):
        opened(disk, combined(metadata_log_dir="/meta"))
    lock.release()
    opened(disk, combined(metadata_log_dir="/meta")).release()


def test_a_broker_starts_without_a_directory_that_cannot_be_read_unless_the_metadata_is_there() -> None:
    for is_lasting in (True, False):
        disk = formatted(*PATHS)
        failures = [True]

        def fail(_operation: str, path: str, failures: list[bool] = failures, is_lasting: bool = is_lasting) -> None:
            if path.startswith("/data/b") and failures:
                if not is_lasting:
                    failures.clear()
                raise OSError(errno.EIO, "gone", path)

        disk.before_operation = fail
        storage = opened(disk, combined())
        assert storage.logs is not None
        assert [directory.path for directory in storage.logs.online] == ["/data/a"]
        storage.release()
        failures.append(True)
        with pytest.raises(StorageRefused, match=r"log\.dirs: /data/b cannot be used"):
            opened(disk, combined(metadata_log_dir="/data/b"))


def test_directories_from_before_they_had_ids_are_given_some() -> None:
    disk = formatted(*PATHS, has_ids=False)
    opened(disk, combined()).release()
    found = [read_meta_properties(disk, path) for path in PATHS]
    ids = {meta.directory_id for meta in found if meta is not None}
    assert len(ids) == 2
    assert None not in ids


def test_a_directory_that_is_not_formatted_is_refused() -> None:
    with pytest.raises(StorageRefused, match="kafka-storage format"):
        opened(formatted("/data/a"), combined())

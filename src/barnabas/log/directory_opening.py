"""A log directory at a node's start: made where it is missing, locked, told apart, and searched for logs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.log.checkpoint import TopicPartition
from barnabas.log.log_directory import LogDirectory
from barnabas.log.meta_properties import MetaPropertiesError, read_meta_properties
from barnabas.log.names import DELETE_DIRECTORY, FUTURE_DIRECTORY, STRAY_DIRECTORY, parse_partition_directory
from barnabas.log.partition_metadata import read_topic_id
from barnabas.ports.disk import Disk
from barnabas.protocol.uuid import Uuid

LOCK = ".lock"
METADATA_TOPIC = "__cluster_metadata"
REMOTE_INDEX_CACHE = "remote-log-index-cache"


class LogDirectoryError(Exception):
    """Directories that a node must not start with. The text is meant for whoever starts it."""


class FoundLog(NamedTuple):
    """A log that is there and to be opened, in the directory `path` of its own."""

    partition: TopicPartition
    path: str
    topic_id: Uuid | None
    is_future: bool


class Findings(NamedTuple):
    """The logs in a log directory, and those that await deletion there, by the directories of their own."""

    logs: list[FoundLog]
    deleted: list[tuple[TopicPartition, str]]


def open_directory(disk: Disk, path: str) -> LogDirectory:
    """Lock a directory, made durably where it is missing; OSError where its disk fails."""
    _make_durably(disk, path)
    try:
        lock = disk.lock(f"{path}/{LOCK}")
    except BlockingIOError as error:
        raise LogDirectoryError(f"{path} is in use by another process, which holds {LOCK}") from error
    try:
        return LogDirectory(path, lock, read_meta_properties(disk, path))
    except OSError:
        lock.release()
        raise
    except MetaPropertiesError as error:
        lock.release()
        raise LogDirectoryError(str(error)) from error


def _make_durably(disk: Disk, path: str) -> None:
    """Make a directory and the parents it lacks, each durably named in the one above it."""
    missing = []
    while not disk.exists(path):
        missing.append(path)
        path = _parent(path)
    if missing:
        disk.make_directory(missing[0])
        for made in missing:
            disk.flush_directory(_parent(made))


def find_logs(disk: Disk, log_directory: str) -> Findings:
    """What there is but for strays, which nobody touches, and the metadata's own log."""
    findings = Findings([], [])
    for name in disk.names(log_directory):
        path = f"{log_directory}/{name}"
        if name == REMOTE_INDEX_CACHE or not disk.is_directory(path):
            continue
        parsed = parse_partition_directory(name)
        if parsed is None:
            raise LogDirectoryError(f"{path} is not a partition's directory; log directories hold nothing else")
        partition = TopicPartition(parsed.topic, parsed.partition)
        if parsed.suffix == DELETE_DIRECTORY:
            findings.deleted.append((partition, path))
        elif parsed.suffix != STRAY_DIRECTORY and parsed.topic != METADATA_TOPIC:
            is_future = parsed.suffix == FUTURE_DIRECTORY
            findings.logs.append(FoundLog(partition, path, read_topic_id(disk, path), is_future))
    return findings


def require_one_each(logs: Iterable[FoundLog], opened: Iterable[FoundLog]) -> None:
    """Refuse a partition that has a log, or a future one, in two places."""
    paths = {(each.partition, each.is_future): each.path for each in opened}
    for each in logs:
        other = paths.setdefault((each.partition, each.is_future), each.path)
        if other != each.path:
            raise LogDirectoryError(
                f"{each.partition} is in {each.path} and in {other}: a directory has probably failed while the "
                "partition was moved. Remove one of the two, rather that in the directory that has failed"
            )


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"

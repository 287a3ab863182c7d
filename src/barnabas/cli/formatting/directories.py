"""Formats directories: each gets the first records of the cluster, a voter's also the first voters, and then a name.

`meta.properties` is written last. A directory without it counts as not formatted, whatever else a crash has left in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from barnabas.cli.formatting.controllers import new_id
from barnabas.cli.formatting.errors import FormatError
from barnabas.log.checkpoint import replace_file
from barnabas.log.meta_properties import (
    META_PROPERTIES,
    MetaProperties,
    MetaPropertiesError,
    check_ensemble,
    read_meta_properties,
    write_meta_properties,
)
from barnabas.log.names import partition_directory
from barnabas.metadata.bootstrap import BOOTSTRAP_FILE, BootstrapMetadata, write_checkpoint
from barnabas.ports.disk import Disk
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.schema import Message, field_specs
from barnabas.raft import control
from barnabas.raft.log_view import METADATA_TOPIC
from barnabas.raft.voters import VoterSet

METADATA_PARTITION = partition_directory(METADATA_TOPIC, 0)
FIRST_SNAPSHOT = "00000000000000000000-0000000000.checkpoint"
# Whoever has these can pass for the server, so they are not printed.
_SECRET_FIELDS = {"salt", "stored_key", "server_key"}


@dataclass(frozen=True, kw_only=True)
class StorageFormat:
    """What the directories of a node are to become."""

    cluster_id: str
    node_id: int
    directories: tuple[str, ...]
    metadata_directory: str
    bootstrap: BootstrapMetadata
    kraft_version: int
    voters: VoterSet | None
    ignores_formatted: bool


def format_directories(disk: Disk, wanted: StorageFormat, now_ms: int, out: TextIO) -> None:
    formatted, empty = _survey(disk, wanted, out)
    if formatted and not wanted.ignores_formatted:
        raise FormatError(
            f"Log directory {min(formatted)} is already formatted. Use --ignore-formatted to ignore this directory and "
            "format the others."
        )
    if not empty:
        print("All of the log directories are already formatted.", file=out)
        return
    print(f"Bootstrap metadata: {_describe(wanted.bootstrap)}", file=out)
    for directory in empty:
        kind = _kind(directory, wanted)
        print(
            f"Formatting {kind} {directory} with metadata.version {wanted.bootstrap.metadata_version}.",
            file=out,
        )
        try:
            _write(disk, directory, wanted, now_ms)
        except OSError as error:
            raise FormatError(f"Error while writing {META_PROPERTIES} file {directory}: {error}") from error


def _survey(disk: Disk, wanted: StorageFormat, out: TextIO) -> tuple[dict[str, MetaProperties], list[str]]:
    """The directories that are formatted, which must fit what is wanted, and those that are not."""
    formatted: dict[str, MetaProperties] = {}
    empty: list[str] = []
    for directory in wanted.directories:
        try:
            meta = read_meta_properties(disk, directory)
        except (OSError, MetaPropertiesError):
            print(f"I/O error trying to read log directory {directory}. Ignoring...", file=out)
            continue
        if meta is None:
            empty.append(directory)
        elif meta.cluster_id not in (None, wanted.cluster_id):
            raise FormatError(
                f"Invalid cluster.id in: {directory}/{META_PROPERTIES}. Expected {wanted.cluster_id}, but read "
                f"{meta.cluster_id}"
            )
        else:
            formatted[directory] = meta
    if not formatted and not empty:
        raise FormatError("No available log directories to format.")
    try:
        check_ensemble(formatted, cluster_id=wanted.cluster_id, node_id=wanted.node_id)
    except MetaPropertiesError as error:
        raise FormatError(str(error)) from error
    return formatted, empty


def _kind(directory: str, wanted: StorageFormat) -> str:
    if directory != wanted.metadata_directory:
        return "data directory"
    if wanted.voters is None:
        return "metadata directory"
    return "dynamic metadata voter directory" if wanted.node_id in wanted.voters.ids else "dynamic metadata directory"


def _write(disk: Disk, directory: str, wanted: StorageFormat, now_ms: int) -> None:
    _make_directory(disk, directory)
    replace_file(disk, f"{directory}/{BOOTSTRAP_FILE}", write_checkpoint(wanted.bootstrap.records, now_ms))
    directory_id = new_id()
    if directory == wanted.metadata_directory and wanted.voters is not None:
        _make_directory(disk, f"{directory}/{METADATA_PARTITION}")
        first_snapshot = build_first_snapshot(wanted.kraft_version, wanted.voters, now_ms)
        replace_file(disk, f"{directory}/{METADATA_PARTITION}/{FIRST_SNAPSHOT}", first_snapshot)
        if wanted.node_id in wanted.voters.ids:
            directory_id = wanted.voters.by_id[wanted.node_id].key.directory_id
    meta = MetaProperties(cluster_id=wanted.cluster_id, node_id=wanted.node_id, directory_id=directory_id)
    write_meta_properties(disk, directory, meta, now_ms)


def _make_directory(disk: Disk, directory: str) -> None:
    """Make it and the parents it lacks, durably."""
    grown = []
    missing = directory
    while not disk.exists(missing):
        missing = missing.rpartition("/")[0] or ("/" if missing.startswith("/") else ".")
        grown.append(missing)
    disk.make_directory(directory)
    for parent in grown:
        disk.flush_directory(parent)


def build_first_snapshot(kraft_version: int, voters: VoterSet, now_ms: int) -> bytes:
    """The snapshot of an empty metadata log that says who the voters are."""
    head = [control.snapshot_header(now_ms), control.kraft_version(kraft_version), control.voters(voters)]
    return control.build(head, base_offset=0, epoch=0, timestamp_ms=now_ms) + control.build(
        [control.snapshot_footer()], base_offset=len(head), epoch=0, timestamp_ms=now_ms
    )


def _describe(bootstrap: BootstrapMetadata) -> str:
    """As Java prints it."""
    records = ", ".join(
        f"ApiMessageAndVersion({_describe_message(message)} at version {version})"
        for message, version in bootstrap.records
    )
    return (
        f"BootstrapMetadata(records=[{records}], metadataVersionLevel={int(bootstrap.metadata_version)}, "
        "source=format command)"
    )


def _describe_message(message: Message) -> str:
    hidden = _SECRET_FIELDS if isinstance(message, UserScramCredentialRecord) else set()
    fields = []
    for spec in field_specs(type(message)):
        value = getattr(message, spec.name)
        shown = "[hidden]" if spec.name in hidden else f"'{value}'" if isinstance(value, str) else str(int(value))
        fields.append(f"{spec.json_name}={shown}")
    return f"{type(message).__name__}({', '.join(fields)})"

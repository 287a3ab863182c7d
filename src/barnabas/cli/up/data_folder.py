"""The folder of a cluster on this machine: `node-N/` for each node, with its settings, its logs and what it said.

A settings file is written once and is the user's from then on. Storage is formatted when the cluster is new.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final

from barnabas.cli.up.layout import HOST, NodeLayout, broker_port, node_folder
from barnabas.config.java_properties import load_properties
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.log.meta_properties import MetaPropertiesError, read_meta_properties
from barnabas.runtime.disk import PosixDisk
from barnabas.runtime.node_storage import LOCK_FILE

SETTINGS_FILE: Final = "server.properties"
OUTPUT_FILE: Final = "server.log"
_FOLDER: Final = re.compile(r"node-(0|[1-9][0-9]*)")
_COMMENT: Final = "# Written by `barnabas up`, which reads it from now on: change what you like."


class DataFolderError(Exception):
    """A folder that cannot be used as it is; the text says what to do."""


@dataclass(frozen=True, kw_only=True)
class PreparedNode:
    """A node that can be started: its checked settings, its file of them, and what is to be put in their place."""

    config: NodeConfig
    settings_file: Path
    overrides: dict[str, str]

    @property
    def node_id(self) -> int:
        return self.config.node_id

    @property
    def folder(self) -> Path:
        return self.settings_file.parent

    @property
    def output_file(self) -> Path:
        return self.folder / OUTPUT_FILE

    @property
    def address(self) -> tuple[str, int]:
        """Where clients reach its broker."""
        listener = self.config.broker_listeners[0]
        return listener.host or HOST, listener.port


def default_folder(environment: Mapping[str, str]) -> Path:
    """Where a user's programs keep what they have to remember (XDG), so that it is the same from everywhere."""
    base = environment.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "barnabas"


def find_nodes(data: Path) -> list[Path]:
    """The settings files of the nodes in a folder, by their ids."""
    found = {}
    with suppress(FileNotFoundError, NotADirectoryError):
        for folder in os.scandir(data):
            match = _FOLDER.fullmatch(folder.name)
            if match is not None and (data / folder.name / SETTINGS_FILE).exists():
                found[int(match[1])] = data / folder.name / SETTINGS_FILE
    return [path for _, path in sorted(found.items())]


def remove_nodes(data: Path) -> None:
    """Delete every node and its records; nothing else in the folder is touched. DataFolderError where one runs."""
    folders = [path.parent for path in find_nodes(data)]
    disk = PosixDisk()
    for folder in folders:
        for lock in folder.rglob(LOCK_FILE):
            try:
                disk.lock(str(lock)).release()
            except BlockingIOError:
                raise DataFolderError(f"{folder} is in use by a node that runs; stop it first") from None
    for folder in folders:
        shutil.rmtree(folder)


def create_nodes(data: Path, layout: list[NodeLayout]) -> None:
    """Write the settings of new nodes and format their storage as one new cluster's."""
    # Only the first start needs what formats; the others do not wait for it.
    from barnabas.cli import storage
    from barnabas.cli.formatting.controllers import new_id

    cluster_id = str(new_id())
    directory_ids = {node.node_id: new_id() for node in layout if node.is_controller}
    voters = ",".join(
        f"{node.node_id}@{HOST}:{node.controller_port}:{directory_ids[node.node_id]}"
        for node in layout
        if node.is_controller
    )
    for node in layout:
        folder = node_folder(data, node.node_id)
        folder.mkdir(parents=True, exist_ok=True)
        arriving = folder / f"{SETTINGS_FILE}.tmp"
        arriving.write_text(_properties_text(node.settings), encoding="utf-8")
        first_voters = ["--initial-controllers", voters] if node.is_controller else ["--no-initial-controllers"]
        err = StringIO()
        words = ["format", "--cluster-id", cluster_id, "--config", str(arriving), *first_voters]
        if storage.run(words, StringIO(), err) != 0:
            raise DataFolderError(f"{folder} cannot be formatted: {err.getvalue().strip()}")
        # A node without this file is none, so one that was not formatted to the end is made anew.
        arriving.rename(folder / SETTINGS_FILE)


def _properties_text(settings: Mapping[str, str]) -> str:
    """As somebody would type it: Java's own way puts a backslash before every colon."""
    lines = [_COMMENT, *(f"{name}={value.replace(chr(92), chr(92) * 2)}" for name, value in settings.items())]
    return "".join(f"{line}\n" for line in lines)


def read_nodes(data: Path, port: int | None) -> list[PreparedNode]:
    """The nodes that are there, the first broker at `port` if one is given, else all where their settings say."""
    return [
        _read_node(path, None if port is None else broker_port(port, position))
        for position, path in enumerate(find_nodes(data))
    ]


def _read_node(path: Path, port: int | None) -> PreparedNode:
    try:
        given = load_properties(path.read_bytes())
        config = parse_node(given)
        overrides = {} if port is None else _listeners(config, port)
        return PreparedNode(config=parse_node(given | overrides), settings_file=path, overrides=overrides)
    except (ConfigError, ValueError) as error:
        raise DataFolderError(f"{path}: {error}") from error


def _listeners(config: NodeConfig, port: int) -> dict[str, str]:
    """The settings that move a node's broker to another port of this machine and leave its controller where it is."""
    first, *others = config.broker_listeners
    moved = f"{first.listener}://{HOST}:{port}"
    kept = [f"{at.listener}://{at.host or ''}:{at.port}" for at in (*others, *config.controller_listeners)]
    return {"listeners": ",".join([moved, *kept]), "advertised.listeners": moved}


def read_cluster_id(node: PreparedNode) -> str:
    try:
        meta = read_meta_properties(PosixDisk(), node.config.metadata_log_dir)
    except MetaPropertiesError as error:
        raise DataFolderError(str(error)) from error
    if meta is None or meta.cluster_id is None:
        raise DataFolderError(f"{node.config.metadata_log_dir} is not formatted; start with --fresh")
    return meta.cluster_id

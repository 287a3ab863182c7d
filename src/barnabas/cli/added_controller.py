"""The controller that is to join a quorum, as its own server.properties and metadata directory describe it.

The file is read for these facts only and not checked as a node that starts from it would: it may hold settings of the
client that adds the controller, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.cli.cluster_access import ToolError
from barnabas.client.admin.quorum import VoterEndpoint
from barnabas.config.listeners import (
    ADVERTISED_LISTENERS,
    CONTROLLER_LISTENER_NAMES,
    LISTENERS,
    Endpoint,
    SecurityProtocol,
    parse_endpoints,
)
from barnabas.log.meta_properties import MetaPropertiesError, read_meta_properties
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.disk import PosixDisk

NODE_ID = "node.id"
PROCESS_ROLES = "process.roles"
METADATA_LOG_DIR = "metadata.log.dir"
LOG_DIRS = "log.dirs"
_DOUBT = "Is this a valid controller configuration file?"


@dataclass(frozen=True, slots=True)
class AddedController:
    node_id: int
    directory_id: Uuid
    endpoints: tuple[VoterEndpoint, ...]


def read_controller(properties: Mapping[str, str]) -> AddedController:
    node_id = _read_node_id(properties)
    directory_id = _read_directory_id(_find_metadata_directory(properties))
    return AddedController(node_id, directory_id, _read_endpoints(properties))


def _read_node_id(properties: Mapping[str, str]) -> int:
    if NODE_ID not in properties:
        raise ToolError(f"{NODE_ID} not found in configuration file. {_DOUBT}")
    try:
        node_id = int(properties[NODE_ID])
    except ValueError:
        raise ToolError(f"{NODE_ID} is no number in configuration file: {properties[NODE_ID]}. {_DOUBT}") from None
    if node_id < 0:
        raise ToolError(f"{NODE_ID} was negative in configuration file. {_DOUBT}")
    if "controller" not in properties.get(PROCESS_ROLES, ""):
        raise ToolError(f"{PROCESS_ROLES} did not contain 'controller' in configuration file. {_DOUBT}")
    return node_id


def _find_metadata_directory(properties: Mapping[str, str]) -> str:
    if METADATA_LOG_DIR in properties:
        return properties[METADATA_LOG_DIR]
    if LOG_DIRS in properties:
        return properties[LOG_DIRS].strip().split(",")[0]
    raise ToolError(f"Neither {METADATA_LOG_DIR} nor {LOG_DIRS} were found. {_DOUBT}")


def _read_directory_id(directory: str) -> Uuid:
    try:
        meta = read_meta_properties(PosixDisk(), directory)
    except MetaPropertiesError as error:
        raise ToolError(str(error)) from None
    if meta is None:
        raise ToolError(f"Unable to read meta.properties from {directory}")
    if meta.directory_id is None:
        raise ToolError(f"No directory id found in {directory}")
    return meta.directory_id


def _read_endpoints(properties: Mapping[str, str]) -> tuple[VoterEndpoint, ...]:
    """Where the controller's listeners can be reached: as advertised, or else as it listens."""
    listeners = {
        endpoint.listener: endpoint
        for setting in (LISTENERS, ADVERTISED_LISTENERS)
        for endpoint in _parse_listeners(properties.get(setting, ""), setting)
    }
    if CONTROLLER_LISTENER_NAMES not in properties:
        raise ToolError(f"{CONTROLLER_LISTENER_NAMES} was not found. {_DOUBT}")
    endpoints = []
    for name in properties[CONTROLLER_LISTENER_NAMES].upper().split(","):
        if name not in listeners:
            raise ToolError(f"Cannot find information about controller listener name: {name}")
        endpoint = listeners[name]
        endpoints.append(VoterEndpoint(name, endpoint.host or "localhost", endpoint.port))
    return tuple(dict.fromkeys(endpoints))


def _parse_listeners(text: str, setting: str) -> tuple[Endpoint, ...]:
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    # How they are secured is of no concern here, so each counts as plain.
    protocols = dict.fromkeys((entry.rpartition("://")[0].upper() for entry in entries), SecurityProtocol.PLAINTEXT)
    return parse_endpoints(entries, protocols, setting)

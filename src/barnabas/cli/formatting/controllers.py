"""The controllers that a dynamic quorum begins with: `--standalone` and `--initial-controllers`."""

from __future__ import annotations

import re
import uuid

from barnabas.cli.formatting.errors import FormatError
from barnabas.config.node import NodeConfig
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.raft.replica import Endpoint, ReplicaKey
from barnabas.raft.voters import Voter, VoterSet

KRAFT_VERSIONS = VersionRange(0, 1)
_ENTRY = re.compile(r"(?P<id>[0-9]+)@(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>[^:\[\]]+)):(?P<port>[0-9]+):(?P<directory>.+)")


def new_id() -> Uuid:
    """A random id that no command line takes for an option."""
    while True:
        made = Uuid(uuid.uuid4().bytes)
        if not str(made).startswith("-"):
            return made


def standalone(node: NodeConfig) -> VoterSet:
    """This controller as the only voter."""
    if not node.is_controller:
        raise FormatError("You can only use --standalone on a controller.")
    listener = node.advertised_controller_listeners[0]
    key = ReplicaKey(node.node_id, new_id())
    address = Endpoint(listener.host or "localhost", listener.port)
    return VoterSet.of([Voter(key, {listener.listener: address}, KRAFT_VERSIONS)])


def parse_controllers(text: str, listener: str) -> VoterSet:
    """Voters from `id@host:port:directory` entries, all reached at the same listener."""
    voters = [_parse_controller(entry.strip(), listener) for entry in text.strip().split(",") if entry]
    if not voters:
        raise FormatError("--initial-controllers names no voters.")
    ids = [voter.id for voter in voters]
    for voter_id in ids:
        if ids.count(voter_id) > 1:
            raise FormatError(f"Node id {voter_id} was specified more than once.")
    return VoterSet.of(voters)


def _parse_controller(entry: str, listener: str) -> Voter:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise FormatError(f"'{entry}' in --initial-controllers is not of the form id@hostname:port:directory")
    port = int(match["port"])
    if port > 65_535:
        raise FormatError(f"'{entry}' in --initial-controllers: there is no port {port}")
    try:
        directory_id = Uuid.parse(match["directory"])
    except ValueError as error:
        raise FormatError(f"'{entry}' in --initial-controllers: {error}") from None
    host = match["host"] if match["ipv6"] is None else match["ipv6"]
    return Voter(ReplicaKey(int(match["id"]), directory_id), {listener: Endpoint(host, port)}, KRAFT_VERSIONS)

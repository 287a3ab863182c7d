"""The settings of the quorum, `controller.quorum.*`, with Kafka's names and defaults, and how addresses are read."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, ConfigError, Kind, Setting

# An address that listens everywhere leads nowhere.
NON_ROUTABLE_HOST = "0.0.0.0"

RAFT_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="controller.quorum.voters",
        kind=Kind.LIST,
        default=(),
        doc="The voters of a static quorum, as a list of `{id}@{host}:{port}`. A dynamic quorum leaves this empty: its "
        "voters are in the metadata log, from the flags of the format command on.",
    ),
    Setting(
        name="controller.quorum.bootstrap.servers",
        kind=Kind.LIST,
        default=(),
        doc="Where to look for the quorum, as a list of `{host}:{port}`. They need not be all controllers.",
    ),
    Setting(
        name="controller.quorum.election.timeout.ms",
        kind=Kind.INT,
        default=1_000,
        allowed=AtLeast(0),
        doc="How long a voter waits for the outcome of an election before it stands itself; up to as much again is "
        "drawn by chance.",
    ),
    Setting(
        name="controller.quorum.fetch.timeout.ms",
        kind=Kind.INT,
        default=2_000,
        allowed=AtLeast(0),
        doc="How long a voter goes without a successful fetch before it stands for election, and, with half as much "
        "again, a leader without fetches from a majority before it resigns.",
    ),
    Setting(
        name="controller.quorum.election.backoff.max.ms",
        kind=Kind.INT,
        default=1_000,
        allowed=AtLeast(0),
        doc="The longest that a voter holds back after a leader resigned, to leave the first try to better successors.",
    ),
    Setting(
        name="controller.quorum.append.linger.ms",
        kind=Kind.INT,
        default=25,
        allowed=AtLeast(0),
        doc="How long the leader gathers writes before it appends and flushes them together.",
    ),
    Setting(
        name="controller.quorum.request.timeout.ms",
        kind=Kind.INT,
        default=2_000,
        allowed=AtLeast(0),
        doc="How long a request to another node may take before it counts as failed.",
    ),
    Setting(
        name="controller.quorum.retry.backoff.ms",
        kind=Kind.INT,
        default=20,
        allowed=AtLeast(0),
        doc="How long a node waits after a failed request before it asks the same node again; each further failure "
        "doubles it.",
    ),
    Setting(
        name="controller.quorum.auto.join.enable",
        kind=Kind.BOOLEAN,
        default=False,
        doc="Whether a controller outside the voters asks to join them, removing its former self if its disk was lost.",
    ),
    Setting(
        name="controller.quorum.fetch.snapshot.max.bytes",
        kind=Kind.INT,
        default=1_048_576,
        allowed=AtLeast(1),
        doc="How many bytes of a snapshot are fetched at once.",
    ),
    Setting(
        name="controller.quorum.fetch.max.bytes",
        kind=Kind.INT,
        default=1_048_576,
        allowed=AtLeast(1),
        doc="How many bytes of the metadata log are fetched at once; a larger batch comes alone.",
    ),
)


def parse_voters(entries: tuple[str, ...]) -> dict[int, tuple[str, int]]:
    """Node ids with host and port, from `{id}@{host}:{port}` entries."""
    voters = {}
    for entry in entries:
        node_id, separator, address = entry.partition("@")
        if not separator or not node_id.isdecimal():
            raise ConfigError(f"{entry!r} in controller.quorum.voters is not of the form {{id}}@{{host}}:{{port}}")
        host, port = parse_address(address, "controller.quorum.voters")
        if host == NON_ROUTABLE_HOST:
            raise ConfigError(f"{entry!r} in controller.quorum.voters: nobody can be reached at {host}")
        voters[int(node_id)] = host, port
    return voters


def parse_address(text: str, setting: str) -> tuple[str, int]:
    """Host and port, the host perhaps an IPv6 address in brackets."""
    host, separator, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if not separator or not host or not port.isdecimal() or (":" in host and not is_bracketed):
        raise ConfigError(f"{text!r} in {setting} is not of the form {{host}}:{{port}}")
    return host.strip("[]"), int(port)

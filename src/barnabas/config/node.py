"""A node as its settings describe it: its id and roles, where it listens, where its logs are, where the quorum is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from barnabas.config.listeners import (
    ADVERTISED_LISTENERS,
    CONTROLLER_LISTENER_NAMES,
    LISTENERS,
    PROTOCOL_MAP,
    Endpoint,
    SecurityProtocol,
    parse_endpoints,
    parse_protocol,
    parse_protocol_map,
)
from barnabas.config.raft import NON_ROUTABLE_HOST, parse_address, parse_voters
from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError

INTER_BROKER_LISTENER = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
EARLY_START_LISTENERS = "early.start.listeners"

Address = tuple[str, int]


class Role(Enum):
    BROKER = "broker"
    CONTROLLER = "controller"


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    """Read from settings and not yet checked against the rules of `config.node_rules`."""

    settings: ServerConfig = field(repr=False)
    node_id: int
    roles: frozenset[Role]
    protocols: Mapping[str, SecurityProtocol]
    listeners: tuple[Endpoint, ...]
    advertised: tuple[Endpoint, ...] | None
    controller_listener_names: tuple[str, ...]
    inter_broker_listener_name: str
    log_dirs: tuple[str, ...]
    metadata_log_dir: str
    voters: Mapping[int, Address]
    bootstrap_servers: tuple[Address, ...]

    @property
    def is_broker(self) -> bool:
        return Role.BROKER in self.roles

    @property
    def is_controller(self) -> bool:
        return Role.CONTROLLER in self.roles

    @property
    def storage_dirs(self) -> tuple[str, ...]:
        """Every directory that the node keeps something in, sorted."""
        return tuple(sorted({*self.log_dirs, self.metadata_log_dir}))

    @property
    def cordoned_log_dirs(self) -> tuple[str, ...]:
        cordoned = self.settings.words("cordoned.log.dirs")
        return self.log_dirs if cordoned == ("*",) else cordoned

    @property
    def broker_listeners(self) -> tuple[Endpoint, ...]:
        return self._without_controllers(self.listeners)

    @property
    def controller_listeners(self) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.listeners if each.listener in self.controller_listener_names)

    @property
    def advertised_broker_listeners(self) -> tuple[Endpoint, ...]:
        """What brokers and clients are told to connect to."""
        return self._without_controllers(self.listeners if self.advertised is None else self.advertised)

    def _without_controllers(self, endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
        return tuple(each for each in endpoints if each.listener not in self.controller_listener_names)

    @property
    def advertised_controller_listeners(self) -> tuple[Endpoint, ...]:
        """What nodes are told to reach this controller at, the default listener first. No host asks for the machine's.

        Where the default listener listens everywhere and is not advertised, the entry of this node among the voters
        is taken.
        """
        return tuple(self._find_controller_endpoints())

    def _find_controller_endpoints(self) -> Iterator[Endpoint]:
        advertised = {each.listener: each for each in self.advertised or ()}
        bound = {each.listener: each for each in self.controller_listeners}
        for name in self.controller_listener_names:
            if name in advertised:
                yield advertised[name]
            elif name in bound:
                is_default = name == self.controller_listener_names[0]
                yield self._reachable(bound[name], self.voters.get(self.node_id) if is_default else None)

    @staticmethod
    def _reachable(endpoint: Endpoint, voter: Address | None) -> Endpoint:
        if endpoint.host not in (None, NON_ROUTABLE_HOST):
            return endpoint
        if voter is not None:
            return replace(endpoint, host=voter[0], port=voter[1])
        return replace(endpoint, host=None)

    @property
    def early_start_listener_names(self) -> frozenset[str]:
        """The listeners that open before the authorizer is ready."""
        named = self.settings.words_or_none(EARLY_START_LISTENERS)
        return frozenset(each.listener for each in self.controller_listeners) if named is None else frozenset(named)


def read_node(settings: ServerConfig) -> NodeConfig:
    protocols = parse_protocol_map(settings)
    advertised = settings.words_or_none(ADVERTISED_LISTENERS)
    log_dirs = settings.words_or_none("log.dirs") or settings.words("log.dir")
    return NodeConfig(
        settings=settings,
        node_id=settings.integer("node.id"),
        roles=frozenset(Role(word) for word in settings.words("process.roles")),
        protocols=protocols,
        listeners=parse_endpoints(settings.words(LISTENERS), protocols, LISTENERS),
        advertised=None
        if advertised is None
        else parse_endpoints(advertised, protocols, ADVERTISED_LISTENERS, needs_own_ports=False),
        controller_listener_names=settings.words(CONTROLLER_LISTENER_NAMES),
        inter_broker_listener_name=_inter_broker_listener_name(settings, protocols),
        log_dirs=log_dirs,
        metadata_log_dir=settings.text_or_none("metadata.log.dir") or log_dirs[0],
        voters=parse_voters(settings.words("controller.quorum.voters")),
        bootstrap_servers=tuple(
            parse_address(entry, "controller.quorum.bootstrap.servers")
            for entry in settings.words("controller.quorum.bootstrap.servers")
        ),
    )


def _inter_broker_listener_name(settings: ServerConfig, protocols: Mapping[str, SecurityProtocol]) -> str:
    name = settings.text_or_none(INTER_BROKER_LISTENER)
    if name is None:
        return parse_protocol(settings.text(INTER_BROKER_PROTOCOL), INTER_BROKER_PROTOCOL).name
    if INTER_BROKER_PROTOCOL in settings.given:
        raise ConfigError(f"Only one of {INTER_BROKER_LISTENER} and {INTER_BROKER_PROTOCOL} should be set.")
    if name.upper() not in protocols:
        raise ConfigError(f"Listener {name.upper()} of {INTER_BROKER_LISTENER} has no protocol in {PROTOCOL_MAP}.")
    return name.upper()

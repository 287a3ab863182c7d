"""The rules that tie a node's roles, listeners, voters and directories together, as Kafka checks them at start.

What breaks a rule stops the node, and the text names the setting. What is only odd becomes a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from barnabas.config.listeners import (
    ADVERTISED_LISTENERS,
    CONTROLLER_LISTENER_NAMES,
    LISTENERS,
    PROTOCOL_MAP,
    Endpoint,
    SecurityProtocol,
)
from barnabas.config.node import (
    EARLY_START_LISTENERS,
    INTER_BROKER_LISTENER,
    NodeConfig,
    read_node,
)
from barnabas.config.raft import NON_ROUTABLE_HOST
from barnabas.config.server_config import parse_server_config
from barnabas.config.setting import ConfigError
from barnabas.config.value_rules import check_values

ROLES = "process.roles"
VOTERS = "controller.quorum.voters"
BOOTSTRAP_SERVERS = "controller.quorum.bootstrap.servers"

# What a broker may have in its file, and only controllers read.
_OF_CONTROLLERS = (
    "create.topic.policy.class.name",
    "alter.config.policy.class.name",
    "num.partitions",
    "default.replication.factor",
)


def parse_node(given: Mapping[str, str]) -> NodeConfig:
    """The node that a file of settings describes. ConfigError says which setting is wrong and what it may be."""
    settings = parse_server_config(given)
    if settings.integer("node.id") != settings.integer("broker.id"):
        raise ConfigError("node.id and broker.id must be the same where both are set")
    check_values(settings)
    node = read_node(settings)
    check_node(node)
    return node


def check_node(node: NodeConfig) -> None:
    if not node.voters and not node.bootstrap_servers:
        raise ConfigError(f"{BOOTSTRAP_SERVERS} or {VOTERS} must say where the controllers are")
    if node.is_controller:
        _check_controller(node)
    else:
        _check_broker_alone(node)
    if node.is_controller and not node.is_broker:
        _check_controller_alone(node)
    if node.is_broker:
        _check_broker(node)
    for endpoint in node.advertised_broker_listeners + node.advertised_controller_listeners:
        _require(
            endpoint.host != NON_ROUTABLE_HOST,
            f"{ADVERTISED_LISTENERS} cannot use {NON_ROUTABLE_HOST}, at which nobody is reached; use an address of the "
            f"machine for listener {endpoint.listener}",
        )
    _check_early_start(node)
    _check_sasl(node)


def _check_controller(node: NodeConfig) -> None:
    _require(
        not node.voters or node.node_id in node.voters,
        f"{VOTERS} must contain node {node.node_id}, because {ROLES} makes it a controller; it has {_ids(node)}",
    )
    listening = {endpoint.listener for endpoint in node.listeners}
    _require(
        set(node.controller_listener_names) <= listening,
        f"{CONTROLLER_LISTENER_NAMES} of a controller must only contain names of {LISTENERS}: {_joined(listening)}",
    )


def _check_controller_alone(node: NodeConfig) -> None:
    _require(
        not node.broker_listeners,
        f"{LISTENERS} must only contain listeners from {CONTROLLER_LISTENER_NAMES} when {ROLES}=controller; "
        f"{_names(node.broker_listeners)} is no such one",
    )
    if node.settings.text_or_none(INTER_BROKER_LISTENER) is not None:
        _require(
            node.inter_broker_listener_name not in node.controller_listener_names,
            f"{CONTROLLER_LISTENER_NAMES} must not contain what {INTER_BROKER_LISTENER} is set to when "
            f"{ROLES}=controller",
        )


def _check_broker_alone(node: NodeConfig) -> None:
    _require(
        node.node_id not in node.voters,
        f"{VOTERS} must not contain node {node.node_id}, because {ROLES} makes it just a broker",
    )
    _require(
        not node.controller_listeners,
        f"{CONTROLLER_LISTENER_NAMES} must not contain a name of {LISTENERS} when {ROLES}=broker: "
        f"{_names(node.controller_listeners)}",
    )
    for name in node.controller_listener_names:
        _require(
            name.upper() in node.protocols,
            f"{PROTOCOL_MAP} must have a protocol for {name.upper()} of {CONTROLLER_LISTENER_NAMES}, because it is "
            "set or because listeners are not all PLAINTEXT",
        )
    _require(
        not node.settings.boolean("controller.quorum.auto.join.enable"),
        f"controller.quorum.auto.join.enable can be true only where {ROLES} contains controller",
    )


def _check_broker(node: NodeConfig) -> None:
    advertised = {endpoint.listener for endpoint in node.advertised_broker_listeners}
    listening = {endpoint.listener for endpoint in node.listeners}
    _require(
        bool(advertised),
        f"{ADVERTISED_LISTENERS} must have a listener of the broker; perhaps all are in {CONTROLLER_LISTENER_NAMES}",
    )
    _require(
        node.inter_broker_listener_name in advertised,
        f"{INTER_BROKER_LISTENER} ({node.inter_broker_listener_name}) must be a listener in {ADVERTISED_LISTENERS}: "
        f"{_joined(advertised)}",
    )
    _require(
        advertised <= listening,
        f"{ADVERTISED_LISTENERS} ({_joined(advertised)}) must only have names of {LISTENERS}: {_joined(listening)}",
    )
    cordoned = node.settings.words("cordoned.log.dirs")
    _require(
        cordoned == ("*",) or set(cordoned) <= set(node.log_dirs),
        f"cordoned.log.dirs must be * alone or some of the log directories: {_joined(node.log_dirs)}",
    )


def _check_early_start(node: NodeConfig) -> None:
    known = {endpoint.listener for endpoint in node.listeners}
    _require(
        node.early_start_listener_names <= known,
        f"{EARLY_START_LISTENERS} must only have names of {LISTENERS}: {_joined(known)}",
    )


def _check_sasl(node: NodeConfig) -> None:
    name = node.inter_broker_listener_name
    if node.protocols.get(name) not in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL):
        return
    enabled = node.settings.of_listener(name)["sasl.enabled.mechanisms"]
    assert isinstance(enabled, tuple)
    _require(
        node.settings.text("sasl.mechanism.inter.broker.protocol") in enabled,
        "sasl.mechanism.inter.broker.protocol must be one of sasl.enabled.mechanisms where brokers use SASL among "
        f"each other: {_joined(enabled)}",
    )


def warnings(node: NodeConfig) -> Iterator[str]:
    """What is odd about the settings of a node, and harmless."""
    for name in node.settings.unknown:
        yield f"{name} is no setting of a node, and nothing reads it"
    if not node.is_controller:
        for name in _OF_CONTROLLERS:
            if name in node.settings.given:
                yield f"{name} is set on a broker; controllers are who reads it"
        if len(node.controller_listener_names) > 1:
            yield f"{CONTROLLER_LISTENER_NAMES} has several names; a broker uses {node.controller_listener_names[0]}"
    interval_ms = node.settings.integer("broker.heartbeat.interval.ms")
    timeout_ms = node.settings.integer("broker.session.timeout.ms")
    if interval_ms * 2 > timeout_ms:
        yield (
            f"broker.heartbeat.interval.ms ({interval_ms}) should be at most half of broker.session.timeout.ms "
            f"({timeout_ms}), or one late heartbeat fences a broker"
        )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ConfigError(otherwise)


def _names(endpoints: Iterable[Endpoint]) -> str:
    return ", ".join(endpoint.listener for endpoint in endpoints)


def _joined(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))


def _ids(node: NodeConfig) -> str:
    return ", ".join(str(node_id) for node_id in sorted(node.voters))

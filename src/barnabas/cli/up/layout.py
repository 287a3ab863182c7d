"""Which nodes a cluster on this machine has: their roles, ports and settings.

One or two brokers have one controller among them, as two would stop when either is lost; from three on the first three
nodes are controllers. Ids begin at 0. Brokers listen at every second port, and controllers at those between.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 9092
CONTROLLERS_MAX: Final = 3
REPLICATION_FACTOR_MAX: Final = 3
PORTS_PER_NODE: Final = 2

# What the file of settings that comes with Kafka sets for every node. They are defaults, nearly all, but a setting that
# stands in the file is one to be seen there and changed, and `--describe` gives it as the node's own.
CUSTOMARY_SETTINGS: Final = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "socket.request.max.bytes": "104857600",
    "num.partitions": "1",
    "num.recovery.threads.per.data.dir": "2",
    "log.retention.hours": "168",
    "log.segment.bytes": "1073741824",
    "log.retention.check.interval.ms": "300000",
}


@dataclass(frozen=True, kw_only=True)
class NodeLayout:
    """A node to be made."""

    node_id: int
    is_controller: bool
    broker_port: int
    controller_port: int
    settings: dict[str, str]


def lay_out(data: Path, broker_count: int, port: int) -> list[NodeLayout]:
    """The nodes of a new cluster whose first broker listens at `port`."""
    controller_count = CONTROLLERS_MAX if broker_count >= CONTROLLERS_MAX else 1
    controllers = ",".join(f"{HOST}:{_controller_port(port, node_id)}" for node_id in range(controller_count))
    return [
        NodeLayout(
            node_id=node_id,
            is_controller=node_id < controller_count,
            broker_port=broker_port(port, node_id),
            controller_port=_controller_port(port, node_id),
            settings=_settings(data, node_id, broker_count, port, controllers, node_id < controller_count),
        )
        for node_id in range(broker_count)
    ]


def broker_port(first_port: int, position: int) -> int:
    """The port of a broker by its position among those of a cluster, which is the id of a new one."""
    return first_port + PORTS_PER_NODE * position


def _controller_port(first_port: int, node_id: int) -> int:
    return broker_port(first_port, node_id) + 1


def node_folder(data: Path, node_id: int) -> Path:
    return data / f"node-{node_id}"


def _settings(
    data: Path, node_id: int, broker_count: int, port: int, controllers: str, is_controller: bool
) -> dict[str, str]:
    factor = min(broker_count, REPLICATION_FACTOR_MAX)
    in_sync_min = max(factor - 1, 1)
    at = f"PLAINTEXT://{HOST}:{broker_port(port, node_id)}"
    return {
        "process.roles": "broker,controller" if is_controller else "broker",
        "node.id": str(node_id),
        "listeners": f"{at},CONTROLLER://{HOST}:{_controller_port(port, node_id)}" if is_controller else at,
        "advertised.listeners": at,
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": controllers,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(node_folder(data, node_id) / "logs"),
        "offsets.topic.replication.factor": str(factor),
        "transaction.state.log.replication.factor": str(factor),
        "transaction.state.log.min.isr": str(in_sync_min),
        "share.coordinator.state.topic.replication.factor": str(factor),
        "share.coordinator.state.topic.min.isr": str(in_sync_min),
        # Members of a group on one machine come together; nobody has to wait for the others.
        "group.initial.rebalance.delay.ms": "0",
    } | CUSTOMARY_SETTINGS

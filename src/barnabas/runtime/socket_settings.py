"""The settings of a node's sockets, with Kafka's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

INT_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketSettings:
    """What limits connections and requests. A buffer size of -1 leaves the choice to the system."""

    socket_request_max_bytes: int = 100 * 1024 * 1024
    socket_send_buffer_bytes: int = 100 * 1024
    socket_receive_buffer_bytes: int = 100 * 1024
    socket_listen_backlog_size: int = 50
    connections_max_idle_ms: int = 10 * 60 * 1000
    max_connections: int = INT_MAX
    max_connections_per_ip: int = INT_MAX
    max_connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    max_connection_creation_rate: int = INT_MAX
    queued_max_request_bytes: int = -1

"""From a node's settings to the values that its parts are built with."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.config.node import NodeConfig
from barnabas.config.setting import ConfigError
from barnabas.controller.settings import ControllerSettings
from barnabas.log.log_config import LogConfig
from barnabas.runtime.socket_settings import SocketSettings


def metadata_log_config(node: NodeConfig) -> LogConfig:
    """How the metadata log is kept. Snapshots decide what is deleted of it, not its age or size."""
    settings = node.settings
    segment_bytes = settings.values["internal.metadata.log.segment.bytes"]
    assert segment_bytes is None or isinstance(segment_bytes, int)
    return LogConfig(
        segment_bytes=segment_bytes or settings.integer("metadata.log.segment.bytes"),
        segment_ms=settings.integer("metadata.log.segment.ms"),
        max_message_bytes=settings.integer("internal.metadata.max.batch.size.in.bytes"),
        retention_ms=-1,
        retention_bytes=-1,
        file_delete_delay_ms=settings.integer("internal.metadata.delete.delay.millis"),
    )


def controller_settings(node: NodeConfig, cluster_id: str) -> ControllerSettings:
    settings = node.settings

    def interval(name: str, *, factor: int = 1, is_on: bool = True) -> int | None:
        value = settings.integer(name)
        return value * factor if is_on and value > 0 else None

    return ControllerSettings(
        node_id=node.node_id,
        cluster_id=cluster_id,
        static_configs=settings.given,
        broker_session_timeout_ms=settings.integer("broker.session.timeout.ms"),
        default_replication_factor=settings.integer("default.replication.factor"),
        num_partitions=settings.integer("num.partitions"),
        is_topic_deletion_enabled=settings.boolean("delete.topic.enable"),
        leader_imbalance_check_interval_ms=interval(
            "leader.imbalance.check.interval.seconds",
            factor=1_000,
            is_on=settings.boolean("auto.leader.rebalance.enable"),
        ),
        unclean_election_check_interval_ms=interval("unclean.leader.election.interval.ms"),
        max_idle_interval_ms=interval("metadata.max.idle.interval.ms"),
        delegation_token_secret_key=settings.text_or_none("delegation.token.secret.key"),
        delegation_token_max_lifetime_ms=settings.integer("delegation.token.max.lifetime.ms"),
        delegation_token_expiry_time_ms=settings.integer("delegation.token.expiry.time.ms"),
        delegation_token_expiry_check_interval_ms=settings.integer("delegation.token.expiry.check.interval.ms"),
    )


def socket_settings(node: NodeConfig) -> SocketSettings:
    settings = node.settings
    return SocketSettings(
        socket_request_max_bytes=settings.integer("socket.request.max.bytes"),
        socket_send_buffer_bytes=settings.integer("socket.send.buffer.bytes"),
        socket_receive_buffer_bytes=settings.integer("socket.receive.buffer.bytes"),
        socket_listen_backlog_size=settings.integer("socket.listen.backlog.size"),
        connections_max_idle_ms=settings.integer("connections.max.idle.ms"),
        max_connections=settings.integer("max.connections"),
        max_connections_per_ip=settings.integer("max.connections.per.ip"),
        max_connections_per_ip_overrides=_overrides(settings.text("max.connections.per.ip.overrides")),
        max_connection_creation_rate=settings.integer("max.connection.creation.rate"),
        queued_max_request_bytes=settings.integer("queued.max.request.bytes"),
    )


def _overrides(text: str) -> Mapping[str, int]:
    pairs = (entry.rpartition(":") for entry in text.split(",") if entry.strip())
    try:
        return {host.strip(): int(count) for host, _, count in pairs}
    except ValueError:
        raise ConfigError(f"max.connections.per.ip.overrides: {text!r} is not a list of host:count") from None

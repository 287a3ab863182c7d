"""What a node's settings come to for its parts: units, switches, and lists in texts."""

from __future__ import annotations

import pytest

from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.controller.settings import ControllerSettings
from barnabas.runtime.node_settings import controller_settings, metadata_log_config, socket_settings
from barnabas.runtime.socket_settings import SocketSettings
from node_settings import CONTROLLER


def node(**settings: str) -> NodeConfig:
    return parse_node(CONTROLLER | {name.replace("_", "."): value for name, value in settings.items()})


def test_the_defaults_of_settings_and_of_parts_are_the_same() -> None:
    plain = node()
    assert socket_settings(plain) == SocketSettings()
    assert controller_settings(plain, "c") == ControllerSettings(
        node_id=1, cluster_id="c", static_configs=plain.settings.given
    )


def test_an_interval_of_zero_and_a_switch_turn_a_task_off() -> None:
    settings = controller_settings(node(metadata_max_idle_interval_ms="0", auto_leader_rebalance_enable="false"), "c")
    assert settings.max_idle_interval_ms is None
    assert settings.leader_imbalance_check_interval_ms is None
    on = controller_settings(node(leader_imbalance_check_interval_seconds="7"), "c")
    assert on.leader_imbalance_check_interval_ms == 7_000


def test_addresses_have_limits_of_their_own() -> None:
    limits = socket_settings(
        node(max_connections_per_ip_overrides="host.example:5, ::1:7")
    ).max_connections_per_ip_overrides
    assert limits == {"host.example": 5, "::1": 7}
    with pytest.raises(ConfigError, match=r"max\.connections\.per\.ip\.overrides"):
        socket_settings(node(max_connections_per_ip_overrides="host.example"))


def test_the_metadata_log_is_not_deleted_by_age_or_size() -> None:
    config = metadata_log_config(node(metadata_log_segment_bytes="8388608"))
    assert config.segment_bytes == 8_388_608
    assert (config.retention_ms, config.retention_bytes) == (-1, -1)
    assert metadata_log_config(node(internal_metadata_log_segment_bytes="500")).segment_bytes == 500

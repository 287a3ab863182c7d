"""What a controller is told about itself and its cluster when its process starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.controller.policies import Policies
from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.protocol.version_range import VersionRange


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """Kafka's settings of these names, in milliseconds; `static_configs` is the text of all that the process was given.

    An interval of None switches its task off.
    """

    node_id: int
    cluster_id: str
    static_configs: Mapping[str, str] = field(default_factory=dict)
    broker_session_timeout_ms: int = 9_000
    default_replication_factor: int = 1
    num_partitions: int = 1
    is_topic_deletion_enabled: bool = True
    leader_imbalance_check_interval_ms: int | None = 300_000
    unclean_election_check_interval_ms: int | None = 300_000
    max_idle_interval_ms: int | None = 500
    delegation_token_secret_key: str | None = field(default=None, repr=False)
    delegation_token_max_lifetime_ms: int = 7 * 24 * 60 * 60 * 1_000
    delegation_token_expiry_time_ms: int = 24 * 60 * 60 * 1_000
    delegation_token_expiry_check_interval_ms: int = 60 * 60 * 1_000
    supported_features: Mapping[str, VersionRange] = field(default_factory=lambda: SUPPORTED_FEATURES)
    policies: Policies = field(default_factory=Policies)

    @property
    def has_authorizer(self) -> bool:
        return bool(self.static_configs.get("authorizer.class.name", "").strip())

    @property
    def own_broker_id(self) -> int | None:
        """The broker in this controller's process, if there is one."""
        roles = self.static_configs.get("process.roles", "").split(",")
        return self.node_id if "broker" in (role.strip() for role in roles) else None

    @property
    def fencing_check_interval_ms(self) -> int:
        """Eight looks a session: a broker that is gone is fenced within nine eighths of its session timeout."""
        return max(1, self.broker_session_timeout_ms // 8)

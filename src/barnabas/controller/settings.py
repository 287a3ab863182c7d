"""What a controller is told about itself and its cluster when its process starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.metadata.features import SUPPORTED_FEATURES, VersionRange


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic about to be created, as a policy sees it: numbers, or assignments where the asker gave them."""

    name: str
    num_partitions: int | None
    replication_factor: int | None
    assignments: Mapping[int, tuple[int, ...]] | None
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """Settings about to change, as a policy sees them; a value of None takes a setting back to its default."""

    resource_type: int
    resource_name: str
    configs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Policies:
    """The cluster's own rules beyond Kafka's. Each raises an ApiError, PolicyViolation as a rule, to refuse."""

    create_topic: Callable[[NewTopic], None] | None = None
    alter_configs: Callable[[ConfigChange], None] | None = None


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
    policies: Policies = Policies()

    @property
    def has_authorizer(self) -> bool:
        return bool(self.static_configs.get("authorizer.class.name", "").strip())

    @property
    def fencing_check_interval_ms(self) -> int:
        """Eight looks a session: a broker that is gone is fenced within nine eighths of its session timeout."""
        return max(1, self.broker_session_timeout_ms // 8)

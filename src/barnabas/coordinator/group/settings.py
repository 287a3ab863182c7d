"""The settings of a broker that decide how its groups are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from barnabas.config.server_config import ServerConfig
from barnabas.coordinator.group.consumer.settings import ConsumerGroupSettings

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """As the coordinator reads them; what single groups are set to is in the metadata."""

    offset_metadata_max: int = 4_096
    offsets_retention_ms: int = 7 * 24 * 60 * MINUTE_MS
    offsets_retention_check_interval_ms: int = 10 * MINUTE_MS
    group_max_size: int = 2**31 - 1
    initial_rebalance_delay_ms: int = 3_000
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 30 * MINUTE_MS
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    consumer: ConsumerGroupSettings = field(default_factory=ConsumerGroupSettings)

    @classmethod
    def of(cls, settings: ServerConfig) -> GroupSettings:
        return cls(
            offset_metadata_max=settings.integer("offset.metadata.max.bytes"),
            offsets_retention_ms=settings.integer("offsets.retention.minutes") * MINUTE_MS,
            offsets_retention_check_interval_ms=settings.integer("offsets.retention.check.interval.ms"),
            group_max_size=settings.integer("group.max.size"),
            initial_rebalance_delay_ms=settings.integer("group.initial.rebalance.delay.ms"),
            min_session_timeout_ms=settings.integer("group.min.session.timeout.ms"),
            max_session_timeout_ms=settings.integer("group.max.session.timeout.ms"),
            consumer=ConsumerGroupSettings.of(settings),
        )

"""The settings of consumer groups: a broker's, and what single groups are set to beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.config.server_config import ServerConfig
from barnabas.coordinator.group.assignors import ASSIGNORS
from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.metadata.image import MetadataImage

# How Apache's settings may name the assignors, too.
_JAVA_NAMES: Final = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}


class Bounded(NamedTuple):
    """A time that groups may be set to within bounds."""

    default_ms: int
    min_ms: int
    max_ms: int

    def within(self, text: str | None) -> int:
        """What a group is set to; the bounds may have changed since."""
        return self.default_ms if text is None else min(max(int(text), self.min_ms), self.max_ms)


SESSION_TIMEOUT: Final = Bounded(45_000, 45_000, 60_000)
HEARTBEAT_INTERVAL: Final = Bounded(5_000, 5_000, 15_000)
ASSIGNMENT_INTERVAL: Final = Bounded(1_000, 0, 15_000)


class GroupTerms(NamedTuple):
    """What holds for one group."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupSettings:
    """`assignors` are the names that members may ask for; the first is for those who do not."""

    max_size: int = 2**31 - 1
    assignors: tuple[str, ...] = ("uniform", "range")
    may_upgrade: bool = True
    may_downgrade: bool = True
    session_timeout: Bounded = SESSION_TIMEOUT
    heartbeat_interval: Bounded = HEARTBEAT_INTERVAL
    assignment_interval: Bounded = ASSIGNMENT_INTERVAL
    pattern_refresh_interval_ms: int = 600_000

    @classmethod
    def of(cls, settings: ServerConfig) -> ConsumerGroupSettings:
        policy = settings.text("group.consumer.migration.policy").upper()
        named = (_JAVA_NAMES.get(name, name) for name in settings.words("group.consumer.assignors"))
        return cls(
            max_size=settings.integer("group.consumer.max.size"),
            assignors=tuple(name for name in named if name in ASSIGNORS) or tuple(ASSIGNORS),
            may_upgrade=policy in ("UPGRADE", "BIDIRECTIONAL"),
            may_downgrade=policy in ("DOWNGRADE", "BIDIRECTIONAL"),
            session_timeout=_bounded(settings, "session.timeout.ms"),
            heartbeat_interval=_bounded(settings, "heartbeat.interval.ms"),
            assignment_interval=_bounded(settings, "assignment.interval.ms"),
            pattern_refresh_interval_ms=settings.integer("group.consumer.regex.refresh.interval.ms"),
        )

    def terms(self, group_id: str, image: MetadataImage) -> GroupTerms:
        own: Mapping[str, str] = image.configs.get(ConfigResource(ConfigResourceType.GROUP, group_id)) or {}
        return GroupTerms(
            self.session_timeout.within(own.get("consumer.session.timeout.ms")),
            self.heartbeat_interval.within(own.get("consumer.heartbeat.interval.ms")),
            self.assignment_interval.within(own.get("consumer.assignment.interval.ms")),
        )


def _bounded(settings: ServerConfig, knob: str) -> Bounded:
    return Bounded(
        settings.integer(f"group.consumer.{knob}"),
        settings.integer(f"group.consumer.min.{knob}"),
        settings.integer(f"group.consumer.max.{knob}"),
    )

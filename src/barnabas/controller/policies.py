"""A cluster's own rules beyond Kafka's: which topics may be created, and which settings may be changed how.

A policy is a class that `create.topic.policy.class.name` or `alter.config.policy.class.name` names, as in
`package.module.Class`. The controller makes one object of it at its start, hands it the node's settings, and then asks
it about each topic and each resource. It is asked within a decision, so it answers at once, from what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.protocol.errors import ApiError, ErrorCode


class PolicyViolation(ApiError):  # noqa: N818 (called as Kafka calls it)
    """Raised by a policy to refuse; its text is told to whoever asked."""

    code = ErrorCode.POLICY_VIOLATION


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
    """Settings about to change, as a policy sees them; a value of None takes a setting back to its default.

    `resource_type` is Kafka's number: 2 of a topic, 4 of a broker, 16 of client metrics, 32 of a group.
    """

    resource_type: int
    resource_name: str
    configs: Mapping[str, str | None]


class CreateTopicPolicy(Protocol):
    """What `create.topic.policy.class.name` names."""

    def configure(self, settings: Mapping[str, str]) -> None:
        """Take what is needed of the node's settings, which are given as text. Called once."""
        ...

    def validate(self, topic: NewTopic) -> None:
        """Raise PolicyViolation if this topic must not be."""
        ...


class AlterConfigPolicy(Protocol):
    """What `alter.config.policy.class.name` names. It is asked about the settings of new topics, too."""

    def configure(self, settings: Mapping[str, str]) -> None:
        """Take what is needed of the node's settings, which are given as text. Called once."""
        ...

    def validate(self, change: ConfigChange) -> None:
        """Raise PolicyViolation if this must not be changed so."""
        ...


@dataclass(frozen=True, slots=True)
class Policies:
    """What decisions ask. Each raises an ApiError to refuse."""

    create_topic: Callable[[NewTopic], None] | None = None
    alter_configs: Callable[[ConfigChange], None] | None = None

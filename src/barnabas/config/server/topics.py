"""The settings that decide how topics come to be, change and go."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Setting

TOPICS_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="auto.create.topics.enable",
        kind=Kind.BOOLEAN,
        default=True,
        doc="Whether asking for a topic that does not exist makes it.",
    ),
    Setting(
        name="num.partitions",
        kind=Kind.INT,
        default=1,
        allowed=AtLeast(1),
        doc="How many partitions a topic gets where its creator does not say.",
    ),
    Setting(
        name="default.replication.factor",
        kind=Kind.INT,
        default=1,
        doc="How many replicas a partition gets where its creator does not say.",
    ),
    Setting(
        name="delete.topic.enable",
        kind=Kind.BOOLEAN,
        default=True,
        doc="Whether topics can be deleted.",
    ),
    Setting(
        name="create.topic.policy.class.name",
        kind=Kind.CLASS,
        default=None,
        doc="The path of a Python class that may refuse new topics, as in `package.module.Class`.",
    ),
    Setting(
        name="alter.config.policy.class.name",
        kind=Kind.CLASS,
        default=None,
        doc="The path of a Python class that may refuse changes of settings, as in `package.module.Class`.",
    ),
    Setting(
        name="max.request.partition.size.limit",
        kind=Kind.INT,
        default=2_000,
        allowed=AtLeast(1),
        doc="How many partitions one answer of DescribeTopicPartitions lists at most.",
    ),
)

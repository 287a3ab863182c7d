"""Topics' settings as a broker has them: from the nearest place that gives one, and shared where nothing differs."""

from __future__ import annotations

from barnabas.broker.topic_configs import BrokerConfigs, TopicConfigs
from barnabas.log.log_config import LogConfig
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, Provenance
from barnabas.protocol.schema import Message
from unit.broker.hosting import config_record

BROKER = ConfigResourceType.BROKER


class Steps:
    def __init__(self, **static: str) -> None:
        self.configs = TopicConfigs(BrokerConfigs(1, {name.replace("_", "."): text for name, text in static.items()}))
        self._image = EMPTY_IMAGE

    def apply(self, *records: Message) -> set[str] | None:
        delta = MetadataDelta(self._image)
        for record in records:
            delta.replay(record)
        self._image = delta.apply(Provenance())
        return self.configs.apply(delta, self._image)

    def segment_bytes(self, topic: str = "t") -> int:
        return self.configs.log_config_of(topic).segment_bytes


def test_without_settings_a_topic_has_the_logs_own_defaults() -> None:
    assert TopicConfigs(BrokerConfigs(1, {})).of("t") == (LogConfig(), 1)


def test_the_nearest_place_counts() -> None:
    steps = Steps(log_segment_bytes="1000001")
    assert steps.segment_bytes() == 1_000_001
    steps.apply(config_record("", "log.segment.bytes", "1000002", BROKER))
    assert steps.segment_bytes() == 1_000_002
    steps.apply(config_record("1", "log.segment.bytes", "1000003", BROKER))
    assert steps.segment_bytes() == 1_000_003
    steps.apply(config_record("2", "log.segment.bytes", "1000004", BROKER))
    assert steps.segment_bytes() == 1_000_003
    steps.apply(config_record("t", "segment.bytes", "1000005"))
    assert (steps.segment_bytes(), steps.segment_bytes("other")) == (1_000_005, 1_000_003)


def test_a_coarser_setting_of_the_broker_stands_in_the_topics_unit() -> None:
    assert Steps(log_retention_hours="2").configs.of("t").log.retention_ms == 2 * 60 * 60 * 1000


def test_a_step_says_whose_settings_it_changes() -> None:
    steps = Steps()
    assert steps.apply() == set()
    assert steps.apply(config_record("t", "segment.bytes", "1000005")) == {"t"}
    assert steps.apply(config_record("2", "log.segment.bytes", "1000005", BROKER)) == set()
    assert steps.apply(config_record("1", "log.segment.bytes", "1000005", BROKER)) is None
    assert steps.apply(config_record("", "log.segment.bytes", "1000005", BROKER)) is None


def test_topics_without_settings_of_their_own_share_one_value() -> None:
    steps = Steps()
    steps.apply(config_record("t", "segment.bytes", "1000005"))
    assert steps.configs.of("a") is steps.configs.of("b")
    assert steps.configs.of("t") is not steps.configs.of("a")


def test_a_value_that_another_controller_let_through_does_not_stop_the_broker() -> None:
    steps = Steps()
    steps.apply(config_record("t", "segment.bytes", "many"), config_record("t", "cleanup.policy", "compact"))
    assert steps.segment_bytes() == 1024**3
    assert steps.configs.of("t").log.is_compacted

"""Makes the clients of the tools from the properties of Java's: what is odd about those is logged as Java would."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TextIO

from confluent_kafka import Consumer, KafkaException, Producer

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.librdkafka.log_lines import client_logger, error_line, tool_logger
from barnabas.cli.librdkafka.record_source import START_OFFSETS
from barnabas.cli.librdkafka.settings import Translation, consumer_settings, producer_settings

_PRODUCER_LOG: Final = "org.apache.kafka.clients.producer.ProducerConfig"
_CONSUMER_LOG: Final = "org.apache.kafka.clients.consumer.ConsumerConfig"


class OpenedConsumer(NamedTuple):
    """A consumer, where it starts in a partition unless it is in a group, and how often it looks for new ones."""

    consumer: Consumer
    start_offset: int | None
    search_interval_s: float


def open_producer(properties: Mapping[str, str], err: TextIO, callbacks: Mapping[str, Any]) -> Producer:
    """ToolError where no producer can be made of the properties."""
    settings = _usable(producer_settings(properties), tool_logger(_PRODUCER_LOG, err))
    try:
        return Producer({**settings, **callbacks, "logger": client_logger(err)})
    except KafkaException as error:
        raise ToolError(error_line(error.args[0])) from error


def open_consumer(
    properties: Mapping[str, str], err: TextIO, *, has_group: bool, callbacks: Mapping[str, Any]
) -> OpenedConsumer:
    """ToolError where no consumer can be made of the properties."""
    settings = _usable(consumer_settings(properties), tool_logger(_CONSUMER_LOG, err))
    if not has_group:
        settings["enable.auto.commit"] = "false"  # There is nobody whose offsets these would be.
    try:
        consumer = Consumer({**settings, **callbacks, "logger": client_logger(err)})
    except KafkaException as error:
        raise ToolError(error_line(error.args[0])) from error
    start_offset = None if has_group else START_OFFSETS[settings["auto.offset.reset"]]
    return OpenedConsumer(consumer, start_offset, int(settings["metadata.max.age.ms"]) / 1000)


def _usable(translation: Translation, log: logging.Logger) -> dict[str, str]:
    for warning in translation.warnings:
        log.warning(warning)
    return translation.settings

"""Produce to topics with flush.messages: nobody hears of an append that is to be durable before it is."""

from __future__ import annotations

import errno

import pytest

from barnabas.protocol.errors import ErrorCode
from builders import make_batch
from unit.broker.hosting import Hosting, produce_request

VERSION = 12


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    hosting.create("t", configs={"flush.messages": "3"})
    return hosting


@pytest.mark.parametrize("acks", [1, -1])
def test_the_answer_waits_for_the_flush_that_the_append_makes_due(hosting: Hosting, acks: int) -> None:
    first = hosting.ask(produce_request(make_batch(2), acks=acks), VERSION)
    assert first.responses[0].partition_responses[0].base_offset == 0
    second = hosting.ask(produce_request(make_batch(1), acks=acks), VERSION)
    assert not second.is_there
    hosting.flush()
    assert second.is_there
    (answer,) = second.answer().responses[0].partition_responses
    assert (answer.error_code, answer.base_offset) == (0, 2)
    assert hosting.replicas.find("t", 0).log.recovery_point == 3


def test_nobody_waits_where_no_answer_is_wanted(hosting: Hosting) -> None:
    assert hosting.ask(produce_request(make_batch(3), acks=0), VERSION) is None
    assert hosting.flushes


def test_a_flush_that_fails_is_the_answer(hosting: Hosting) -> None:
    waiting = hosting.ask(produce_request(make_batch(3), acks=1), VERSION)
    ((_, then),) = hosting.flushes
    error = OSError(errno.EIO, "gone")
    hosting.directories.take_offline("/data", error)
    hosting.replicas.let_failed_go()
    then(error)
    assert waiting.is_there
    assert waiting.answer().responses[0].partition_responses[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_recompressed_batch_waits_as_well(hosting: Hosting) -> None:
    hosting.configure("t", "compression.type", "gzip")
    waiting = hosting.ask(produce_request(make_batch(3), acks=1), VERSION)
    hosting.work_off_loop()
    assert not waiting.is_there
    hosting.flush()
    assert waiting.is_there


def test_topics_without_the_setting_flush_nothing() -> None:
    hosting = Hosting()
    hosting.create("t")
    hosting.append(1000)
    assert not hosting.flushes

"""A broker inside this process, which librdkafka brings for tests of its clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Producer


@contextmanager
def mock_cluster() -> Iterator[str]:
    """Where it listens. Topics are made when they are asked for, with four partitions."""
    owner = Producer({"test.mock.num.brokers": "1", "log_level": "0"})
    (broker,) = owner.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"
    del owner

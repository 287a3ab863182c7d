"""Fixtures that the interop tests share: Apache Kafka's tools in one JVM for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from interop.referee import Tools


@pytest.fixture(scope="session")
def tools() -> Iterator[Tools]:
    with closing(Tools()) as running:
        yield running

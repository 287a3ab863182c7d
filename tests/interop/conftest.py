"""Fixtures that the interop tests share: Apache Kafka's tools in one JVM, and log directories that its broker wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from interop.apache_logs import ApacheLogs, write_logs
from interop.both_dumps import BothDumps
from interop.referee import Tools


@pytest.fixture(scope="session")
def tools() -> Iterator[Tools]:
    with closing(Tools()) as running:
        yield running


@pytest.fixture(scope="session")
def both_dumps(tools: Tools) -> BothDumps:
    return BothDumps(tools)


@pytest.fixture(scope="session")
def apache_logs_by_end(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ApacheLogs]:
    stopped, killed = write_logs(tmp_path_factory.mktemp("apache"))
    return {"stopped": stopped, "killed": killed}


@pytest.fixture(params=["stopped", "killed"])
def apache_logs(request: pytest.FixtureRequest, apache_logs_by_end: dict[str, ApacheLogs]) -> ApacheLogs:
    """What Apache's broker left, once after a clean stop and once after kill -9."""
    return apache_logs_by_end[request.param]

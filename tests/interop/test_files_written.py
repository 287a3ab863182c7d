"""Logs that ours wrote: Apache's dump finds nothing wrong in them, and Apache's broker serves every record of them."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from barnabas.log import names
from barnabas.log.clean_shutdown import CLEAN_SHUTDOWN
from interop.apache_broker import ApacheBroker
from interop.apache_logs import BROKER_SETTINGS, TOPICS, Clients, ReadRecord
from interop.both_dumps import BothDumps
from interop.written_logs import WRITTEN, Written, latest_by_key, write_log

pytestmark = pytest.mark.referee
NOW_MS = int(time.time() * 1000)
# A dump without the segments before it calls the first offset of a segment a gap.
FIRST_OFFSET = re.compile(r"Non-consecutive offsets in .*\n  -1 is followed by \d+\n")


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Written]]:
    directory = tmp_path_factory.mktemp("closed")
    return directory, {topic: write_log(directory, topic, NOW_MS, is_closed=True) for topic in WRITTEN}


@pytest.fixture(scope="module")
def abandoned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Written]]:
    directory = tmp_path_factory.mktemp("abandoned")
    return directory, {topic: write_log(directory, topic, NOW_MS, is_closed=False) for topic in WRITTEN}


@pytest.mark.parametrize("topic", WRITTEN)
def test_apache_finds_nothing_wrong_and_both_dumps_print_the_same(
    closed: tuple[Path, dict[str, Written]], both_dumps: BothDumps, topic: str
) -> None:
    partition = closed[0] / f"{topic}-0"
    logs = sorted(partition.glob(f"*{names.LOG}"))
    assert len(logs) > 1
    for said in both_dumps.assert_alike(zip(logs), ["--deep-iteration", "--print-data-log"]):
        assert "isvalid: false" not in said.out
        assert "cleanup.policy" in TOPICS[topic] or FIRST_OFFSET.sub("", said.err) == ""
    for kind in (names.OFFSET_INDEX, names.TIME_INDEX):
        indexes = sorted(partition.glob(f"*{kind}"))
        assert len(indexes) == len(logs)
        for said in both_dumps.assert_alike(zip(indexes), ["--index-sanity-check"]):
            assert said.err == ""
            assert said.out.endswith((" passed sanity check.\n", " is empty.\n"))
        for flags in ([], ["--verify-index-only"]):
            assert {said.err for said in both_dumps.assert_alike(zip(indexes), flags)} == {""}
    both_dumps.assert_alike(zip(sorted(partition.glob(f"*{names.PRODUCER_SNAPSHOT}"))), [])
    if topic == "transactions":
        both_dumps.assert_alike(zip(sorted(partition.glob(f"*{names.TRANSACTION_INDEX}"))), [])


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    """A broker that knows the topics; what it serves of them is put in its directory while it is stopped."""
    # Its cleaner stays out of the way of the records that ours has left.
    broker = ApacheBroker(tmp_path_factory.mktemp("broker"), BROKER_SETTINGS | {"log.cleaner.backoff.ms": "3600000"})
    with broker:
        with closing(Clients(broker.bootstrap_servers)) as clients:
            for topic in WRITTEN:
                clients.do("create", topic, TOPICS[topic])
        broker.stop()
        yield broker


@pytest.mark.parametrize("end", ["closed", "abandoned"])
def test_apache_serves_every_record(broker: ApacheBroker, end: str, request: pytest.FixtureRequest) -> None:
    directory, written = request.getfixturevalue(end)
    for topic in WRITTEN:
        _swap_in(directory / f"{topic}-0", broker.log_directory / f"{topic}-0")
    if end == "abandoned":
        (broker.log_directory / CLEAN_SHUTDOWN).unlink()
        (broker.log_directory / "recovery-point-offset-checkpoint").unlink()
    broker.start()
    with closing(Clients(broker.bootstrap_servers)) as clients:
        for topic, expected in written.items():
            everything = clients.read(topic, "read_uncommitted")
            committed = clients.read(topic, "read_committed")
            if "cleanup.policy" in TOPICS[topic]:
                _assert_compacted(committed, expected.committed)
            else:
                assert (everything, committed) == expected
    broker.stop()


def _swap_in(ours: Path, theirs: Path) -> None:
    """Apache's broker knows a partition's directory by the topic id that it wrote; all the rest of it becomes ours."""
    for path in theirs.iterdir():
        if path.name != names.PARTITION_METADATA:
            path.unlink()
    for path in ours.iterdir():
        shutil.copy(path, theirs / path.name)


def _assert_compacted(read: list[ReadRecord], appended: list[ReadRecord]) -> None:
    """Cleaning has removed records, but no key's last value."""
    assert latest_by_key(read) == latest_by_key(appended)
    assert len(read) < len(appended)
    assert set(map(str, read)) <= set(map(str, appended))

"""Our log opens the directories that Apache's broker left, and Apache's broker opens what our log left of them."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from barnabas.log import names
from barnabas.log.clean_shutdown import CLEAN_SHUTDOWN
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.record import Record
from interop.apache_broker import ApacheBroker
from interop.apache_logs import BROKER_SETTINGS, TOPICS, ApacheLogs, Clients, ReadRecord
from interop.our_log import open_log, read_all, read_committed, shown

pytestmark = pytest.mark.referee
INTERNAL_TOPICS = ["__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"]
UNCOMPACTED = [topic for topic, configs in TOPICS.items() if "cleanup.policy" not in configs]
NOW_MS = int(time.time() * 1000)


@pytest.fixture
def copied(apache_logs: ApacheLogs, tmp_path: Path) -> ApacheLogs:
    """A copy of a directory that Apache's broker left, to be changed."""
    return ApacheLogs(_copy(apache_logs, tmp_path), apache_logs.records)


def _copy(logs: ApacheLogs, tmp_path: Path) -> Path:
    return Path(shutil.copytree(logs.directory, tmp_path / "broker" / "logs"))


@pytest.mark.parametrize("topic", TOPICS)
def test_every_record_is_read_with_its_offset_time_and_epoch(copied: ApacheLogs, topic: str) -> None:
    log = open_log(copied.directory, topic, NOW_MS)
    expected = copied.records[topic, "read_uncommitted"]
    # Records deleted shortly before a kill are back: their new start was not in the checkpoint yet.
    assert [record for record in read_all(log) if record.offset >= expected[0].offset] == expected
    committed = copied.records[topic, "read_committed"]
    assert [record for record in read_committed(log) if record.offset >= expected[0].offset] == committed
    log.close(NOW_MS)


@pytest.mark.parametrize("topic", INTERNAL_TOPICS)
def test_internal_topics_open(copied: ApacheLogs, topic: str) -> None:
    log = open_log(copied.directory, topic, NOW_MS)
    assert read_all(log)
    log.close(NOW_MS)


@pytest.mark.parametrize("topic", [topic for topic in UNCOMPACTED if topic != "trimmed"])
def test_what_is_rebuilt_from_the_batches_is_what_apache_had_written(
    apache_logs_by_end: dict[str, ApacheLogs], tmp_path: Path, topic: str
) -> None:
    """Indexes, aborted transactions, producer state and leader epochs all follow from the log files.

    Only a log that has lost its beginning cannot know what producers did there.
    """
    original = apache_logs_by_end["stopped"]
    directory = _copy(original, tmp_path)
    partition = directory / f"{topic}-0"
    rebuilt = [
        path.name for path in partition.iterdir() if path.suffix != names.LOG and path.name != names.PARTITION_METADATA
    ]
    for name in rebuilt:
        (partition / name).unlink()
    (directory / "recovery-point-offset-checkpoint").unlink()
    (directory / CLEAN_SHUTDOWN).unlink()
    open_log(directory, topic, NOW_MS).close(NOW_MS)
    for name in rebuilt:
        assert (partition / name).read_bytes() == (original.directory / partition.name / name).read_bytes(), name


def test_apache_serves_what_our_log_recovered_and_went_on_to_write(copied: ApacheLogs) -> None:
    expected: dict[tuple[str, str], list[ReadRecord]] = {}
    for topic in TOPICS:
        log = open_log(copied.directory, topic, NOW_MS)
        epoch = log.leader_epochs.latest_epoch
        assert epoch is not None
        if topic in UNCOMPACTED:
            for codec in Compression:
                batch = [Record(i, NOW_MS + i, b"ours", b"%d" % i * 50, [("by", b"us")]) for i in range(20)]
                log.append_as_leader(build_batch(batch, compression=codec), epoch, NOW_MS)
            log.update_high_watermark(log.log_end_offset)
        expected[topic, "read_uncommitted"] = read_all(log)
        expected[topic, "read_committed"] = read_committed(log)
        log.close(NOW_MS)
    (copied.directory / CLEAN_SHUTDOWN).write_text('{"version":0,"brokerEpoch":1}')

    broker = ApacheBroker(copied.directory.parent, BROKER_SETTINGS)
    with broker, closing(Clients(broker.bootstrap_servers)) as clients:
        for (topic, isolation), records in expected.items():
            assert clients.read(topic, isolation) == records
        broker.stop()


def test_a_record_is_shown_as_apache_shows_it() -> None:
    record = Record(7, 1000, None, b"\xff", [("name", None)])
    assert shown(record, 3) == ReadRecord(7, 1000, 3, None, "ff", [["name", None]])

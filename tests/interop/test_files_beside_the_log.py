"""The small files of Apache's log directories: ours reads each of them, and writes the same bytes again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from barnabas.log import checkpoint, names
from barnabas.log.clean_shutdown import CLEAN_SHUTDOWN, take_clean_shutdown, write_clean_shutdown
from barnabas.log.leader_epochs import LeaderEpochs
from barnabas.log.meta_properties import format_meta_properties, read_meta_properties
from barnabas.log.offset_index import OffsetIndex
from barnabas.log.partition_metadata import read_topic_id, write_topic_id
from barnabas.log.producer_snapshot import decode_snapshot, encode_snapshot
from barnabas.log.time_index import TimeIndex
from barnabas.log.transaction_index import TransactionIndex
from barnabas.runtime.disk import PosixDisk
from interop.apache_broker import CLUSTER_ID
from interop.apache_logs import INDEX_BYTES_MAX, ApacheLogs

pytestmark = pytest.mark.referee
DISK = PosixDisk()


def found(logs: ApacheLogs, pattern: str) -> list[Path]:
    """The files of that name; a test that looks for a kind of file that nobody wrote would prove nothing."""
    paths = sorted(logs.directory.rglob(pattern))
    assert paths
    return paths


def segment_files(logs: ApacheLogs, kind: str) -> Iterator[tuple[Path, int]]:
    for path in found(logs, f"*{kind}"):
        if not path.parent.name.endswith(names.DELETE_DIRECTORY):
            yield path, int(path.stem)


@pytest.mark.parametrize(
    "name",
    [
        checkpoint.RECOVERY_POINT_CHECKPOINT,
        checkpoint.REPLICATION_CHECKPOINT,
        checkpoint.LOG_START_CHECKPOINT,
        checkpoint.CLEANER_CHECKPOINT,
    ],
)
def test_offset_checkpoints_are_written_as_they_were_read(apache_logs: ApacheLogs, tmp_path: Path, name: str) -> None:
    original = apache_logs.directory / name
    offsets = checkpoint.read_offsets(DISK, str(original))
    checkpoint.write_offsets(DISK, str(tmp_path / name), offsets)
    assert offsets
    assert (tmp_path / name).read_bytes() == original.read_bytes()


def test_leader_epochs_are_written_as_they_were_read(apache_logs: ApacheLogs, tmp_path: Path) -> None:
    for number, original in enumerate(found(apache_logs, names.LEADER_EPOCH_CHECKPOINT)):
        if not original.read_bytes():
            continue  # A partition that was never written to.
        epochs = LeaderEpochs(DISK, str(original))
        copied = LeaderEpochs(DISK, str(tmp_path / str(number)))
        for entry in epochs.entries():
            copied.assign(entry.epoch, entry.start_offset)
        if epochs.entries():
            assert (tmp_path / str(number)).read_bytes() == original.read_bytes()


def test_a_restart_is_a_new_leader_epoch(apache_logs_by_end: dict[str, ApacheLogs]) -> None:
    path = apache_logs_by_end["killed"].directory / "codec-none-0" / names.LEADER_EPOCH_CHECKPOINT
    assert len(LeaderEpochs(DISK, str(path)).entries()) == 2


def test_topic_ids_are_written_as_they_were_read(apache_logs: ApacheLogs, tmp_path: Path) -> None:
    for number, original in enumerate(found(apache_logs, names.PARTITION_METADATA)):
        topic_id = read_topic_id(DISK, str(original.parent))
        assert topic_id is not None
        copy = tmp_path / str(number)
        copy.mkdir()
        write_topic_id(DISK, str(copy), topic_id)
        assert (copy / names.PARTITION_METADATA).read_bytes() == original.read_bytes()


def test_meta_properties_are_written_as_they_were_read(apache_logs: ApacheLogs) -> None:
    meta = read_meta_properties(DISK, str(apache_logs.directory))
    assert meta is not None
    assert (meta.cluster_id, meta.node_id) == (CLUSTER_ID, 1)
    original = (apache_logs.directory / "meta.properties").read_text().splitlines()
    written = datetime.strptime(original[1], "#%a %b %d %H:%M:%S UTC %Y").replace(tzinfo=UTC)
    ours = format_meta_properties(meta, int(written.timestamp()) * 1000).decode().splitlines()
    # Java's hash table decides the order of the lines, and decides it differently from one version to the next.
    assert (ours[:2], sorted(ours[2:])) == (original[:2], sorted(original[2:]))


def test_the_mark_of_a_clean_stop_is_written_as_it_was_read(
    apache_logs_by_end: dict[str, ApacheLogs], tmp_path: Path
) -> None:
    original = (apache_logs_by_end["stopped"].directory / CLEAN_SHUTDOWN).read_bytes()
    (tmp_path / CLEAN_SHUTDOWN).write_bytes(original)
    broker_epoch = take_clean_shutdown(DISK, str(tmp_path))
    assert broker_epoch is not None
    assert broker_epoch > 0
    assert not (tmp_path / CLEAN_SHUTDOWN).exists()
    write_clean_shutdown(DISK, str(tmp_path), broker_epoch)
    assert (tmp_path / CLEAN_SHUTDOWN).read_bytes() == original
    assert take_clean_shutdown(DISK, str(apache_logs_by_end["killed"].directory)) is None


def test_producer_snapshots_are_written_as_they_were_read(apache_logs: ApacheLogs) -> None:
    for path in found(apache_logs, f"*{names.PRODUCER_SNAPSHOT}"):
        assert encode_snapshot(decode_snapshot(path.read_bytes())) == path.read_bytes()


def test_transaction_indexes_are_written_as_they_were_read(apache_logs: ApacheLogs, tmp_path: Path) -> None:
    for number, (path, base_offset) in enumerate(segment_files(apache_logs, names.TRANSACTION_INDEX)):
        original = TransactionIndex(DISK, str(path), base_offset)
        copy = TransactionIndex(DISK, str(tmp_path / str(number)), base_offset)
        copy.append(original.entries())
        original.close()
        copy.close()
        assert not path.stat().st_size or (tmp_path / str(number)).read_bytes() == path.read_bytes()


def test_trimmed_indexes_are_written_as_they_were_read(
    apache_logs_by_end: dict[str, ApacheLogs], tmp_path: Path
) -> None:
    """After a clean stop every live index ends with its last entry; after a kill the active ones end in zeros."""
    logs = apache_logs_by_end["stopped"]
    for number, (path, base_offset) in enumerate(segment_files(logs, names.OFFSET_INDEX)):
        original = OffsetIndex(DISK, str(path), base_offset, INDEX_BYTES_MAX)
        original.sanity_check()
        offsets = OffsetIndex(DISK, str(tmp_path / f"{number}.index"), base_offset, INDEX_BYTES_MAX)
        offsets.open()
        for slot in range(original.entries):
            offsets.reserve()
            offsets.append(*original.entry(slot))
        offsets.trim()
        offsets.close()
        original.close()
        assert (tmp_path / f"{number}.index").read_bytes() == path.read_bytes()
    for number, (path, base_offset) in enumerate(segment_files(logs, names.TIME_INDEX)):
        times = TimeIndex(DISK, str(path), base_offset, INDEX_BYTES_MAX)
        times.sanity_check()
        copy = TimeIndex(DISK, str(tmp_path / f"{number}.timeindex"), base_offset, INDEX_BYTES_MAX)
        copy.open()
        for slot in range(times.entries):
            copy.reserve()
            copy.append_if_newer(times.entry(slot))
        copy.trim()
        copy.close()
        times.close()
        assert (tmp_path / f"{number}.timeindex").read_bytes() == path.read_bytes()

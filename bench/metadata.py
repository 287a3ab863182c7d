"""The metadata image beside Apache Kafka's: a change to one partition as the cluster grows, and loading a snapshot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import NamedTuple

from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.framing import VersionedRecord, build_batches, read_values
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.loader import SnapshotLoad
from barnabas.metadata.versions import LATEST_METADATA_VERSION
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.raft import control
from barnabas.runtime.garbage import collection_paused
from barnabas.runtime.quorum.snapshotting import snapshot_batches
from bench.measure import Row, compare, row
from interop.referee import run_java

TITLE = "metadata: images of topics with 50 partitions and three replicas each"
IMAGE_WORK = Path(__file__).parent / "java" / "ImageWork.java"
SIZES = (1_000, 10_000, 100_000, 200_000)
LOADED = SIZES[-2:]
PARTITIONS_A_TOPIC = 50
CHANGES = 2_000
ROUNDS = 5
BROKERS = 6


class Timed(NamedTuple):
    """The seconds to load the image, and to change one partition of it."""

    load_s: float
    change_s: float


def run() -> list[Row]:
    rows, ours_by_size = [], {}
    for size in SIZES:
        snapshot = _batches(_cluster(size))
        changes = [record.message for record in _changes(size)]
        ours = _ours(snapshot, changes)
        theirs = _theirs(snapshot, _batches(_changes(size)))
        ours_by_size[size] = ours
        rows.append(row(f"one partition of {size:,} changed", ours.change_s, theirs.change_s, "Apache's classes"))
        if size in LOADED:
            rows.append(row(f"{size:,} partitions loaded", ours.load_s, theirs.load_s, "Apache's classes"))
        if size == SIZES[-1]:
            rows.append(_written(snapshot))
    least, most = ours_by_size[SIZES[0]], ours_by_size[SIZES[-1]]
    rows.append(row(f"one partition of {SIZES[-1]:,} changed", most.change_s, least.change_s, f"ours, of {SIZES[0]:,}"))
    return rows


def _cluster(size: int) -> Iterator[VersionedRecord]:
    random = Random(size)
    directories = [Uuid(random.randbytes(16)) for _ in range(BROKERS)]
    yield _written_as(FeatureLevelRecord(name="metadata.version", feature_level=LATEST_METADATA_VERSION))
    for number in range(size // PARTITIONS_A_TOPIC):
        yield _written_as(TopicRecord(name=f"topic-{number}", topic_id=_topic_id(size, number)))
        for index in range(PARTITIONS_A_TOPIC):
            replicas = [(index + number + step) % BROKERS for step in range(3)]
            yield _written_as(
                PartitionRecord(
                    partition_id=index,
                    topic_id=_topic_id(size, number),
                    replicas=replicas,
                    isr=replicas,
                    removing_replicas=[],
                    adding_replicas=[],
                    leader=replicas[0],
                    leader_epoch=random.randrange(50),
                    partition_epoch=random.randrange(1_000),
                    directories=[directories[replica] for replica in replicas],
                )
            )


def _changes(size: int) -> Iterator[VersionedRecord]:
    random = Random(size + 1)
    for _ in range(CHANGES):
        topic_id = _topic_id(size, random.randrange(size // PARTITIONS_A_TOPIC))
        index = random.randrange(PARTITIONS_A_TOPIC)
        yield _written_as(PartitionChangeRecord(partition_id=index, topic_id=topic_id, isr=[1], leader=1))


def _topic_id(size: int, number: int) -> Uuid:
    return Uuid(Random(size * 1_000_003 + number).randbytes(16))


def _written_as(message: Message) -> VersionedRecord:
    return VersionedRecord(message, LATEST_METADATA_VERSION.record_version(message))


def _batches(records: Iterator[VersionedRecord]) -> bytes:
    return b"".join(build_batches(records, base_offset=0, epoch=1, timestamp_ms=1))


def _loaded(snapshot: bytes) -> MetadataImage:
    with collection_paused():
        return SnapshotLoad(read_values(snapshot), Provenance()).load()


def _ours(snapshot: bytes, changes: list[Message]) -> Timed:
    load_s, change_s = [], []
    for _ in range(ROUNDS):
        begin = perf_counter()
        image = _loaded(snapshot)
        loaded = perf_counter()
        for record in changes:
            delta = MetadataDelta(image)
            delta.replay(record)
            image = delta.apply(Provenance())
        load_s.append(loaded - begin)
        change_s.append((perf_counter() - loaded) / len(changes))
    return Timed(median(load_s), median(change_s))


def _theirs(snapshot: bytes, changes: bytes) -> Timed:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        files = Path(folder) / "snapshot", Path(folder) / "changes"
        for path, content in zip(files, (snapshot, changes), strict=True):
            path.write_bytes(content)
        done = run_java(IMAGE_WORK, *files, str(ROUNDS), options=("-Xmx1g",))
    return Timed(*map(float, done.stdout.split()))


def _written(snapshot: bytes) -> Row:
    image = _loaded(snapshot)
    return compare(
        "a snapshot written",
        ours=lambda: list(snapshot_batches(image, [control.snapshot_header(1)], 1, 1)),
        peer=lambda: _loaded(snapshot),
        peer_name="ours, loaded",
        rounds=3,
    )

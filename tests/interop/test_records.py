"""Apache Kafka's own classes read the batches that we write, and we read theirs: every codec, every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random

import pytest

from barnabas.records.batch import BatchHeader, TimestampType, stamp, stamp_append_time
from barnabas.records.build import build_batch
from barnabas.records.compression import LEVELS, Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.kernel import read_rows
from barnabas.records.legacy import iterate_any, iterate_any_records, validate_any
from barnabas.records.record import Record, read_record_bytes
from barnabas.records.retain import retain, retain_nothing
from interop.referee import PROGRAMS, JvmProcess

pytestmark = pytest.mark.referee

TYPE_NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


@pytest.fixture(scope="module")
def batches() -> Iterator[JvmProcess]:
    with closing(JvmProcess(PROGRAMS / "Batches.java")) as running:
        yield running


def text(data: bytes | None) -> str:
    return "-" if data is None else f"x{data.hex()}"


def record_text(record: Record) -> str:
    headers = ",".join(f"{text(name.encode())}={text(content)}" for name, content in record.headers)
    return f"{record.timestamp}:{text(record.key)}:{text(record.value)}:{headers}"


def batch_text(header: BatchHeader, records: Sequence[Record]) -> str:
    """What the referee says about a batch, from what we have read of it."""
    fields = [
        header.magic,
        header.last_offset,
        header.compression.config_name,
        "NoTimestampType" if header.magic == 0 else TYPE_NAMES[header.timestamp_type],
        header.max_timestamp,
        header.leader_epoch,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.last_sequence,
        str(header.is_transactional).lower(),
        str(header.is_control).lower(),
        "-" if header.delete_horizon_ms is None else header.delete_horizon_ms,
        ";".join(f"{record.offset}:{record_text(record)}" for record in records),
    ]
    return " ".join(map(str, fields))


def our_reading(data: bytes | bytearray) -> str:
    texts = []
    for position, _ in iterate_any(data):
        header = validate_any(data, position)
        texts.append(batch_text(header, list(iterate_any_records(data, position, header))))
    return "|".join(texts)


def random_records(seed: int, *, count: int, value_bytes: int, has_headers: bool = True) -> list[Record]:
    random = Random(seed)
    records = []
    for index in range(count):
        value = bytes(random.choices(b"abcdefgh", k=random.randint(0, value_bytes)))
        headers = [(f"h{i}é", random.choice([None, b"", b"content"])) for i in range(random.randint(0, 2))]
        records.append(
            Record(
                index,
                1_700_000_000_000 + random.randint(-5000, 5000),
                random.choice([None, b"", b"key%d" % index]),
                random.choice([None, value, value]),
                headers if has_headers else [],
            )
        )
    return records


def levels_of(codec: Compression) -> list[int | None]:
    levels = LEVELS.get(codec)
    return [None] if levels is None else [None, levels.least, 1, levels.greatest]


@pytest.mark.parametrize("codec", Compression)
def test_the_referee_reads_our_batches(batches: JvmProcess, codec: Compression) -> None:
    for level in levels_of(codec):
        # Below and above the block sizes of every codec.
        for count, value_bytes in ((1, 10), (40, 300), (60, 9000)):
            records = random_records(count, count=count, value_bytes=value_bytes)
            batch = build_batch(
                records, compression=codec, level=level, producer_id=9, producer_epoch=1, base_sequence=5
            )
            stamp(batch, 0, 1000, 7)
            ours = our_reading(batch)
            assert ours
            assert batches.ask(f"read {batch.hex()}") == ours


def test_the_referee_reads_every_kind_of_batch(batches: JvmProcess) -> None:
    records = random_records(3, count=5, value_bytes=50)
    stamped = build_batch(records, is_transactional=True, producer_id=1, producer_epoch=0, base_sequence=2**31 - 3)
    stamp_append_time(stamped, 0, 1_800_000_000_000)
    marker = build_end_transaction_marker(
        EndTransactionMarker(is_commit=True, coordinator_epoch=3),
        producer_id=1,
        producer_epoch=0,
        timestamp=5,
        base_offset=5,
    )
    thinned = build_batch(records, compression=Compression.ZSTD, producer_id=4, producer_epoch=2, base_sequence=0)
    header = validate_any(thinned)
    data = bytes(read_record_bytes(thinned, 0, header))
    kept = [True, False, True, False, False]
    rows = read_rows(data, header.record_count)
    made = [
        stamped,
        marker,
        build_batch(records, delete_horizon_ms=1_700_000_009_999),
        retain(header, data, rows, kept),
        retain(header, data, rows, kept, delete_horizon_ms=1_700_000_009_999),
        retain_nothing(header),
    ]
    for batch in made:
        assert batches.ask(f"read {batch.hex()}") == our_reading(batch)
    joined = b"".join(made)
    assert batches.ask(f"read {joined.hex()}") == our_reading(joined)


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", Compression)
def test_we_read_the_referees_batches(batches: JvmProcess, magic: int, codec: Compression) -> None:
    if magic < 2 and codec is Compression.ZSTD:
        refused = batches.ask(f"write {magic} zstd - CreateTime 0 - 1:-:-:")
        assert refused.startswith("error")
        return
    for level in levels_of(codec):
        for timestamp_type, time in (("CreateTime", "-"), ("LogAppendTime", "1800000000000")):
            for count, value_bytes in ((1, 10), (40, 300), (60, 9000)):
                records = random_records(count, count=count, value_bytes=value_bytes, has_headers=magic == 2)
                stated = ";".join(map(record_text, records))
                chosen = "-" if level is None else level
                answer = batches.ask(f"write {magic} {codec.config_name} {chosen} {timestamp_type} 70 {time} {stated}")
                assert not answer.startswith("error")
                data = bytes.fromhex(answer)
                assert our_reading(data) == batches.ask(f"read {answer}")
                found = [record for position, _ in iterate_any(data) for record in iterate_any_records(data, position)]
                assert [record.offset for record in found] == list(range(70, 70 + count))
                assert [record.value for record in found] == [record.value for record in records]
                if magic == 2 and timestamp_type == "CreateTime":
                    assert [tuple(record.headers) for record in found] == [tuple(record.headers) for record in records]


def test_uncompressed_batches_are_the_referees_byte_for_byte(batches: JvmProcess) -> None:
    records = random_records(8, count=20, value_bytes=200)
    stated = ";".join(map(record_text, records))
    assert batches.ask(f"write 2 none - CreateTime 0 - {stated}") == build_batch(records).hex()

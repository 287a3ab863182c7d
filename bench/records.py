"""Record batches: their checks beside the checksum that no broker does without, and the kernel beside plain Python."""

from __future__ import annotations

import os

from crc32c import crc32c

from barnabas.records import kernel
from barnabas.records.batch import TimestampType, validate
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression, compress, decompress
from barnabas.records.record import LazyHeaders, Record, iterate_records
from barnabas.records.validation import RecordRules, check_records
from bench.measure import Row, compare
from uncompiled_kernels import load_uncompiled

TITLE = "records: batches of 16 KiB"
BATCH_BYTES = 16 * 1024
NOW_MS = 1_700_000_000_000
RULES = RecordRules(TimestampType.CREATE_TIME, 2**63 - 1, 3_600_000, is_compacted=True)


def run() -> list[Row]:
    large, small = _make_batch(record_bytes=1024), _make_batch(record_bytes=100)
    rows = [
        compare(
            "validate",
            ours=lambda: validate(large),
            peer=lambda: crc32c(large),
            peer_name="bare CRC-32C",
            wanted=1 / 1.5,
            times=20_000,
        )
    ]
    for name, batch in (("1 KiB", large), ("100 B", small)):
        rows.append(_compare_deep_check(name, batch))
    rows += _compare_kernel(small)
    rows += [_compare_codec(codec, small) for codec in Compression if codec is not Compression.NONE]
    return rows


def _make_batch(record_bytes: int) -> bytearray:
    """A batch of about 16 KiB, uncompressed; half of each value compresses well."""
    count = BATCH_BYTES // record_bytes
    value_bytes = record_bytes - 16
    return build_batch(
        [
            Record(i, NOW_MS + i, b"key-%04d" % i, os.urandom(value_bytes // 2) + bytes(value_bytes - value_bytes // 2))
            for i in range(count)
        ]
    )


def _compare_deep_check(name: str, batch: bytearray) -> Row:
    def deep() -> None:
        check_records(batch, 0, validate(batch), RULES, NOW_MS)

    return compare(
        f"validate and check every record of {name}",
        ours=deep,
        peer=lambda: validate(batch),
        peer_name="validate",
        times=10_000,
    )


def _compare_kernel(batch: bytearray) -> list[Row]:
    plain = load_uncompiled(kernel)
    header = validate(batch)
    data = bytes(memoryview(batch)[61:])
    count = header.record_count
    return [
        compare(
            f"scan of {count} records",
            ours=lambda: kernel.scan(data, count),
            peer=lambda: plain.scan(data, count),
            peer_name="uncompiled",
            times=50,
        ),
        compare(
            f"iteration of {count} records",
            ours=lambda: list(iterate_records(batch, 0, header)),
            peer=lambda: plain.decode(Record, LazyHeaders, data, count, 0, NOW_MS, None),
            peer_name="uncompiled",
            times=50,
        ),
    ]


def _compare_codec(codec: Compression, batch: bytearray) -> Row:
    data = bytes(memoryview(batch)[61:])
    compressed = compress(codec, data)
    return compare(
        f"decompress {codec.config_name}",
        ours=lambda: decompress(codec, compressed),
        peer=lambda: compress(codec, data),
        peer_name=f"compress {codec.config_name}",
        times=200,
        bytes_each=len(data),
    )

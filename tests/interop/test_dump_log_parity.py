"""Our kafka-dump-log prints what Apache's prints for files that a broker of today does not write: old, odd, damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from barnabas.cli.dump_log import run
from barnabas.log.producer_snapshot import SnapshotEntry, encode_snapshot
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.group_records.group_metadata import GroupMetadataValue
from barnabas.protocol.schema import Message
from barnabas.protocol.varint import unsigned_varint
from barnabas.records.batch import TimestampType, read_header
from barnabas.records.build import build_batch
from barnabas.records.compression import Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record
from barnabas.records.retain import retain_nothing
from builders import TIMESTAMP, make_batch, make_legacy_message, make_legacy_wrapper, make_records
from declared_messages import RandomMessages, messages_of
from interop.referee import Tools

pytestmark = pytest.mark.referee

LOG = "00000000000000000000.log"
INT_MAX = 2**31 - 1
Compare = Callable[..., None]


@pytest.fixture
def compare(tools: Tools) -> Compare:
    """Runs both dumps with the same words, ours first, because Apache's cuts a torn index while it looks at it.

    What they find wrong is compared where Apache's does not end in an exception and where it is not a Java sentence.
    """

    def compare(*args: str | Path) -> None:
        words = [str(arg) for arg in args]
        out, err = StringIO(), StringIO()
        status = run(words, out, err)
        theirs = tools.dump_log(*words)
        assert (out.getvalue().split("\n"), status) == (theirs.out.split("\n"), theirs.status), (words, theirs.err)
        if status == 0 and "Snapshot" not in theirs.err:
            assert err.getvalue() == theirs.err, words

    return compare


def control_batch(offset: int, kind: int, value: bytes) -> bytearray:
    return build_batch([Record(offset, TIMESTAMP, pack(">hh", 0, kind), value)], is_control=True)


def odd_batches() -> list[bytes]:
    """Batches with everything that a header or a record can say."""
    text = [
        Record(7, TIMESTAMP, None, b"", [("first", b"x"), ("", None), ("päß", b"")]),
        Record(9, TIMESTAMP - 5, b"\xed\xa0\x80|\xed\xa0|\xff\xf4\x90\x80\x80|\xe2\x82", "é\n𝄞".encode()),
        Record(10, TIMESTAMP + 5, b"", None),
    ]
    batches = [
        *(build_batch(text, compression=codec, leader_epoch=3) for codec in Compression),
        build_batch(text, timestamp_type=TimestampType.LOG_APPEND_TIME, append_time_ms=TIMESTAMP + 77),
        build_batch(text, delete_horizon_ms=TIMESTAMP + 1000, compression=Compression.ZSTD),
        build_batch(text, base_offset=5, last_offset=20, producer_id=9, producer_epoch=2, base_sequence=INT_MAX - 3),
        build_batch(text, producer_id=9, producer_epoch=2, base_sequence=0, is_transactional=True),
        build_end_transaction_marker(EndTransactionMarker(True, 4), producer_id=9, producer_epoch=2, timestamp=1),
        build_end_transaction_marker(EndTransactionMarker(False, -1), producer_id=9, producer_epoch=3, timestamp=2),
        retain_nothing(read_header(build_batch(text, producer_id=9, producer_epoch=2, base_sequence=6))),
        control_batch(40, 7, b""),
        control_batch(41, -9, b"unknown"),
    ]
    return [bytes(batch) for batch in batches]


def old_messages(magic: int) -> list[bytes]:
    kinds = [
        (codec, kind)
        for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
        for kind in (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)[: magic + 1]
    ]
    plain = [
        make_legacy_message(100, magic, b"key", b"value", timestamp=TIMESTAMP),
        make_legacy_message(101, magic, None, None, timestamp=TIMESTAMP),
        make_legacy_message(
            103, magic, b"", b"\xff", timestamp=TIMESTAMP, timestamp_type=TimestampType.LOG_APPEND_TIME
        ),
    ]
    inner = [
        make_legacy_message(offset if magic else 110 + offset, magic, b"inner", b"%d" % offset, timestamp=5 + offset)
        for offset in (0, 1, 3)
    ]
    inner[1] = inner[1][:-1] + b"?"  # Its checksum no longer fits.
    wrapped = [
        make_legacy_wrapper(113, magic, inner, codec, timestamp=TIMESTAMP, timestamp_type=kind) for codec, kind in kinds
    ]
    return [*plain, *wrapped]


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--deep-iteration"],
        ["--print-data-log"],
        ["--skip-record-metadata"],
        ["--print-data-log", "--skip-record-metadata"],
        ["--print-data-log", "--max-bytes", "300"],
        ["--print-data-log", "--max-bytes", "0"],
        ["--print-data-log", "--max-bytes", "-1"],
    ],
    ids=" ".join,
)
def test_batches_of_every_format_and_kind(compare: Compare, tmp_path: Path, flags: list[str]) -> None:
    path = tmp_path / LOG
    for content in (odd_batches(), old_messages(0), old_messages(1), [*old_messages(1), *odd_batches()]):
        path.write_bytes(b"".join(content))
        compare("--files", path, *flags)


def test_a_segment_with_any_byte_changed(compare: Compare, tmp_path: Path) -> None:
    headers = [("first", b"x"), ("", None)]
    whole = b"".join(
        [
            build_batch([Record(0, TIMESTAMP, b"a", b"b", headers), Record(1, TIMESTAMP, None, None)], base_sequence=0),
            build_batch(make_records(2, 2, value_bytes=3), compression=Compression.ZSTD, base_sequence=5),
            build_end_transaction_marker(EndTransactionMarker(True, 1), producer_id=9, producer_epoch=2, timestamp=1),
        ]
    )
    path = tmp_path / LOG
    for position in range(len(whole)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[position] ^= change
            path.write_bytes(damaged)
            compare("--print-data-log", "--files", path)


def test_a_segment_cut_anywhere(compare: Compare, tmp_path: Path) -> None:
    whole = make_batch(2, value_bytes=3) + old_messages(1)[0] + make_batch(1, 2)
    path = tmp_path / LOG
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        compare("--deep-iteration", "--files", path)
    path.write_bytes(whole + bytes(200))
    compare("--deep-iteration", "--files", path)


def write_segment(folder: Path, entries: Sequence[tuple[int, int]], times: Sequence[tuple[int, int]]) -> Path:
    """A segment of ten batches of two records, with the entries that a test wants in its indexes."""
    batch_bytes = len(make_batch(2))
    (folder / LOG).write_bytes(b"".join(make_batch(2, 2 * i, TIMESTAMP + 10 * i) for i in range(10)))
    (folder / "00000000000000000000.index").write_bytes(
        b"".join(pack(">ii", offset, batch * batch_bytes) for offset, batch in entries)
    )
    (folder / "00000000000000000000.timeindex").write_bytes(b"".join(pack(">qi", *entry) for entry in times))
    return folder / LOG


RIGHT = [(1 + 4 * i, 2 * i) for i in range(5)]
RIGHT_TIMES = [(TIMESTAMP + 20 * i + 1, 4 * i + 1) for i in range(5)]
INDEXES = {
    "right": (RIGHT, RIGHT_TIMES),
    "empty": ([], []),
    "zeros behind": ([*RIGHT, (0, 0), (0, 0)], [*RIGHT_TIMES, (0, 0)]),
    "wrong offsets": ([(2, 0), (5, 2), (7, 3), (8, 4)], [(TIMESTAMP + 1, 2), (TIMESTAMP + 2, 30), (TIMESTAMP, 3)]),
    "out of order": ([(5, 2), (1, 0)], [(TIMESTAMP + 21, 5), (TIMESTAMP + 1, 1)]),
    "the same again": ([(2, 0), (2, 0), (2, 4)], [(TIMESTAMP + 1, 1), (TIMESTAMP + 1, 1)]),
    "negative": ([(-5, 0)], [(-1, -5)]),
    "behind the end": ([(1, 0), (5, 99)], [(TIMESTAMP + 1, 1)]),
    "before the start": ([(1, 0), (5, -1)], [(TIMESTAMP + 1, 7)]),
}


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize(
    "flags", [[], ["--verify-index-only"], ["--index-sanity-check"], ["--max-message-size", "50"]], ids=" ".join
)
def test_indexes_that_fit_and_that_do_not(compare: Compare, tmp_path: Path, name: str, flags: list[str]) -> None:
    log = write_segment(tmp_path, *INDEXES[name])
    compare("--files", log.with_suffix(".index"), *flags)
    compare("--files", log.with_suffix(".timeindex"), *flags)


def test_indexes_that_end_within_an_entry(compare: Compare, tmp_path: Path) -> None:
    log = write_segment(tmp_path, RIGHT, RIGHT_TIMES)
    for kind in (".timeindex", ".index"):
        path = log.with_suffix(kind)
        torn = path.read_bytes()[:-3]
        for flags in ([], ["--index-sanity-check"]):
            path.write_bytes(torn)  # Apache cuts what it looks at.
            compare("--files", path, *flags)


def test_transaction_indexes_and_producer_snapshots(compare: Compare, tmp_path: Path) -> None:
    aborted = tmp_path / "00000000000000000005.txnindex"
    entries = pack(">hqqqq", 0, 9, 1, 8, 3) + pack(">hqqqq", 0, 10, 9, 12, -1)
    for data in (b"", entries, entries[:-5], pack(">hqqqq", 256, 9, 1, 8, 3)):
        aborted.write_bytes(data)
        compare("--files", aborted)
    compare("--files", tmp_path / "00000000000000000099.txnindex")

    producers = tmp_path / "00000000000000000005.snapshot"
    sound = encode_snapshot(
        [
            SnapshotEntry(9, 2, 10, 30, 4, TIMESTAMP, -1, -1),
            SnapshotEntry(10, 0, 1, 31, 4, TIMESTAMP, 3, 27),
            SnapshotEntry(11, 5, -1, -1, 0, TIMESTAMP, 0, -1),
        ]
    )
    for data in (sound, encode_snapshot([]), sound[:-1], b"", bytes(30), sound[:9] + b"?" + sound[10:]):
        producers.write_bytes(data)
        compare("--files", producers)


def write_records(path: Path, records: Iterable[tuple[bytes | None, bytes | None]]) -> None:
    path.write_bytes(build_batch([Record(i, TIMESTAMP, key, value) for i, (key, value) in enumerate(records)]))


def versioned(message: Message, version: int, prefix: int | None = None) -> bytes:
    return pack(">h", version if prefix is None else prefix) + encode(message, version)


def framed(message: Message, version: int) -> bytes:
    assert message.api_key is not None
    return b"".join(map(unsigned_varint, (1, message.api_key, version))) + encode(message, version)


@pytest.mark.parametrize(
    ("package", "flag"),
    [
        ("group_records", "--offsets-decoder"),
        ("transaction_records", "--transaction-log-decoder"),
        ("share_records", "--share-group-state-decoder"),
    ],
)
def test_records_of_coordinators(compare: Compare, tmp_path: Path, package: str, flag: str) -> None:
    random = RandomMessages(seed=1)
    classes = list(messages_of(package))
    values = {cls.api_key: cls for cls in classes if cls.__name__.endswith("Value")}
    records: list[tuple[bytes | None, bytes | None]] = []
    for cls in classes:
        if cls.__name__.endswith("Key"):
            key = versioned(random.message(cls, 0), 0, cls.api_key)
            records += [(key, None), (key + b"more", None)]
            value = values[cls.api_key]
            records += [(key, versioned(random.message(value, v), v)) for v in value.valid_versions for _ in range(8)]
    records.append((pack(">h", 99), b""))
    write_records(tmp_path / LOG, records)
    compare(flag, "--files", tmp_path / LOG)
    compare(flag, "--skip-record-metadata", "--files", tmp_path / LOG)
    write_records(tmp_path / LOG, [(None, b"value")])
    compare(flag, "--files", tmp_path / LOG)


def test_members_of_a_classic_group(compare: Compare, tmp_path: Path) -> None:
    random = RandomMessages(seed=2, is_plain=True)
    records = []
    for version in GroupMetadataValue.valid_versions:
        group = random.message(GroupMetadataValue, version)
        while len(group.members) < 3:
            group = random.message(GroupMetadataValue, version)
        for inner in ConsumerProtocolSubscription.valid_versions:
            group.protocol_type = "consumer"
            group.members[0].subscription = versioned(random.message(ConsumerProtocolSubscription, inner), inner)
            group.members[0].assignment = versioned(random.message(ConsumerProtocolAssignment, inner), inner)
            group.members[1].subscription = b""
            records.append((pack(">hh5s", 2, 5, b"group"), versioned(group, version)))
    write_records(tmp_path / LOG, records)
    compare("--offsets-decoder", "--files", tmp_path / LOG)


def is_possible(message: Any) -> bool:
    """Whether Apache shows the record; it refuses others in words of its own."""
    if hasattr(message, "remote_partition_delete_state"):
        return message.remote_partition_delete_state in range(3)
    if hasattr(message, "start_offset") and not (0 <= message.start_offset <= message.end_offset):
        return False
    return message.remote_log_segment_state in range(4) and bool(getattr(message, "segment_leader_epochs", True))


@pytest.mark.parametrize(
    ("package", "flag"),
    [("metadata_records", "--cluster-metadata-decoder"), ("remote_log_records", "--remote-log-metadata-decoder")],
)
def test_framed_records(compare: Compare, tmp_path: Path, package: str, flag: str) -> None:
    random = RandomMessages(seed=3, is_plain=package == "remote_log_records")
    records: list[tuple[None, bytes]] = []
    for cls in messages_of(package):
        for version in cls.valid_versions:
            for _ in range(40 if package == "remote_log_records" else 8):
                message = random.message(cls, version)
                if package == "metadata_records" or is_possible(message):
                    records.append((None, framed(message, version)))
    path = tmp_path / "00000000000000000007-0000000003.checkpoint"
    write_records(path, records)
    compare(flag, "--files", path)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["--version"],
        ["--files"],
        ["--files", "a.log", "--files", "b.log"],
        ["--file", "a.log"],
        ["-files", "nothing"],
        ["-f", "nothing"],
        ["--print-data-log"],
        ["--print-data-log=no", "--files=nothing,,leader-epoch-checkpoint,,"],
        ["--files", ","],
        ["--files="],
        ["--files", "//no//such/"],
        ["--files", "name.log"],
        ["--files", ".log"],
        ["--files", "00000000000000000000.log"],
        ["--files", "00000000000000000000.index"],
        ["--files", "00000000000000000000.snapshot"],
        ["--files", "name.checkpoint"],
        ["--files", "bootstrap.checkpoint"],
        ["--files", "00000000000000000000.log.deleted", "--max-bytes", "many"],
        ["--files", "00000000000000000000.log", "--max-bytes", "many"],
        ["--files", "00000000000000000000.log", "--max-bytes", "2147483648"],
    ],
    ids=" ".join,
)
def test_command_lines(tools: Tools, words: list[str]) -> None:
    theirs = tools.dump_log(*words)
    out, err = StringIO(), StringIO()
    assert run(words, out, err) == theirs.status
    assert out.getvalue() == theirs.out
    if "joptsimple" in theirs.err:
        assert err.getvalue().splitlines()[0] in theirs.err

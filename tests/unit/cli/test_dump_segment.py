"""What a dump says about batches and records, typed out: of both formats, whole and damaged."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from crc32c import crc32c

from barnabas.cli.dump_log import run
from barnabas.records.batch import TimestampType, read_header
from barnabas.records.build import assemble, build_batch
from barnabas.records.compression import Compression
from barnabas.records.control import EndTransactionMarker, build_end_transaction_marker
from barnabas.records.record import Record
from barnabas.records.retain import retain_nothing
from builders import TIMESTAMP, make_batch, make_legacy_message, make_legacy_wrapper

LOG = "00000000000000000000.log"
TWO_RECORDS = bytes(
    build_batch(
        [
            Record(0, TIMESTAMP, b"k", "é".encode(), [("h", b"1"), ("i", None)]),
            Record(1, TIMESTAMP + 3, None, b"\xff"),
        ],
        leader_epoch=4,
    )
)
FIRST_LINE = (
    "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1"
    " partitionLeaderEpoch: 4 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty"
    " position: 0 CreateTime: 1700000000003 size: 86 magic: 2 compresscodec: none crc: 4287149533 isvalid: true"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dump(data: bytes | bytearray, *flags: str, name: str = LOG) -> tuple[int, list[str], str]:
    """The exit status, the lines behind the two that name the file, and what was found wrong."""
    Path(name).write_bytes(data)
    out, err = StringIO(), StringIO()
    status = run([*flags, "--files", name], out, err)
    head, title, *lines = out.getvalue().split("\n")
    assert head == f"Dumping {name}"
    assert title == "Log starting offset: 0"
    return status, lines, err.getvalue()


def lines_of(data: bytes | bytearray, *flags: str) -> list[str]:
    status, lines, _ = dump(data, *flags)
    assert status == 0
    assert lines.pop() == ""
    return lines


def test_without_flags_batches_alone_are_printed() -> None:
    assert lines_of(TWO_RECORDS) == [FIRST_LINE]


def test_deep_iteration_prints_the_records_without_what_is_in_them() -> None:
    assert lines_of(TWO_RECORDS, "--deep-iteration") == [
        FIRST_LINE,
        "| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 2 sequence: -1 headerKeys: [h,i]",
        "| offset: 1 CreateTime: 1700000000003 keySize: -1 valueSize: 1 sequence: -1 headerKeys: []",
    ]


def test_print_data_log_prints_keys_and_values_as_text() -> None:
    assert lines_of(TWO_RECORDS, "--print-data-log")[1:] == [
        "| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 2 sequence: -1 headerKeys: [h,i]"
        " key: k payload: é",
        "| offset: 1 CreateTime: 1700000000003 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: \ufffd",
    ]


def test_skipped_metadata_leaves_keys_and_values() -> None:
    data = TWO_RECORDS + build_batch([Record(2, TIMESTAMP, b"last", None)])
    assert [line for line in lines_of(data, "--print-data-log", "--skip-record-metadata") if "base" not in line] == [
        "| key: k payload: é",
        "| payload: \ufffd",
        "| key: last",
    ]


def test_a_transaction_shows_its_producer_and_its_marker() -> None:
    batch = build_batch(
        [Record(0, TIMESTAMP, None, b"a"), Record(1, TIMESTAMP, None, b"b")],
        producer_id=7,
        producer_epoch=1,
        base_sequence=2**31 - 1,
        is_transactional=True,
    )
    marker = build_end_transaction_marker(
        EndTransactionMarker(False, 6), producer_id=7, producer_epoch=1, timestamp=TIMESTAMP, base_offset=2
    )
    numbered = lines_of(build_batch([Record(0, TIMESTAMP, None, b"a")], base_sequence=0), "--deep-iteration")
    assert " sequence: 0 " in numbered[1]
    data, first, second, control, end = lines_of(batch + marker, "--print-data-log")
    assert data.startswith(
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 2147483647 lastSequence: 0 producerId: 7 producerEpoch: 1"
        " partitionLeaderEpoch: -1 isTransactional: true isControl: false"
    )
    assert " sequence: 2147483647 " in first
    assert " sequence: 0 " in second
    assert " isTransactional: true isControl: true " in control
    assert end == (
        "| offset: 2 CreateTime: 1700000000000 keySize: 4 valueSize: 6 sequence: -1 headerKeys: []"
        " endTxnMarker: ABORT coordinatorEpoch: 6"
    )


def test_control_records_become_empty_lines_where_metadata_is_skipped() -> None:
    marker = build_end_transaction_marker(
        EndTransactionMarker(True, 6), producer_id=7, producer_epoch=1, timestamp=TIMESTAMP
    )
    assert lines_of(marker, "--print-data-log", "--skip-record-metadata")[1:] == [""]


@pytest.mark.parametrize("codec", Compression)
def test_records_of_every_codec_are_unpacked(codec: Compression) -> None:
    batch, record = lines_of(build_batch([Record(0, TIMESTAMP, b"k", b"v")], compression=codec), "--print-data-log")
    assert f" compresscodec: {codec.config_name} " in batch
    assert record.endswith(" key: k payload: v")


def test_times_and_horizons_are_told() -> None:
    record = Record(0, TIMESTAMP, b"k", None)
    appended = build_batch([record], timestamp_type=TimestampType.LOG_APPEND_TIME, append_time_ms=TIMESTAMP + 5)
    batch, line = lines_of(appended, "--deep-iteration")
    assert " LogAppendTime: 1700000000005 " in batch
    assert " LogAppendTime: 1700000000005 " in line
    (line,) = lines_of(build_batch([record], delete_horizon_ms=1234))
    assert " deleteHorizonMs: OptionalLong[1234] " in line


def test_a_batch_without_records_is_a_line_of_its_own() -> None:
    empty = retain_nothing(read_header(TWO_RECORDS))
    (line,) = lines_of(empty, "--print-data-log")
    assert line.startswith("baseOffset: 0 lastOffset: 1 count: 0 ")


def test_messages_of_the_old_formats_are_told_in_their_own_way() -> None:
    inner = [make_legacy_message(i, 1, b"k", b"%d" % i, timestamp=TIMESTAMP + i) for i in range(2)]
    inner[1] = inner[1][:-1] + b"?"
    wrapper = make_legacy_wrapper(9, 1, inner, Compression.GZIP, timestamp=TIMESTAMP + 1)
    lines = lines_of(make_legacy_message(5, 0, b"k", b"v") + wrapper, "--print-data-log")
    assert lines[:2] == [
        "offset: 5 position: 0 NoTimestampType: -1 size: 28 magic: 0 compresscodec: none crc: 535615242 isvalid: true",
        "| offset: 5 NoTimestampType: -1 keySize: 1 valueSize: 1 isValid: true crc: 535615242 key: k payload: v",
    ]
    assert lines[2].startswith("offset: 9 position: 28 CreateTime: 1700000000001 size: ")
    assert lines[3:] == [
        "| offset: 8 CreateTime: 1700000000000 keySize: 1 valueSize: 1 isValid: true crc: 2795071638 key: k payload: 0",
        "| offset: 9 CreateTime: 1700000000001 keySize: 1 valueSize: 1 isValid: false crc: 269518784 key: k payload: ?",
    ]


def test_what_follows_the_last_whole_batch_is_counted() -> None:
    assert lines_of(TWO_RECORDS + TWO_RECORDS[:-1])[1:] == [
        "Found 85 invalid bytes at the end of 00000000000000000000.log"
    ]
    assert lines_of(TWO_RECORDS + bytes(17))[1:] == ["Found 17 invalid bytes at the end of 00000000000000000000.log"]


def test_what_cannot_be_a_batch_ends_the_dump() -> None:
    status, lines, err = dump(TWO_RECORDS + bytes(18))
    assert (status, lines) == (1, [FIRST_LINE, ""])
    assert f"0 bytes at position 86 of {LOG}" in err


def test_max_bytes_stops_before_a_batch_that_does_not_fit() -> None:
    assert lines_of(TWO_RECORDS * 2, "--max-bytes", "171") == [FIRST_LINE]
    assert len(lines_of(TWO_RECORDS * 2, "--max-bytes", "172")) == 2


def test_a_wrong_checksum_is_told_and_the_records_are_shown_all_the_same() -> None:
    damaged = bytearray(TWO_RECORDS)
    damaged[-2] = ord("x")
    batch, _, last = lines_of(damaged, "--print-data-log")
    assert batch.endswith(" crc: 4287149533 isvalid: false")
    assert last.endswith(" payload: x")


def test_the_records_before_a_malformed_one_are_shown() -> None:
    damaged = bytearray(TWO_RECORDS)
    damaged[-3] ^= 0x40  # The length of the second record's value.
    status, lines, err = dump(damaged, "--deep-iteration")
    assert status == 1
    assert len(lines) == 3
    assert lines[1].startswith("| offset: 0 ")
    assert lines[2] == ""
    assert f"the batch at position 0 of {LOG}" in err


def test_a_count_of_records_without_room_for_one_ends_the_dump() -> None:
    header = read_header(TWO_RECORDS)._replace(record_count=99)
    status, lines, err = dump(assemble(header, b"\x00\x00"), "--deep-iteration")
    assert status == 1
    assert lines[0].startswith("baseOffset: 0 lastOffset: 1 count: 99 ")
    assert "99 records cannot fill 2 bytes" in err


def test_a_record_behind_which_the_batch_goes_on_is_not_believed() -> None:
    header = read_header(TWO_RECORDS)
    status, lines, err = dump(assemble(header._replace(record_count=1), TWO_RECORDS[61:]), "--deep-iteration")
    assert status == 1
    assert len(lines) == 2
    assert "bytes follow" in err


def test_a_batch_too_small_for_its_header_is_shown_and_not_opened() -> None:
    data = bytearray(TWO_RECORDS)
    data[8:12] = (48).to_bytes(4, "big")
    data[21:60] = bytes(39)
    data[17:21] = crc32c(data[21:60]).to_bytes(4, "big")  # Even if the checksum should fit.
    status, lines, _ = dump(data + bytes(17), "--deep-iteration")
    assert status == 1
    assert lines[0].endswith(" isvalid: false")
    assert lines[1:] == [""]


def test_a_line_is_shown_up_to_where_it_cannot_be_known() -> None:
    damaged = bytearray(TWO_RECORDS)
    damaged[22] = 7  # A codec that does not exist.
    status, lines, err = dump(damaged)
    assert status == 1
    assert lines[-1].endswith(" deleteHorizonMs: OptionalLong.empty")
    assert "compression 7" in err


def test_offsets_that_do_not_follow_each_other_are_reported_in_the_end() -> None:
    data = make_batch(1, 3) + make_batch(2, 4) + make_batch(1) + make_batch(1, 9)
    status, _, err = dump(data, "--deep-iteration")
    assert status == 0
    assert err.splitlines() == [
        f"Non-consecutive offsets in {Path(LOG).absolute()}",
        "  -1 is followed by 3",
        "  0 is followed by 9",
        "  5 is followed by 0",
    ]


def test_a_snapshot_is_named_by_its_offset_and_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    for name, title in {
        "00000000000000000042-0000000007.checkpoint": "Snapshot end offset: 42, epoch: 7",
        "bootstrap.checkpoint": "KRaft bootstrap snapshot",
    }.items():
        Path(name).write_bytes(b"")
        out = StringIO()
        assert run(["--files", name], out, StringIO()) == 0
        assert out.getvalue() == f"Dumping {name}\n{title}\n"
    assert not capsys.readouterr().out

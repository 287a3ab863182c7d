"""What a dump says about the three indexes of a segment, and how it finds entries that do not fit the log."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from struct import pack

import pytest

from barnabas.cli.dump.files import ReadOnlyDisk
from barnabas.cli.dump_log import run
from builders import TIMESTAMP, make_batch

LOG = "00000000000000000000.log"
INDEX = "00000000000000000000.index"
TIME_INDEX = "00000000000000000000.timeindex"
BATCH_BYTES = len(make_batch(2))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three batches of two records, at offsets 0, 2 and 4, with an entry for each of the last two."""
    monkeypatch.chdir(tmp_path)
    Path(LOG).write_bytes(b"".join(make_batch(2, 2 * i, TIMESTAMP + 10 * i) for i in range(3)))
    write_index((3, 1), (5, 2))
    write_time_index((TIMESTAMP + 11, 3), (TIMESTAMP + 21, 5))


def write_index(*entries: tuple[int, int]) -> None:
    Path(INDEX).write_bytes(b"".join(pack(">ii", offset, batch * BATCH_BYTES) for offset, batch in entries))


def write_time_index(*entries: tuple[int, int]) -> None:
    Path(TIME_INDEX).write_bytes(b"".join(pack(">qi", *entry) for entry in entries))


def dump(name: str, *flags: str) -> tuple[int, list[str], str]:
    """The exit status, the lines behind the one that names the file, and what was found wrong."""
    out, err = StringIO(), StringIO()
    status = run([*flags, "--files", name], out, err)
    head, *lines = out.getvalue().splitlines()
    assert head == f"Dumping {name}"
    return status, lines, err.getvalue()


def test_entries_that_fit_are_printed_one_a_line() -> None:
    assert dump(INDEX) == (0, [f"offset: 3 position: {BATCH_BYTES}", f"offset: 5 position: {2 * BATCH_BYTES}"], "")
    assert dump(TIME_INDEX) == (
        0,
        [f"timestamp: {TIMESTAMP + 11} offset: 3", f"timestamp: {TIMESTAMP + 21} offset: 5"],
        "",
    )


def test_verification_prints_no_entries() -> None:
    assert dump(INDEX, "--verify-index-only") == (0, [], "")
    assert dump(TIME_INDEX, "--verify-index-only") == (0, [], "")


def test_zeros_behind_the_entries_end_an_index() -> None:
    write_index((3, 1), (0, 0), (5, 2))
    write_time_index((TIMESTAMP + 11, 3), (0, 0), (TIMESTAMP + 21, 5))
    assert len(dump(INDEX)[1]) == 1
    assert len(dump(TIME_INDEX)[1]) == 1


def test_an_empty_offset_index_is_said_to_be_empty() -> None:
    write_index()
    write_time_index()
    assert dump(INDEX) == (0, [f"{INDEX} is empty."], "")
    assert dump(TIME_INDEX) == (0, [], "")


def test_offsets_that_the_log_does_not_have_there_are_mismatches_the_greatest_first() -> None:
    write_index((2, 0), (3, 1), (4, 2))
    assert dump(INDEX, "--verify-index-only") == (
        0,
        [],
        f"Mismatches in :{Path(INDEX).absolute()}\n"
        "  Index offset: 4, log offset: 5\n"
        "  Index offset: 2, log offset: 1\n",
    )


def test_times_that_do_not_fit_are_told_by_kind() -> None:
    write_time_index((TIMESTAMP + 11, 3), (TIMESTAMP + 5, 5), (TIMESTAMP + 6, 4), (TIMESTAMP + 7, 9))
    status, _, err = dump(TIME_INDEX)
    path = Path(TIME_INDEX).absolute()
    assert status == 0
    assert err == (
        f"Found timestamp mismatch in :{path}\n"
        f"  Index timestamp: {TIMESTAMP + 5}, log timestamp: {TIMESTAMP + 21}\n"
        f"Found out of order timestamp in :{path}\n"
        f"  Index timestamp: {TIMESTAMP + 5}, Previously indexed timestamp: {TIMESTAMP + 11}\n"
        f"The following indexed offsets are not found in :{path}\n"
        "Indexed offset: 4, found log offset: 5\n"
        "Indexed offset: 9, found log offset: -1\n"
    )


def test_a_time_that_comes_again_is_out_of_order() -> None:
    write_time_index((TIMESTAMP + 11, 3), (TIMESTAMP + 11, 3))
    assert "Found out of order timestamp" in dump(TIME_INDEX)[2]


def test_the_sanity_check_is_that_of_a_broker() -> None:
    assert dump(INDEX, "--index-sanity-check") == (0, [f"{INDEX} passed sanity check."], "")
    assert dump(TIME_INDEX, "--index-sanity-check") == (0, [f"{TIME_INDEX} passed sanity check."], "")
    write_index((3, 1), (-1, 2))
    status, lines, err = dump(INDEX, "--index-sanity-check")
    assert (status, lines) == (1, [])
    assert INDEX in err


def test_an_index_is_neither_cut_nor_made() -> None:
    torn = Path(INDEX).read_bytes()[:-3]
    Path(INDEX).write_bytes(torn)
    assert dump(INDEX)[0] == 0
    assert Path(INDEX).read_bytes() == torn
    Path(INDEX).unlink()
    assert dump(TIME_INDEX)[0] == 1
    assert not Path(INDEX).exists()
    file = ReadOnlyDisk().open(LOG)
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.write_at(0, b"?")
    file.close()


def test_an_entry_must_point_at_a_batch_of_the_largest_size_or_below() -> None:
    assert dump(INDEX, "--max-message-size", str(BATCH_BYTES))[0] == 0
    status, lines, err = dump(INDEX, "--max-message-size", str(BATCH_BYTES - 1))
    assert (status, lines) == (1, [])
    assert f"position {BATCH_BYTES} " in err


def test_aborted_transactions_are_printed_one_a_line() -> None:
    name = "00000000000000000005.txnindex"
    Path(name).write_bytes(pack(">hqqqq", 0, 9, 5, 8, 3) + pack(">hqqqq", 0, 10, 6, 12, -1)[:-1])
    assert dump(name) == (
        0,
        ["version: 0 producerId: 9 firstOffset: 5 lastOffset: 8 lastStableOffset: 3"],
        "",
    )
    assert dump("00000000000000000099.txnindex") == (0, [], "")

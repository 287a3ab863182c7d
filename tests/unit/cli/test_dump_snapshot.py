"""What a dump says about the producers in a snapshot."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from barnabas.cli.dump_log import run
from barnabas.log.producer_snapshot import SnapshotEntry, encode_snapshot


def dump(path: Path) -> tuple[int, list[str], str]:
    out, err = StringIO(), StringIO()
    status = run(["--files", str(path)], out, err)
    return status, out.getvalue().splitlines()[1:], err.getvalue()


def test_producers_are_told_with_their_last_batch_if_they_have_one(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000031.snapshot"
    path.write_bytes(
        encode_snapshot(
            [SnapshotEntry(9, 2, 1, 30, 4, 1234, -1, 27), SnapshotEntry(11, 5, -1, -1, 0, 1235, 3, -1)],
        )
    )
    assert dump(path) == (
        0,
        [
            "producerId: 9 producerEpoch: 2 coordinatorEpoch: -1 currentTxnFirstOffset: OptionalLong[27]"
            " lastTimestamp: 1234 firstSequence: 2147483645 lastSequence: 1 lastOffset: 30 offsetDelta: 4"
            " timestamp: 1234",
            "producerId: 11 producerEpoch: 5 coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong.empty"
            " lastTimestamp: 1235",
        ],
        "",
    )


def test_a_damaged_snapshot_is_told_of_and_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000031.snapshot"
    path.write_bytes(encode_snapshot([])[:-1])
    status, lines, err = dump(path)
    assert (status, lines) == (0, [])
    assert str(path) in err

"""Our kafka-dump-log prints what Apache's prints, to the letter, for every file that Apache's broker left."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.apache_logs import ApacheLogs
from interop.both_dumps import BothDumps

pytestmark = pytest.mark.referee

LOG_FLAGS = [
    [],
    ["--print-data-log"],
    ["--deep-iteration"],
    ["--deep-iteration", "--print-data-log"],
    ["--print-data-log", "--skip-record-metadata"],
    ["--deep-iteration", "--max-bytes", "2500"],
]
INDEX_FLAGS = [
    [],
    ["--index-sanity-check"],
    ["--verify-index-only"],
    ["--max-message-size", "100"],
]
DECODERS = {
    "--cluster-metadata-decoder": "__cluster_metadata-0",
    "--offsets-decoder": "__consumer_offsets-0",
    "--transaction-log-decoder": "__transaction_state-0",
    "--share-group-state-decoder": "__share_group_state-0",
}


@pytest.mark.parametrize("flags", LOG_FLAGS, ids=" ".join)
def test_logs_and_snapshots_look_alike(apache_logs: ApacheLogs, both_dumps: BothDumps, flags: list[str]) -> None:
    files = [*apache_logs.directory.rglob("*.log"), *apache_logs.directory.rglob("*.checkpoint")]
    both_dumps.assert_alike(zip(files), flags)


@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("flags", INDEX_FLAGS, ids=" ".join)
def test_indexes_look_alike(apache_logs: ApacheLogs, both_dumps: BothDumps, flags: list[str], kind: str) -> None:
    both_dumps.assert_alike(zip(apache_logs.directory.rglob(f"*.{kind}")), flags)


@pytest.mark.parametrize("kind", ["txnindex", "snapshot"])
def test_transactions_and_producers_look_alike(apache_logs: ApacheLogs, both_dumps: BothDumps, kind: str) -> None:
    both_dumps.assert_alike(zip(apache_logs.directory.rglob(f"*.{kind}")), [])


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("more", [[], ["--skip-record-metadata"]], ids=" ".join)
def test_decoded_internal_topics_look_alike(
    apache_logs: ApacheLogs, both_dumps: BothDumps, decoder: str, more: list[str]
) -> None:
    directory = apache_logs.directory / DECODERS[decoder]
    files = [*directory.glob("*.log"), *directory.glob("*.checkpoint")]
    both_dumps.assert_alike(zip(files), [decoder, *more])


def test_several_files_in_one_call_look_alike(apache_logs: ApacheLogs, both_dumps: BothDumps) -> None:
    files = sorted((apache_logs.directory / "transactions-0").iterdir())
    both_dumps.assert_alike([files], ["--print-data-log"])


def test_damaged_files_are_reported_alike(
    apache_logs_by_end: dict[str, ApacheLogs], both_dumps: BothDumps, tmp_path: Path
) -> None:
    """Swapped indexes do not belong to their segments; a cut log ends in half a batch."""
    original = apache_logs_by_end["stopped"].directory / "codec-none-0"
    first, second = sorted(original.glob("*.log"))[:2]
    for kind in ("index", "timeindex"):
        (tmp_path / f"{first.stem}.{kind}").write_bytes((original / f"{second.stem}.{kind}").read_bytes())
    (tmp_path / first.name).write_bytes(first.read_bytes()[:-10])
    damaged = sorted(tmp_path.iterdir())
    both_dumps.assert_alike(zip(damaged), [])
    both_dumps.assert_alike([damaged], ["--verify-index-only"])

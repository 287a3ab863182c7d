"""Our cleaner and Apache's leave the same batches of the same log, with the same records and horizons in them."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest

from barnabas.log import names
from barnabas.log.clean_shutdown import CLEAN_SHUTDOWN
from bench.apache import run_log_work
from interop.apache_logs import TOPICS
from interop.our_log import open_log
from interop.referee import Tools
from interop.written_logs import clean_log, write_log

pytestmark = pytest.mark.referee
NOW_MS = int(time.time() * 1000)
DAY_MS = 24 * 60 * 60 * 1000
# A batch that lost records is compressed again, by each side with its own library.
DEPENDS_ON_COMPRESSION = re.compile(r" (position|size|crc): \d+|Dumping .*")


@pytest.mark.parametrize("topic", ["compacted", "compacted-transactions"])
def test_both_cleaners_leave_the_same(tools: Tools, tmp_path: Path, topic: str) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_log(ours, topic, NOW_MS, is_cleaned=False)
    (ours / CLEAN_SHUTDOWN).touch()
    shutil.copytree(ours, theirs)
    # The first round gives tombstones and markers their horizon, the second finds it passed and removes them.
    for now_ms in (NOW_MS, NOW_MS + 2 * DAY_MS):
        before = _shown(tools, ours / f"{topic}-0")
        log = open_log(ours, topic, now_ms)
        clean_log(log, now_ms)
        log.close(now_ms)
        for path in (ours / f"{topic}-0").glob(f"*{names.DELETED}"):
            path.unlink()
        run_log_work("clean", TOPICS[topic], now_ms, [theirs / f"{topic}-0"])
        assert _shown(tools, ours / f"{topic}-0") == _shown(tools, theirs / f"{topic}-0") != before


def _shown(tools: Tools, partition: Path) -> dict[str, list[str]]:
    """Every batch and record of a partition by segment, as Apache's dump shows them."""
    dumps = {}
    for path in sorted(partition.glob(f"*{names.LOG}")):
        said = tools.dump_log("--files", path, "--deep-iteration", "--print-data-log")
        dumps[path.name] = DEPENDS_ON_COMPRESSION.sub("", said.out).splitlines()
    return dumps

"""Apache Kafka's recovery and cleaning of a partition's directory, timed to stand beside ours in one run.

Its own classes are called in one JVM, on copies of the directory; the first rounds warm it up, and the median of the
others counts.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

from interop.referee import run_java

LOG_WORK = Path(__file__).parent / "java" / "LogWork.java"
WARM_UP_ROUNDS = 2
ROUNDS = 3
# The JVM's own choice of collector and compiler, and a heap as a broker has it.
BROKER_OPTIONS = ("-Xmx1g",)

Work = Literal["recover", "clean"]


def recovery_mb_per_s(partition_directory: Path, topic_settings: Mapping[str, str]) -> float:
    """An unclean start from recovery point 0: every batch checked, every index and the producer state rebuilt."""
    size = sum(path.stat().st_size for path in partition_directory.glob("*.log"))
    return size / 1e6 / _seconds("recover", partition_directory, topic_settings)


def cleaning_mb_per_s(partition_directory: Path, topic_settings: Mapping[str, str]) -> float:
    """One pass of the cleaner over everything before the active segment."""
    *cleaned, _active = sorted(partition_directory.glob("*.log"))
    size = sum(path.stat().st_size for path in cleaned)
    return size / 1e6 / _seconds("clean", partition_directory, {**topic_settings, "cleanup.policy": "compact"})


def _seconds(work: Work, partition_directory: Path, topic_settings: Mapping[str, str]) -> float:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        copies = [Path(folder) / str(each) / partition_directory.name for each in range(WARM_UP_ROUNDS + ROUNDS)]
        for copy in copies:
            shutil.copytree(partition_directory, copy)
        return median(run_log_work(work, topic_settings, time.time_ns() // 1_000_000, copies)[WARM_UP_ROUNDS:])


def run_log_work(
    work: Work, topic_settings: Mapping[str, str], now_ms: int, partition_directories: Sequence[Path]
) -> list[float]:
    """Let Apache's classes do the work on these directories, which it changes; the seconds that each took.

    A segment smaller than a megabyte is asked for by `internal.segment.bytes`.
    """
    settings = ",".join(f"{name}={value}" for name, value in topic_settings.items())
    done = run_java(LOG_WORK, work, settings, str(now_ms), *partition_directories, options=BROKER_OPTIONS)
    return [float(line) for line in done.stdout.split()]

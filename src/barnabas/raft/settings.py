"""The settings that the quorum's decisions read, as a value; defaults come from the declarations in `config.raft`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from barnabas.config.raft import RAFT_SETTINGS
from barnabas.config.setting import Value, parse_settings

PREFIX = "controller.quorum."
MAX_FETCH_WAIT_MS = 500
MAX_BATCH_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumSettings:
    election_timeout_ms: int
    fetch_timeout_ms: int
    election_backoff_max_ms: int
    append_linger_ms: int
    request_timeout_ms: int
    retry_backoff_ms: int
    auto_join_enable: bool
    fetch_snapshot_max_bytes: int
    fetch_max_bytes: int

    @property
    def max_fetch_wait_ms(self) -> int:
        """How long a leader may keep a fetch waiting: an idle one must not look silent."""
        return min(MAX_FETCH_WAIT_MS, self.fetch_timeout_ms // 2)

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> QuorumSettings:
        """Pick this package's settings out of parsed ones."""
        return cls(**{each.name: values[PREFIX + each.name.replace("_", ".")] for each in fields(cls)})  # type: ignore[arg-type]

    @classmethod
    def defaults(cls, **given: str) -> QuorumSettings:
        """The defaults, but for settings given as text by their Python names."""
        named = {PREFIX + name.replace("_", "."): text for name, text in given.items()}
        return cls.of(parse_settings(RAFT_SETTINGS, named))

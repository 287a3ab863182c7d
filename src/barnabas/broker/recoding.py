"""Compressing a batch anew where its topic wants another codec than its producer chose.

It takes so long that it is done off the loop. The batch that comes of it goes the way of all others: it is checked and
appended on the loop, so that nothing but time is different.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from barnabas.log.log_config import LogConfig
from barnabas.ports.disk import Buffer
from barnabas.protocol.errors import ApiError
from barnabas.records.batch import COMPRESSION_MASK, validate
from barnabas.records.recode import recompress
from barnabas.records.record import read_record_bytes


class RunOffLoop(Protocol):
    """Calls `work` where it keeps nobody waiting, and then one of the others, where the caller's state may change."""

    def __call__(
        self, work: Callable[[], Any], done: Callable[[Any], object], failed: Callable[[Exception], object], /
    ) -> None: ...


def needs_recoding(flags: int, config: LogConfig) -> bool:
    """Whether a batch with these attributes is not compressed as the topic wants it."""
    return config.compression is not None and flags & COMPRESSION_MASK != config.compression


def recode(records: Buffer, config: LogConfig) -> Buffer:
    """The batch under the topic's codec. One that is damaged stays as it is, for the append to refuse."""
    assert config.compression is not None, "a topic without a codec takes batches as they come"
    try:
        header = validate(records)
        record_bytes = read_record_bytes(records, 0, header)
    except ApiError:
        return records
    if header.size_bytes != len(records):
        return records
    return recompress(header, record_bytes, config.compression, config.compression_level)

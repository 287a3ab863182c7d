"""The settings of the metadata log that Kafka keeps for its own tests."""

from __future__ import annotations

from barnabas.config.setting import Kind, Setting
from barnabas.config.topic import MINUTE_MS

METADATA_INTERNAL_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="internal.metadata.delete.delay.millis",
        kind=Kind.LONG,
        default=MINUTE_MS,
        is_internal=True,
        doc="How long a file of the metadata log that was given up stays on the disk.",
    ),
    Setting(
        name="internal.metadata.log.segment.bytes",
        kind=Kind.INT,
        default=None,
        is_internal=True,
        doc="Another value of `metadata.log.segment.bytes`, without its limit.",
    ),
    Setting(
        name="internal.metadata.max.batch.size.in.bytes",
        kind=Kind.INT,
        default=8_388_608,
        is_internal=True,
        doc="The largest batch that the active controller appends.",
    ),
)

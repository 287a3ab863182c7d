"""The settings of how records are handed out, and of requests that wait for something."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Setting

FETCHING_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="fetch.max.bytes",
        kind=Kind.INT,
        default=57_671_680,
        allowed=AtLeast(1_024),
        doc="The most that one fetch is answered with, whatever it asks for.",
    ),
    Setting(
        name="max.incremental.fetch.session.cache.slots",
        kind=Kind.INT,
        default=1_000,
        allowed=AtLeast(0),
        doc="How many fetch sessions a broker remembers.",
    ),
    Setting(
        name="fetch.purgatory.purge.interval.requests",
        kind=Kind.INT,
        default=1_000,
        doc="After how many finished fetches Apache's node sweeps its waiting room; read, and of no effect here.",
    ),
    Setting(
        name="producer.purgatory.purge.interval.requests",
        kind=Kind.INT,
        default=1_000,
        doc="After how many finished produce requests Apache's node sweeps its waiting room; read, and of no effect "
        "here.",
    ),
    Setting(
        name="delete.records.purgatory.purge.interval.requests",
        kind=Kind.INT,
        default=1,
        doc="After how many finished DeleteRecords requests Apache's node sweeps its waiting room; read, and of no "
        "effect here.",
    ),
    Setting(
        name="share.fetch.purgatory.purge.interval.requests",
        kind=Kind.INT,
        default=1_000,
        doc="After how many finished share fetches Apache's node sweeps its waiting room; read, and of no effect here.",
    ),
)

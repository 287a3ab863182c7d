"""The settings of transactions, of their coordinator and of producer ids."""

from __future__ import annotations

from barnabas.config.setting import AtLeast, Kind, Reload, Setting
from barnabas.config.topic import DAY_MS, HOUR_MS, MINUTE_MS

TRANSACTION_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="transaction.max.timeout.ms",
        kind=Kind.INT,
        default=15 * MINUTE_MS,
        allowed=AtLeast(1),
        doc="The longest time-out that a producer may ask for its transactions.",
    ),
    Setting(
        name="transaction.abort.timed.out.transaction.cleanup.interval.ms",
        kind=Kind.INT,
        default=10_000,
        allowed=AtLeast(1),
        doc="How often transactions that ran out of time are looked for.",
    ),
    Setting(
        name="transaction.remove.expired.transaction.cleanup.interval.ms",
        kind=Kind.INT,
        default=HOUR_MS,
        allowed=AtLeast(1),
        doc="How often transactional ids that have expired are looked for.",
    ),
    Setting(
        name="transaction.partition.verification.enable",
        kind=Kind.BOOLEAN,
        default=True,
        reload=Reload.CLUSTER_WIDE,
        doc="Whether a partition asks the coordinator that a transaction has begun before it takes its first records.",
    ),
    Setting(
        name="transaction.two.phase.commit.enable",
        kind=Kind.BOOLEAN,
        default=False,
        doc="Whether producers may leave the end of a transaction to somebody else's two-phase commit.",
    ),
    Setting(
        name="transactional.id.expiration.ms",
        kind=Kind.INT,
        default=7 * DAY_MS,
        allowed=AtLeast(1),
        doc="How long a transactional id without news is remembered.",
    ),
    Setting(
        name="transaction.state.log.num.partitions",
        kind=Kind.INT,
        default=50,
        allowed=AtLeast(1),
        doc="How many partitions `__transaction_state` is made with; never change it afterwards.",
    ),
    Setting(
        name="transaction.state.log.replication.factor",
        kind=Kind.SHORT,
        default=3,
        allowed=AtLeast(1),
        doc="How many replicas `__transaction_state` is made with.",
    ),
    Setting(
        name="transaction.state.log.min.isr",
        kind=Kind.INT,
        default=2,
        allowed=AtLeast(1),
        doc="How many replicas of `__transaction_state` must have a record.",
    ),
    Setting(
        name="transaction.state.log.segment.bytes",
        kind=Kind.INT,
        default=104_857_600,
        allowed=AtLeast(1),
        doc="The segment size of `__transaction_state`, small so that it is compacted and loaded fast.",
    ),
    Setting(
        name="transaction.state.log.load.buffer.size",
        kind=Kind.INT,
        default=5_242_880,
        allowed=AtLeast(1),
        doc="How much of `__transaction_state` is read at once when it is loaded.",
    ),
    Setting(
        name="producer.id.expiration.ms",
        kind=Kind.INT,
        default=DAY_MS,
        allowed=AtLeast(1),
        reload=Reload.CLUSTER_WIDE,
        doc="How long a partition remembers an idempotent producer that is silent.",
    ),
    Setting(
        name="producer.id.expiration.check.interval.ms",
        kind=Kind.INT,
        default=10 * MINUTE_MS,
        allowed=AtLeast(1),
        is_internal=True,
        doc="How often producers that have expired are looked for.",
    ),
    Setting(
        name="add.partitions.to.txn.retry.backoff.ms",
        kind=Kind.INT,
        default=20,
        allowed=AtLeast(1),
        doc="How long a broker waits before it asks again to add a partition to a transaction; each further failure "
        "doubles it.",
    ),
    Setting(
        name="add.partitions.to.txn.retry.backoff.max.ms",
        kind=Kind.INT,
        default=100,
        allowed=AtLeast(0),
        doc="The longest that a broker waits before it asks again to add a partition to a transaction.",
    ),
)

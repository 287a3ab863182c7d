"""Random histories of a cluster's metadata, as valid as a controller's, beside a model of what comes of them.

A history depends on its random source alone, so that Apache Kafka can be given the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random

from barnabas.metadata.framing import MetadataBatch, VersionedRecord
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records.abort_transaction import AbortTransactionRecord
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.end_transaction import EndTransactionRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from metadata_changes import Model, RandomChanges

TIMESTAMP_MS = 1_700_000_000_000


class History:
    """Grows by one batch at a time. `model` is what the committed records come to."""

    def __init__(self, random: Random, version: MetadataVersion) -> None:
        self.batches: list[MetadataBatch] = []
        self._random = random
        self._epoch = 1
        self._changes = changes = RandomChanges(random)
        # What may stand in one batch with others, and what comes alone: Apache's deltas lose settings of a topic that
        # was made and removed within one of them, and credentials that follow the last one of their mechanism.
        self._together: list[Callable[[], None]] = [
            changes.register_broker,
            changes.change_broker,
            changes.fence_or_unfence,
            changes.unregister_broker,
            changes.register_controller,
            changes.create_topic,
            changes.create_topic,
            changes.add_partition,
            *[changes.change_partition] * 6,
            changes.clear_elr,
            changes.set_config,
            changes.set_config,
            changes.set_quota,
            changes.set_quota,
            changes.give_producer_ids,
            changes.change_acl,
            changes.change_token,
            changes.say_nothing,
        ]
        self._alone: list[Callable[[], None]] = [changes.remove_topic, changes.change_scram, changes.change_feature]
        changes.set_level("metadata.version", version)
        self._end_batch()

    @property
    def model(self) -> Model:
        return self._changes.model

    def grow(self) -> None:
        """A batch more; a transaction is several."""
        chance = self._random.random()
        if chance < 0.3:
            self._random.choice(self._alone)()
            self._end_batch()
        elif chance < 0.4:
            self._transaction()
        else:
            self._some_together()
            self._end_batch()

    def _some_together(self) -> None:
        for _ in range(self._random.randint(1, 5)):
            self._random.choice(self._together)()

    def _transaction(self) -> None:
        if self._random.random() < 0.5:
            self._some_together()
        before = deepcopy(self.model)
        self._changes.emit(BeginTransactionRecord(name=self._random.choice((None, "move"))))
        for _ in range(self._random.randint(0, 2)):
            self._some_together()
            self._end_batch()
        self._some_together()
        if self._random.random() < 0.5:
            self._changes.emit(EndTransactionRecord())
            if self._random.random() < 0.5:
                self._some_together()
        else:
            # Nothing follows in this batch: Apache publishes what was aborted with what follows.
            self._changes.emit(AbortTransactionRecord(reason="no"))
            self._changes.model = before
        self._end_batch()

    def _end_batch(self) -> None:
        if not self._changes.records:
            self._changes.emit(NoOpRecord())
        base_offset = self.batches[-1].last_offset + 1 if self.batches else 0
        if self._random.random() < 0.1:
            self._epoch += 1
        records = [
            VersionedRecord(record, self._changes.version.record_version(record)) for record in self._changes.records
        ]
        timestamp_ms = TIMESTAMP_MS + base_offset
        last_offset = base_offset + len(records) - 1
        self.batches.append(MetadataBatch(base_offset, last_offset, self._epoch, timestamp_ms, 100, records))
        self._changes.records = []


def random_history(seed: int, version: MetadataVersion, batches: int) -> History:
    history = History(Random(seed), version)
    for _ in range(batches):
        history.grow()
    return history

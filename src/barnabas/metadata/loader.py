"""From batches of the log and from snapshots to images: what is published when, and metadata transactions (KIP-868).

Records between BeginTransaction and EndTransaction take effect together, at the end; after AbortTransaction they never
were. While a transaction is open the image stays what it was before its begin. An image that was published in the
middle of a batch, because a transaction begins there, is not one to make a snapshot of.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.errors import ReplayError
from barnabas.metadata.framing import MetadataBatch, decode_record
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.partition_bytes import PartitionReader
from barnabas.protocol.metadata_records.abort_transaction import AbortTransactionRecord
from barnabas.protocol.metadata_records.begin_transaction import BeginTransactionRecord
from barnabas.protocol.metadata_records.end_transaction import EndTransactionRecord
from barnabas.protocol.schema import Message

TRANSACTION_RECORDS: tuple[type[Message], ...] = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)


class Published(NamedTuple):
    """A new image, how it differs from the one before, and the `size_bytes` of log that made the difference."""

    delta: MetadataDelta
    image: MetadataImage
    size_bytes: int


class SnapshotLoad:
    """The image of a snapshot on its way: some records at a time, so that others get their turn in between.

    The records come as they are written (`framing.read_values`).
    """

    def __init__(self, values: Iterable[bytes | None], provenance: Provenance) -> None:
        self._values = iter(values)
        self._provenance = provenance
        self._delta = MetadataDelta(EMPTY_IMAGE)
        self._partitions = PartitionReader(self._delta.topics)

    def load_piece(self, records_max: int) -> MetadataImage | None:
        """Take in some more records; the image once there are no more."""
        piece = list(islice(self._values, records_max))
        self._take(piece)
        return self._delta.apply(self._provenance) if len(piece) < records_max else None

    def load(self) -> MetadataImage:
        """Take in all the rest."""
        self._take(self._values)
        return self._delta.apply(self._provenance)

    def _take(self, values: Iterable[bytes | None]) -> None:
        for value in self._partitions.take(values):
            self._delta.replay(decode_record(value).message)


class MetadataLoader:
    """Follows the committed log. `image` is the latest one published, or that of a snapshot."""

    def __init__(self, image: MetadataImage = EMPTY_IMAGE) -> None:
        self.adopt(image)

    def adopt(self, image: MetadataImage) -> None:
        """Go on from this image: what was before it, an open transaction too, counts no more."""
        self.image = image
        self.is_in_transaction = False
        self._delta = MetadataDelta(image)
        self._at = image.provenance
        self._size_bytes = 0

    def load(self, batches: Iterable[MetadataBatch]) -> list[Published]:
        """Take in committed batches, and publish once what they change; more often where transactions begin."""
        published = []
        for batch in batches:
            published += self._load_batch(batch)
        if self._at != self.image.provenance and not self.is_in_transaction:
            published.append(self._publish(is_batch_aligned=True))
        return published

    def _load_batch(self, batch: MetadataBatch) -> list[Published]:
        published = []
        for offset, record in enumerate(batch.records, batch.base_offset):
            message = record.message
            try:
                if isinstance(message, BeginTransactionRecord):
                    self._check_transaction(False, message)
                    is_first = offset == batch.base_offset
                    if self._at != self.image.provenance:
                        published.append(self._publish(is_batch_aligned=is_first))
                    self.is_in_transaction = True
                elif isinstance(message, EndTransactionRecord):
                    self._check_transaction(True, message)
                    self.is_in_transaction = False
                elif isinstance(message, AbortTransactionRecord):
                    self._check_transaction(True, message)
                    self.is_in_transaction = False
                    self._delta = MetadataDelta(self.image)
                else:
                    self._delta.replay(message)
            except ReplayError as error:
                raise ReplayError(f"at offset {offset} of the metadata log: {error}") from error
            self._at = Provenance(offset, batch.epoch, batch.timestamp_ms)
        self._at = Provenance(batch.last_offset, batch.epoch, batch.timestamp_ms)
        self._size_bytes += batch.size_bytes
        return published

    def _check_transaction(self, is_expected: bool, record: Message) -> None:
        if self.is_in_transaction != is_expected:
            raise ReplayError(f"{type(record).__name__} {'outside' if is_expected else 'inside'} a transaction")

    def _publish(self, *, is_batch_aligned: bool) -> Published:
        delta = self._delta
        image = delta.apply(self._at._replace(is_batch_aligned=is_batch_aligned))
        published = Published(delta, image, self._size_bytes)
        self.adopt(image)
        return published

"""The metadata after some offset, as the controller knows it: an image, and where brokers' registrations are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage, Provenance
from barnabas.metadata.loader import TRANSACTION_RECORDS
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.metadata_records.unregister_broker import UnregisterBrokerRecord
from barnabas.protocol.schema import Message


@dataclass(frozen=True, slots=True)
class ControllerState:
    """A value; replaying records gives the next one. A broker may be unfenced once it has seen its registration."""

    image: MetadataImage = EMPTY_IMAGE
    registration_offsets: SortedMap[int, int] = field(default_factory=SortedMap)

    @property
    def last_offset(self) -> int:
        return self.image.provenance.last_contained_offset

    def replayed(self, records: Iterable[Message], base_offset: int, epoch: int, now_ms: int) -> ControllerState:
        """With the records of one decision, which holds whole transactions or none."""
        delta = MetadataDelta(self.image)
        offsets: dict[int, int | None] = {}
        offset = base_offset - 1
        for offset, record in enumerate(records, base_offset):
            if isinstance(record, TRANSACTION_RECORDS):
                continue
            delta.replay(record)
            if isinstance(record, RegisterBrokerRecord):
                offsets[record.broker_id] = offset
            elif isinstance(record, UnregisterBrokerRecord):
                offsets[record.broker_id] = None
        image = delta.apply(Provenance(offset, epoch, now_ms))
        return ControllerState(image, self.registration_offsets.updated(offsets))

    def committed(self, image: MetadataImage) -> ControllerState:
        """The state of another image of the committed log. Its end is past every registration that is new in it."""
        was, brokers = self.image.cluster.brokers, image.cluster.brokers
        if was is brokers:
            return ControllerState(image, self.registration_offsets)
        offsets: dict[int, int | None] = {broker_id: None for broker_id in was if broker_id not in brokers}
        for broker_id, broker in brokers.entries():
            known = was.get(broker_id)
            if known is None or known.epoch != broker.epoch:
                offsets[broker_id] = image.provenance.last_contained_offset
        return ControllerState(image, self.registration_offsets.updated(offsets))

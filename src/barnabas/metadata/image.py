"""The metadata of the cluster at one offset of its log, as a value; and the records that say all of it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from barnabas.metadata.access import AccessControlEntry, DelegationToken, ScramCredential, ScramUser
from barnabas.metadata.cluster import ClusterImage
from barnabas.metadata.configs import ClientQuotas, Configs, client_quota_records, config_records
from barnabas.metadata.errors import UnwritableMetadataError
from barnabas.metadata.finalized_features import FeaturesImage
from barnabas.metadata.framing import VersionedRecord
from barnabas.metadata.partition_bytes import topic_values
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.topics import TopicsImage
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.framed_record import encode_framed
from barnabas.protocol.metadata_records.producer_ids import ProducerIdsRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

NO_PRODUCER_IDS: Final = -1
# A snapshot tells the next producer id, not who was given the ids before it.
NO_BROKER: Final = -1


class Provenance(NamedTuple):
    """How far into the log an image goes. A snapshot is made only where a batch ends."""

    last_contained_offset: int = -1
    last_contained_epoch: int = -1
    last_contained_log_time_ms: int = -1
    is_batch_aligned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataImage:
    provenance: Provenance = field(default_factory=Provenance)
    features: FeaturesImage = field(default_factory=FeaturesImage)
    cluster: ClusterImage = field(default_factory=ClusterImage)
    topics: TopicsImage = field(default_factory=TopicsImage)
    configs: Configs = field(default_factory=SortedMap)
    client_quotas: ClientQuotas = field(default_factory=SortedMap)
    next_producer_id: int = NO_PRODUCER_IDS
    acls: SortedMap[Uuid, AccessControlEntry] = field(default_factory=SortedMap)
    scram: SortedMap[ScramUser, ScramCredential] = field(default_factory=SortedMap)
    delegation_tokens: SortedMap[str, DelegationToken] = field(default_factory=SortedMap)

    def records(self, version: MetadataVersion | None = None) -> Iterator[VersionedRecord]:
        """The snapshot of this image at its own `metadata.version` or at another one.

        UnwritableMetadataError where something would be lost. Eligible leader replicas are left out where that feature
        is not enabled, as in Kafka.
        """
        version = version or self._level()
        topics = self.topics.records(version, is_elr_enabled=self.features.is_elr_enabled)
        for message in chain(self._before_topics(version), topics, self._behind_topics()):
            yield VersionedRecord(message, version.record_version(message))

    def values(self) -> Iterator[bytes]:
        """The snapshot of this image at its own `metadata.version`, each record as it is written."""
        version = self._level()
        for message in self._before_topics(version):
            yield encode_framed(message, version.record_version(message))
        yield from topic_values(self.topics, version, is_elr_enabled=self.features.is_elr_enabled)
        for message in self._behind_topics():
            yield encode_framed(message, version.record_version(message))

    def _level(self) -> MetadataVersion:
        version = self.features.metadata_version
        if version is None:
            raise UnwritableMetadataError("an image without a metadata.version cannot be written")
        return version

    def _before_topics(self, version: MetadataVersion) -> Iterator[Message]:
        yield from self.features.records(version)
        yield from self.cluster.records(version)

    def _behind_topics(self) -> Iterator[Message]:
        yield from config_records(self.configs)
        yield from client_quota_records(self.client_quotas)
        if self.next_producer_id != NO_PRODUCER_IDS:
            yield ProducerIdsRecord(broker_id=NO_BROKER, broker_epoch=-1, next_producer_id=self.next_producer_id)
        for entry_id, entry in self.acls.entries():
            yield entry.record(entry_id)
        for user, credential in self.scram.entries():
            yield credential.record(user)
        for token_id, token in self.delegation_tokens.entries():
            yield token.record(token_id)


EMPTY_IMAGE: Final = MetadataImage()

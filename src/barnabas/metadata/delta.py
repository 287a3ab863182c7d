"""What records change about an image: each is replayed through one table, by its class, and all are applied at once.

Those who follow the metadata are given the delta beside the image that came of it: the delta says what to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.metadata.access import AccessControlEntry, DelegationToken, ScramCredential, ScramUser
from barnabas.metadata.cluster import ClusterDelta
from barnabas.metadata.configs import ConfigResource, ConfigResourceType, set_client_quota, set_config
from barnabas.metadata.errors import ReplayError
from barnabas.metadata.finalized_features import FeaturesDelta
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.map_delta import MapDelta, NestedMapDelta
from barnabas.metadata.topics import TopicsDelta
from barnabas.protocol.metadata_records.access_control_entry import AccessControlEntryRecord
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.delegation_token import DelegationTokenRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.fence_broker import FenceBrokerRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.producer_ids import ProducerIdsRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.metadata_records.register_controller import RegisterControllerRecord
from barnabas.protocol.metadata_records.remove_access_control_entry import RemoveAccessControlEntryRecord
from barnabas.protocol.metadata_records.remove_delegation_token import RemoveDelegationTokenRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.metadata_records.unfence_broker import UnfenceBrokerRecord
from barnabas.protocol.metadata_records.unregister_broker import UnregisterBrokerRecord
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.metadata_records.zk_migration_state import ZkMigrationStateRecord
from barnabas.protocol.schema import Message


class MetadataDelta:
    """Changes to an image, by its parts. A part without changes is the same object in the image that comes of it."""

    __slots__ = (
        "acls",
        "base",
        "client_quotas",
        "cluster",
        "configs",
        "delegation_tokens",
        "features",
        "next_producer_id",
        "scram",
        "topics",
    )

    def __init__(self, base: MetadataImage) -> None:
        self.base = base
        self.features = FeaturesDelta(base.features)
        self.cluster = ClusterDelta(base.cluster)
        self.topics = TopicsDelta(base.topics)
        self.configs = NestedMapDelta(base.configs)
        self.client_quotas = NestedMapDelta(base.client_quotas)
        self.next_producer_id: int | None = None
        self.acls = MapDelta(base.acls)
        self.scram = MapDelta(base.scram)
        self.delegation_tokens = MapDelta(base.delegation_tokens)

    @classmethod
    def between(cls, base: MetadataImage, image: MetadataImage) -> MetadataDelta:
        """How an image differs from another one; what is the same in both is no change."""
        delta = cls(base)
        delta.features = FeaturesDelta.between(base.features, image.features)
        delta.cluster = ClusterDelta.between(base.cluster, image.cluster)
        delta.topics = TopicsDelta.between(base.topics, image.topics)
        delta.configs = NestedMapDelta.between(base.configs, image.configs)
        delta.client_quotas = NestedMapDelta.between(base.client_quotas, image.client_quotas)
        if image.next_producer_id != base.next_producer_id:
            delta.next_producer_id = image.next_producer_id
        delta.acls = MapDelta.between(base.acls, image.acls)
        delta.scram = MapDelta.between(base.scram, image.scram)
        delta.delegation_tokens = MapDelta.between(base.delegation_tokens, image.delegation_tokens)
        return delta

    def replay(self, record: Message) -> None:
        """Take in one record; ReplayError where it does not fit. Transactions are the loader's."""
        replay = REPLAY.get(type(record))
        if replay is None:
            raise ReplayError(f"{type(record).__name__} does not change an image")
        replay(self, record)

    def apply(self, provenance: Provenance) -> MetadataImage:
        """The image with the changes made; the base and the delta stay as they are."""
        base = self.base
        return MetadataImage(
            provenance=provenance,
            features=self.features.apply(),
            cluster=self.cluster.apply(),
            topics=self.topics.apply(),
            configs=self.configs.apply(),
            client_quotas=self.client_quotas.apply(),
            next_producer_id=base.next_producer_id if self.next_producer_id is None else self.next_producer_id,
            acls=self.acls.apply(),
            scram=self.scram.apply(),
            delegation_tokens=self.delegation_tokens.apply(),
        )


def _remove_topic(delta: MetadataDelta, record: RemoveTopicRecord) -> None:
    name = delta.topics.remove_topic(record)
    delta.configs.remove_all(ConfigResource(ConfigResourceType.TOPIC, name))


def _set_next_producer_id(delta: MetadataDelta, record: ProducerIdsRecord) -> None:
    delta.next_producer_id = record.next_producer_id


def _add_acl(delta: MetadataDelta, record: AccessControlEntryRecord) -> None:
    delta.acls.put(record.id, AccessControlEntry.of(record))


def _remove_acl(delta: MetadataDelta, record: RemoveAccessControlEntryRecord) -> None:
    if delta.acls.get(record.id) is None:
        raise ReplayError(f"the access control entry {record.id} is removed but not there")
    delta.acls.remove(record.id)


def _store_credential(delta: MetadataDelta, record: UserScramCredentialRecord) -> None:
    delta.scram.put(ScramUser(record.mechanism, record.name), ScramCredential.of(record))


def _remove_credential(delta: MetadataDelta, record: RemoveUserScramCredentialRecord) -> None:
    delta.scram.remove(ScramUser(record.mechanism, record.name))


def _store_token(delta: MetadataDelta, record: DelegationTokenRecord) -> None:
    delta.delegation_tokens.put(record.token_id, DelegationToken.of(record))


def _ignore(_delta: MetadataDelta, _record: Message) -> None:
    """A record that moves the log's end and nothing else, or tells of a migration that is over since Kafka 4.0."""


# Every record that changes an image. The functions take the class that they stand behind.
REPLAY: Final[Mapping[type[Message], Callable[[MetadataDelta, Any], object]]] = {
    FeatureLevelRecord: lambda delta, record: delta.features.set_level(record),
    RegisterBrokerRecord: lambda delta, record: delta.cluster.register_broker(record),
    UnregisterBrokerRecord: lambda delta, record: delta.cluster.unregister_broker(record),
    BrokerRegistrationChangeRecord: lambda delta, record: delta.cluster.change_broker(record),
    FenceBrokerRecord: lambda delta, record: delta.cluster.fence_broker(record),
    UnfenceBrokerRecord: lambda delta, record: delta.cluster.unfence_broker(record),
    RegisterControllerRecord: lambda delta, record: delta.cluster.register_controller(record),
    TopicRecord: lambda delta, record: delta.topics.create_topic(record),
    PartitionRecord: lambda delta, record: delta.topics.set_partition(record),
    PartitionChangeRecord: lambda delta, record: delta.topics.change_partition(record),
    ClearElrRecord: lambda delta, record: delta.topics.clear_elr(record),
    RemoveTopicRecord: _remove_topic,
    ConfigRecord: lambda delta, record: set_config(delta.configs, record),
    ClientQuotaRecord: lambda delta, record: set_client_quota(delta.client_quotas, record),
    ProducerIdsRecord: _set_next_producer_id,
    AccessControlEntryRecord: _add_acl,
    RemoveAccessControlEntryRecord: _remove_acl,
    UserScramCredentialRecord: _store_credential,
    RemoveUserScramCredentialRecord: _remove_credential,
    DelegationTokenRecord: _store_token,
    RemoveDelegationTokenRecord: lambda delta, record: delta.delegation_tokens.remove(record.token_id),
    NoOpRecord: _ignore,
    ZkMigrationStateRecord: _ignore,
}

"""Dynamic settings by resource, and client quotas by entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from barnabas.metadata.map_delta import NestedMapDelta
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.schema import Message

# The types of those who have quotas.
USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"


class ConfigResourceType(IntEnum):
    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32

    @classmethod
    def _missing_(cls, _value: object) -> ConfigResourceType:
        return cls.UNKNOWN


class ConfigResource(NamedTuple):
    """What a setting is of. A broker without a name stands for the default of all of them."""

    type: ConfigResourceType
    name: str


class QuotaEntityPart(NamedTuple):
    """A user, client id or address. The default of its type has no name, which is not the same as an empty one."""

    type: str
    is_default: bool
    name: str

    @classmethod
    def of(cls, data: EntityData) -> QuotaEntityPart:
        return cls(data.entity_type, data.entity_name is None, data.entity_name or "")

    def data(self) -> EntityData:
        return EntityData(entity_type=self.type, entity_name=None if self.is_default else self.name)


QuotaEntity = tuple[QuotaEntityPart, ...]
Configs = SortedMap[ConfigResource, SortedMap[str, str]]
ClientQuotas = SortedMap[QuotaEntity, SortedMap[str, float]]


def quota_entity(parts: Iterable[EntityData]) -> QuotaEntity:
    """An entity, whose parts are of different types, in one order whatever order they were given in."""
    by_type = {data.entity_type: QuotaEntityPart.of(data) for data in parts}
    return tuple(by_type[name] for name in sorted(by_type))


def set_config(configs: NestedMapDelta[ConfigResource, str], record: ConfigRecord) -> None:
    resource = ConfigResource(ConfigResourceType(record.resource_type), record.resource_name)
    if record.value is None:
        configs.remove(resource, record.name)
    else:
        configs.put(resource, record.name, record.value)


def set_client_quota(quotas: NestedMapDelta[QuotaEntity, float], record: ClientQuotaRecord) -> None:
    entity = quota_entity(record.entity)
    if record.remove:
        quotas.remove(entity, record.key)
    else:
        quotas.put(entity, record.key, record.value)


def config_records(configs: Configs) -> Iterator[Message]:
    for resource, settings in configs.entries():
        for name, value in settings.entries():
            yield ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)


def client_quota_records(quotas: ClientQuotas) -> Iterator[Message]:
    for entity, values in quotas.entries():
        for key, value in values.entries():
            yield ClientQuotaRecord(entity=[part.data() for part in entity], key=key, value=value, remove=False)

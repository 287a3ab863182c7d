"""Dynamic settings by resource, and client quotas by entity: maps of maps, of which the inner ones are never empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from barnabas.metadata.map_delta import MapDelta
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.schema import Message

K = TypeVar("K", bound=Any)
V = TypeVar("V")


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


def set_config(configs: MapDelta[ConfigResource, SortedMap[str, str]], record: ConfigRecord) -> None:
    resource = ConfigResource(ConfigResourceType(record.resource_type), record.resource_name)
    _set(configs, resource, record.name, record.value)


def set_client_quota(quotas: MapDelta[QuotaEntity, SortedMap[str, float]], record: ClientQuotaRecord) -> None:
    _set(quotas, quota_entity(record.entity), record.key, None if record.remove else record.value)


def _set(outer: MapDelta[K, SortedMap[str, V]], key: K, name: str, value: V | None) -> None:
    inner = (outer.get(key) or SortedMap()).updated({name: value})
    if inner:
        outer.put(key, inner)
    else:
        outer.remove(key)


def config_records(configs: Configs) -> Iterator[Message]:
    for resource, settings in configs.entries():
        for name, value in settings.entries():
            yield ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)


def client_quota_records(quotas: ClientQuotas) -> Iterator[Message]:
    for entity, values in quotas.entries():
        for key, value in values.entries():
            yield ClientQuotaRecord(entity=[part.data() for part in entity], key=key, value=value, remove=False)

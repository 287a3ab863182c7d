"""The nodes of the cluster: brokers and controllers as they registered, and what changed about brokers since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from barnabas.metadata.errors import ReplayError, UnwritableMetadataError
from barnabas.metadata.map_delta import MapDelta
from barnabas.metadata.sorted_map import SortedMap
from barnabas.metadata.versions import MetadataVersion
from barnabas.protocol.metadata_records import register_broker, register_controller
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.fence_broker import FenceBrokerRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.metadata_records.register_controller import RegisterControllerRecord
from barnabas.protocol.metadata_records.unfence_broker import UnfenceBrokerRecord
from barnabas.protocol.metadata_records.unregister_broker import UnregisterBrokerRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange

# What the changes in a BrokerRegistrationChangeRecord mean by their numbers; None leaves the broker as it is.
_FENCING: Final = {1: True, 0: None, -1: False}
_CONTROLLED_SHUTDOWN: Final = {1: True, 0: None}
_SIGNED_HALVES: Final = Struct(">qq")


class SecurityProtocol(IntEnum):
    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


class Endpoint(NamedTuple):
    """Where a node listens, under the name of a listener."""

    host: str
    port: int
    security_protocol: SecurityProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistration:
    """A broker. Directories are in Kafka's order of ids; cordoned ones are None until the broker has told them."""

    id: int
    epoch: int
    incarnation_id: Uuid
    endpoints: SortedMap[str, Endpoint]
    supported_features: SortedMap[str, VersionRange]
    rack: str | None = None
    is_fenced: bool = True
    is_in_controlled_shutdown: bool = False
    is_migrating_zk_broker: bool = False
    directories: tuple[Uuid, ...] = ()
    cordoned_directories: tuple[Uuid, ...] | None = None

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> BrokerRegistration:
        cordoned = record.cordoned_log_dirs
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            endpoints=_endpoints(record.end_points),
            supported_features=_features(record.features),
            rack=record.rack,
            is_fenced=record.fenced,
            is_in_controlled_shutdown=record.in_controlled_shutdown,
            is_migrating_zk_broker=record.is_migrating_zk_broker,
            directories=_in_order(record.log_dirs),
            cordoned_directories=None if cordoned is None else tuple(cordoned),
        )

    def record(self, version: MetadataVersion) -> RegisterBrokerRecord:
        cordoned = self.cordoned_directories
        if cordoned is not None and not version.has_cordoned_log_dirs:
            raise UnwritableMetadataError(
                f"the cordoned log directories of broker {self.id} cannot be written at metadata.version {version}"
            )
        return RegisterBrokerRecord(
            broker_id=self.id,
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=[
                register_broker.BrokerEndpoint(
                    name=name, host=at.host, port=at.port, security_protocol=at.security_protocol
                )
                for name, at in self.endpoints.entries()
            ],
            features=[
                register_broker.BrokerFeature(
                    name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest
                )
                for name, levels in self.supported_features.entries()
            ],
            rack=self.rack,
            fenced=self.is_fenced,
            in_controlled_shutdown=self.is_in_controlled_shutdown,
            log_dirs=list(self.directories),
            cordoned_log_dirs=None if cordoned is None else list(cordoned),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRegistration:
    id: int
    incarnation_id: Uuid
    is_zk_migration_ready: bool
    endpoints: SortedMap[str, Endpoint]
    supported_features: SortedMap[str, VersionRange]

    @classmethod
    def of(cls, record: RegisterControllerRecord) -> ControllerRegistration:
        return cls(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            is_zk_migration_ready=record.zk_migration_ready,
            endpoints=_endpoints(record.end_points),
            supported_features=_features(record.features),
        )

    def record(self) -> RegisterControllerRecord:
        return RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.is_zk_migration_ready,
            end_points=[
                register_controller.ControllerEndpoint(
                    name=name, host=at.host, port=at.port, security_protocol=at.security_protocol
                )
                for name, at in self.endpoints.entries()
            ],
            features=[
                register_controller.ControllerFeature(
                    name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest
                )
                for name, levels in self.supported_features.entries()
            ],
        )


@dataclass(frozen=True, slots=True)
class ClusterImage:
    brokers: SortedMap[int, BrokerRegistration] = field(default_factory=SortedMap)
    controllers: SortedMap[int, ControllerRegistration] = field(default_factory=SortedMap)

    def records(self, version: MetadataVersion) -> Iterator[Message]:
        for broker in self.brokers.contents():
            yield broker.record(version)
        for controller in self.controllers.contents():
            yield controller.record()


class ClusterDelta:
    __slots__ = ("base", "brokers", "controllers")

    def __init__(self, base: ClusterImage) -> None:
        self.base = base
        self.brokers = MapDelta(base.brokers)
        self.controllers = MapDelta(base.controllers)

    @classmethod
    def between(cls, base: ClusterImage, image: ClusterImage) -> ClusterDelta:
        delta = cls(base)
        delta.brokers = MapDelta.between(base.brokers, image.brokers)
        delta.controllers = MapDelta.between(base.controllers, image.controllers)
        return delta

    def register_broker(self, record: RegisterBrokerRecord) -> None:
        self.brokers.put(record.broker_id, BrokerRegistration.of(record))

    def unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self.brokers.remove(record.broker_id)

    def register_controller(self, record: RegisterControllerRecord) -> None:
        self.controllers.put(record.controller_id, ControllerRegistration.of(record))

    def fence_broker(self, record: FenceBrokerRecord) -> None:
        broker = self._broker(record.id, record.epoch)
        self.brokers.put(broker.id, replace(broker, is_fenced=True))

    def unfence_broker(self, record: UnfenceBrokerRecord) -> None:
        broker = self._broker(record.id, record.epoch)
        self.brokers.put(broker.id, replace(broker, is_fenced=False))

    def change_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        if record.fenced not in _FENCING or record.in_controlled_shutdown not in _CONTROLLED_SHUTDOWN:
            raise ReplayError(f"a change of broker {broker.id} that is not known: {record}")
        is_fenced = _FENCING[record.fenced]
        is_shutting_down = _CONTROLLED_SHUTDOWN[record.in_controlled_shutdown]
        cordoned = record.cordoned_log_dirs
        changed = replace(
            broker,
            is_fenced=broker.is_fenced if is_fenced is None else is_fenced,
            is_in_controlled_shutdown=broker.is_in_controlled_shutdown
            if is_shutting_down is None
            else is_shutting_down,
            directories=_in_order(record.log_dirs) if record.log_dirs else broker.directories,
            cordoned_directories=broker.cordoned_directories if cordoned is None else tuple(cordoned),
        )
        if changed != broker:
            self.brokers.put(broker.id, changed)

    def _broker(self, broker_id: int, epoch: int) -> BrokerRegistration:
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise ReplayError(f"broker {broker_id} is changed but not registered")
        if broker.epoch != epoch:
            raise ReplayError(f"broker {broker_id} is changed in epoch {epoch} but registered in {broker.epoch}")
        return broker

    def apply(self) -> ClusterImage:
        if not self.brokers.changes and not self.controllers.changes:
            return self.base
        return ClusterImage(self.brokers.apply(), self.controllers.apply())


def _endpoints(
    declared: Iterable[register_broker.BrokerEndpoint | register_controller.ControllerEndpoint],
) -> SortedMap[str, Endpoint]:
    try:
        return SortedMap(
            (at.name, Endpoint(at.host, at.port, SecurityProtocol(at.security_protocol))) for at in declared
        )
    except ValueError as error:
        raise ReplayError(f"an endpoint with a security protocol that is not known: {error}") from None


def _features(
    declared: Iterable[register_broker.BrokerFeature | register_controller.ControllerFeature],
) -> SortedMap[str, VersionRange]:
    return SortedMap(
        (feature.name, VersionRange(feature.min_supported_version, feature.max_supported_version))
        for feature in declared
    )


def _in_order(directories: Iterable[Uuid]) -> tuple[Uuid, ...]:
    """Sorted as Kafka sorts ids: by their halves, which it takes for signed numbers."""
    return tuple(sorted(directories, key=_SIGNED_HALVES.unpack))

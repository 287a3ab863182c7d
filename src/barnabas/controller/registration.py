"""BrokerRegistration, UnregisterBroker and ControllerRegistration: who belongs to the cluster.

A registration is written last of all its records: should the controller fail before, the broker registers again. The
epoch of a broker is the offset at which the log ended when its incarnation registered.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller import fencing
from barnabas.controller.brokers import is_reserved_directory
from barnabas.controller.contacts import BrokerContact
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    BrokerIdNotRegistered,
    DuplicateBrokerRegistration,
    InconsistentClusterId,
    InvalidRegistration,
    UnsupportedVersion,
)
from barnabas.controller.planner import PartitionPlanner
from barnabas.controller.small_segments import check_registration
from barnabas.metadata.cluster import BrokerRegistration, SecurityProtocol
from barnabas.metadata.features import KRAFT_VERSION
from barnabas.metadata.versions import METADATA_VERSION
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Listener,
)
from barnabas.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from barnabas.protocol.messages.controller_registration import Listener as ControllerListener
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.metadata_records.register_broker import BrokerEndpoint, BrokerFeature, RegisterBrokerRecord
from barnabas.protocol.metadata_records.register_controller import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from barnabas.protocol.metadata_records.unregister_broker import UnregisterBrokerRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange
from barnabas.security.acls import AclOperation

NOT_SUPPORTED = VersionRange(0, 0)
# From this version on a broker tells the epoch in which it last stopped cleanly.
TELLS_PREVIOUS_EPOCH = 3


def register_broker(situation: Situation, request: BrokerRegistrationRequest, context: RequestContext) -> Decision:
    """Take a broker in, fenced until it has caught up with its own registration."""
    cluster_id = situation.settings.cluster_id
    if request.cluster_id != cluster_id:
        raise InconsistentClusterId(f"this is cluster {cluster_id}, not {request.cluster_id}")
    existing = situation.image.cluster.brokers.get(request.broker_id)
    is_same = existing is not None and existing.incarnation_id == request.incarnation_id
    if existing is not None and not is_same:
        _check_replaceable(situation, existing)
    if request.is_migrating_zk_broker:
        raise BrokerIdNotRegistered("brokers that migrate from ZooKeeper are no longer taken in")
    _check_directories(situation, request.broker_id, request.log_dirs)
    _check_listeners(request.listeners)
    _check_features(situation, request)

    records: list[Message] = []
    if not is_same:
        stored_epoch = None if existing is None else existing.epoch
        is_clean = context.version >= TELLS_PREVIOUS_EPOCH and request.previous_broker_epoch == stored_epoch
        records += fencing.end_incarnation(situation, request.broker_id, is_clean=is_clean)
    epoch = existing.epoch if existing is not None and is_same else situation.next_offset
    records.append(
        RegisterBrokerRecord(
            broker_id=request.broker_id,
            incarnation_id=request.incarnation_id,
            broker_epoch=epoch,
            end_points=[
                BrokerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
                for at in request.listeners
            ],
            features=[
                BrokerFeature(
                    name=feature.name,
                    min_supported_version=feature.min_supported_version,
                    max_supported_version=feature.max_supported_version,
                )
                for feature in request.features
            ],
            rack=request.rack,
            fenced=existing.is_fenced if existing is not None and is_same else True,
            in_controlled_shutdown=existing.is_in_controlled_shutdown if existing is not None and is_same else False,
            log_dirs=list(request.log_dirs),
        )
    )
    contact = situation.contacts.get(request.broker_id)
    return Decision(
        BrokerRegistrationResponse(throttle_time_ms=0, error_code=0, broker_epoch=epoch),
        records,
        contacts={} if is_same and contact is not None else {request.broker_id: BrokerContact(epoch)},
    )


def _check_replaceable(situation: Situation, existing: BrokerRegistration) -> None:
    contact = situation.contacts.get(existing.id)
    is_alive = contact is not None and contact.epoch == existing.epoch
    timeout_ms = situation.settings.broker_session_timeout_ms
    if contact is not None and is_alive and contact.has_session(situation.now_ms, timeout_ms):
        raise DuplicateBrokerRegistration(
            f"another broker with id {existing.id} was heard of less than {timeout_ms} ms ago; if it is the one that "
            "is starting again, its session will run out by itself"
        )


def _check_directories(situation: Situation, broker_id: int, directories: list[Uuid]) -> None:
    if not directories:
        raise InvalidRegistration("a broker registers with the ids of its log directories, and there are none")
    if len(set(directories)) < len(directories):
        raise InvalidRegistration("a log directory is named twice")
    for directory in directories:
        if is_reserved_directory(directory):
            raise InvalidRegistration(f"the directory id {directory} is reserved")
    for broker in situation.image.cluster.brokers.contents():
        taken = set(directories) & set(broker.directories)
        if broker.id != broker_id and taken:
            raise InvalidRegistration(f"broker {broker.id} is already registered with directory {min(taken)}")


def _check_listeners(listeners: list[Listener] | list[ControllerListener]) -> None:
    known = {int(protocol) for protocol in SecurityProtocol}
    for listener in listeners:
        if listener.security_protocol not in known:
            raise InvalidRegistration(f"listener {listener.name} has no security protocol of Kafka's")


def _check_features(situation: Situation, request: BrokerRegistrationRequest) -> None:
    """Every finalized feature has to be one that the broker supports at that level."""
    supported = {
        feature.name: VersionRange(feature.min_supported_version, feature.max_supported_version)
        for feature in request.features
    }
    if METADATA_VERSION not in supported:
        raise InvalidRegistration(f"the broker does not say which {METADATA_VERSION} it supports")
    for name, level in _finalized(situation).items():
        levels = supported.get(name, NOT_SUPPORTED)
        if level and level not in levels:
            raise UnsupportedVersion(
                f"broker {request.broker_id} supports {name} {levels}, but the cluster is at level {level}"
            )
    check_registration(situation.image, supported)


def _finalized(situation: Situation) -> Mapping[str, int]:
    levels = dict(situation.image.features.levels.entries())
    return {
        METADATA_VERSION: int(situation.metadata_version),
        **levels,
        KRAFT_VERSION: situation.kraft_version,
    }


def unregister_broker(situation: Situation, request: UnregisterBrokerRequest, _context: RequestContext) -> Decision:
    """Forget a broker. One that is alive is told so by its next heartbeat."""
    broker = situation.image.cluster.brokers.get(request.broker_id)
    if broker is None:
        raise BrokerIdNotRegistered(f"broker {request.broker_id} is not registered")
    planner = PartitionPlanner(situation.image, situation.settings, leaving={broker.id})
    planner.take_out(broker.id, planner.select(lambda partition: broker.id in partition.isr))
    return Decision(
        UnregisterBrokerResponse(throttle_time_ms=0, error_code=0, error_message=None),
        [*planner.records, UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch)],
        contacts={broker.id: None},
    )


def register_controller(
    _situation: Situation, request: ControllerRegistrationRequest, _context: RequestContext
) -> Decision:
    """Every controller, active or not, tells where it listens and which features it knows."""
    _check_listeners(request.listeners)
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=request.zk_migration_ready,
        end_points=[
            ControllerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
            for at in request.listeners
        ],
        features=[
            ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
    )
    return Decision(ControllerRegistrationResponse(throttle_time_ms=0, error_code=0, error_message=None), [record])


def _refuse_broker(_request: BrokerRegistrationRequest, error: ApiError, _version: int) -> Message:
    return BrokerRegistrationResponse(throttle_time_ms=0, error_code=error.code)


def _refuse_unregistration(_request: UnregisterBrokerRequest, error: ApiError, _version: int) -> Message:
    return UnregisterBrokerResponse(throttle_time_ms=0, error_code=error.code, error_message=str(error))


def _refuse_controller(_request: ControllerRegistrationRequest, error: ApiError, _version: int) -> Message:
    return ControllerRegistrationResponse(throttle_time_ms=0, error_code=error.code, error_message=str(error))


OPERATIONS: Mapping[type[Message], Operation] = {
    BrokerRegistrationRequest: Operation(register_broker, _refuse_broker, needs=AclOperation.CLUSTER_ACTION),
    UnregisterBrokerRequest: Operation(unregister_broker, _refuse_unregistration, needs=AclOperation.ALTER),
    ControllerRegistrationRequest: Operation(
        register_controller, _refuse_controller, needs=AclOperation.CLUSTER_ACTION
    ),
}

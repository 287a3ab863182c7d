"""BrokerHeartbeat: a broker says that it lives and what it wants, and is told what it may do.

    fenced --caught up--> unfenced --wants to stop--> in controlled shutdown --nothing left to give away--> may stop

A broker that wants fencing, or whose session runs out, is fenced from wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from barnabas.controller import fencing
from barnabas.controller.brokers import check_broker_epoch
from barnabas.controller.contacts import BrokerContact
from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.planner import PartitionPlanner
from barnabas.metadata.cluster import BrokerRegistration
from barnabas.metadata.topics import Partition
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import AclOperation


class BrokerState(Enum):
    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "in controlled shutdown"
    SHUTDOWN_NOW = "free to stop"


def heartbeat(situation: Situation, request: BrokerHeartbeatRequest, _context: RequestContext) -> Decision:
    """Fence, unfence or release a broker, and take note of directories that failed or were cordoned."""
    broker = check_broker_epoch(situation.image, request.broker_id, request.broker_epoch)
    registered_at = situation.registration_offsets.get(broker.id, broker.epoch)
    is_caught_up = request.current_metadata_offset >= registered_at
    contact = situation.contacts.get(broker.id)
    if contact is None or contact.epoch != broker.epoch:
        contact = BrokerContact(broker.epoch)

    # A directory that failed comes first, or the broker might be given back what it can no longer lead.
    records = _failed_directories(situation, broker, request.offline_log_dirs)
    if situation.metadata_version.has_cordoned_log_dirs and request.cordoned_log_dirs is not None:
        records += _cordoned_directories(broker, request.cordoned_log_dirs)
    situation = situation.after(records)
    broker = situation.image.cluster.brokers[broker.id]
    state = _state(broker, contact)
    following = _next_state(situation, request, contact, state, is_caught_up=is_caught_up)
    if following is not state:
        match following:
            case BrokerState.FENCED | BrokerState.SHUTDOWN_NOW:
                records += [] if broker.is_fenced else fencing.fence(situation, broker).records
            case BrokerState.UNFENCED:
                records += fencing.unfence(situation, broker)
            case BrokerState.CONTROLLED_SHUTDOWN:
                records += fencing.enter_controlled_shutdown(situation, broker)

    is_fenced = following in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)
    return Decision(
        BrokerHeartbeatResponse(
            throttle_time_ms=0,
            error_code=0,
            is_caught_up=is_caught_up,
            is_fenced=is_fenced,
            should_shut_down=following is BrokerState.SHUTDOWN_NOW,
        ),
        records,
        contacts={
            broker.id: BrokerContact(
                broker.epoch,
                heard_ms=situation.now_ms,
                metadata_offset=request.current_metadata_offset,
                shutdown_offset=None if is_fenced else contact.shutdown_offset,
            )
        },
        shutting_down=broker.id if following is BrokerState.CONTROLLED_SHUTDOWN else None,
    )


def _state(broker: BrokerRegistration, contact: BrokerContact) -> BrokerState:
    """A new active controller does not know how far a shutdown was: it begins it again."""
    if broker.is_fenced:
        return BrokerState.FENCED
    return BrokerState.UNFENCED if contact.shutdown_offset is None else BrokerState.CONTROLLED_SHUTDOWN


def _next_state(
    situation: Situation,
    request: BrokerHeartbeatRequest,
    contact: BrokerContact,
    state: BrokerState,
    *,
    is_caught_up: bool,
) -> BrokerState:
    if state is BrokerState.FENCED:
        if request.want_shut_down:
            return BrokerState.SHUTDOWN_NOW
        return BrokerState.UNFENCED if is_caught_up and not request.want_fence else BrokerState.FENCED
    if state is BrokerState.UNFENCED:
        if request.want_fence:
            return BrokerState.SHUTDOWN_NOW if request.want_shut_down else BrokerState.FENCED
        if not request.want_shut_down:
            return BrokerState.UNFENCED
        is_leading = _is_leading(situation, request.broker_id)
        return BrokerState.CONTROLLED_SHUTDOWN if is_leading else BrokerState.SHUTDOWN_NOW
    if _is_leading(situation, request.broker_id):
        return BrokerState.CONTROLLED_SHUTDOWN
    assert contact.shutdown_offset is not None
    # Who has not seen the new leaders yet may still ask this broker.
    has_everyone_seen = contact.shutdown_offset <= _lowest_active_offset(situation)
    return BrokerState.SHUTDOWN_NOW if has_everyone_seen else BrokerState.CONTROLLED_SHUTDOWN


def _is_leading(situation: Situation, broker_id: int) -> bool:
    return any(
        partition.leader == broker_id
        for topic in situation.image.topics.by_id.contents()
        for partition in topic.partitions.contents()
    )


def _lowest_active_offset(situation: Situation) -> float:
    """How far the slowest broker, of those that are alive and stay, has read the metadata."""
    brokers = situation.image.cluster.brokers
    return min(
        (
            contact.metadata_offset
            for broker_id, contact in situation.contacts.items()
            if contact.shutdown_offset is None
            and (broker := brokers.get(broker_id)) is not None
            and not broker.is_fenced
        ),
        default=float("inf"),
    )


def _failed_directories(situation: Situation, broker: BrokerRegistration, offline: Sequence[Uuid]) -> list[Message]:
    """Take the broker out of the ISR of what was in directories that are offline, as of now."""
    failed = set(offline) & set(broker.directories)
    if not failed:
        return []
    planner = PartitionPlanner(situation.image, situation.settings, leaving={broker.id})

    def is_affected(partition: Partition) -> bool:
        return broker.id in partition.replicas and partition.directory(broker.id) in failed

    planner.take_out(broker.id, planner.select(is_affected))
    remaining = [directory for directory in broker.directories if directory not in failed]
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, log_dirs=remaining)
    return [*planner.records, change]


def _cordoned_directories(broker: BrokerRegistration, cordoned: Sequence[Uuid]) -> list[Message]:
    if broker.cordoned_directories is not None and set(cordoned) == set(broker.cordoned_directories):
        return []
    return [
        BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=list(cordoned))
    ]


def _refuse(_request: BrokerHeartbeatRequest, error: ApiError, _version: int) -> Message:
    return BrokerHeartbeatResponse(throttle_time_ms=0, error_code=error.code, should_shut_down=False)


OPERATIONS: Mapping[type[Message], Operation] = {
    BrokerHeartbeatRequest: Operation(heartbeat, _refuse, needs=AclOperation.CLUSTER_ACTION)
}

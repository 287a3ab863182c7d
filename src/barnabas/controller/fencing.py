"""Brokers that come and go: what becomes of the partitions that they lead or are in sync with, in records."""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.controller.contacts import stale_brokers
from barnabas.controller.decision import RECORDS_MAX, Decision, Situation
from barnabas.controller.planner import PartitionPlanner
from barnabas.controller.tasks import Outcome, PeriodicTask
from barnabas.metadata.cluster import BrokerRegistration
from barnabas.metadata.topics import Partition
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.schema import Message

# The numbers of a BrokerRegistrationChangeRecord.
FENCE: Final = 1
UNFENCE: Final = -1
ENTER_CONTROLLED_SHUTDOWN: Final = 1


class Fencing(NamedTuple):
    """`is_complete` where the last of the records fences the broker."""

    records: list[Message]
    is_complete: bool


def fence(situation: Situation, broker: BrokerRegistration, records_max: int | None = None) -> Fencing:
    """First the partitions, then the broker: who fails between the two leaves a broker that is fenced again.

    So does who goes on later, after the most records: no partition has a fenced broker in sync at any time.
    """
    planner = PartitionPlanner(situation.image, situation.settings, leaving={broker.id})
    in_sync = planner.select(lambda partition: broker.id in partition.isr)
    if not planner.take_out(broker.id, in_sync, records_max=records_max):
        return Fencing(planner.records, is_complete=False)
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, fenced=FENCE)
    return Fencing([*planner.records, change], is_complete=True)


def unfence(situation: Situation, broker: BrokerRegistration) -> list[Message]:
    """The broker can lead what has had no leader since it was gone."""
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, fenced=UNFENCE)
    planner = PartitionPlanner(situation.image, situation.settings, coming={broker.id})
    planner.elect_for_leaderless()
    return [change, *planner.records]


def enter_controlled_shutdown(situation: Situation, broker: BrokerRegistration) -> list[Message]:
    """Others take over its leaderships while it still serves those who have not heard."""
    records: list[Message] = []
    if not broker.is_in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(
                broker_id=broker.id, broker_epoch=broker.epoch, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN
            )
        )
    planner = PartitionPlanner(situation.image, situation.settings, leaving={broker.id})
    planner.take_out(broker.id, planner.select(lambda partition: broker.id in partition.isr))
    return [*records, *planner.records]


def end_incarnation(situation: Situation, broker_id: int, *, is_clean: bool) -> list[Message]:
    """A broker starts anew. After an unclean stop it may have lost what it had, so it is eligible for nothing."""
    planner = PartitionPlanner(situation.image, situation.settings, leaving={broker_id})
    is_unclean = situation.image.features.is_elr_enabled and not is_clean

    def is_affected(partition: Partition) -> bool:
        return broker_id in partition.isr or (is_unclean and broker_id in partition.eligible_leader_replicas)

    planner.take_out(broker_id, planner.select(is_affected), is_unclean=is_unclean)
    return planner.records


def fence_stale_broker(situation: Situation) -> Outcome:
    """One broker at a time, so that what its fencing changes is seen before the next one is decided on.

    One that is in sync with very many partitions takes several turns, so that others are answered in between. If it is
    heard of meanwhile, it stays, and joins what it was taken out of again.
    """
    timeout_ms = situation.settings.broker_session_timeout_ms
    stale = stale_brokers(situation.contacts, situation.now_ms, timeout_ms)
    if not stale:
        return Outcome(Decision())
    broker_id = stale[0]
    contact = situation.contacts[broker_id]
    broker = situation.image.cluster.brokers.get(broker_id)
    has_more = len(stale) > 1
    if broker is None or broker.epoch != contact.epoch:
        return Outcome(Decision(contacts={broker_id: None}), has_more)
    records: list[Message] = []
    if not broker.is_fenced:
        records, is_complete = fence(situation, broker, RECORDS_MAX)
        if not is_complete:
            return Outcome(Decision(records=records), has_more=True)
    forgotten = contact._replace(heard_ms=None, shutdown_offset=None)
    return Outcome(Decision(records=records, contacts={broker_id: forgotten}), has_more)


FENCE_STALE_BROKERS = PeriodicTask(
    "fence stale brokers", lambda settings: settings.fencing_check_interval_ms, fence_stale_broker
)

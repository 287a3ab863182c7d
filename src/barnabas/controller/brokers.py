"""What an image says of brokers: who is alive, which directories a broker has, where replicas can go."""

from __future__ import annotations

from barnabas.controller.errors import StaleBrokerEpoch
from barnabas.metadata.cluster import BrokerRegistration
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from barnabas.protocol.uuid import Uuid

# The first hundred ids are kept for such meanings.
_RESERVED_IDS = 100


def is_reserved_directory(directory: Uuid) -> bool:
    return int.from_bytes(directory, "big") < _RESERVED_IDS


def is_active(image: MetadataImage, broker_id: int) -> bool:
    """Whether a broker is there to stay: registered, not fenced, not on its way out."""
    broker = image.cluster.brokers.get(broker_id)
    return broker is not None and not broker.is_fenced and not broker.is_in_controlled_shutdown


def is_online(broker: BrokerRegistration, directory: Uuid) -> bool:
    """Whether a directory works, as far as is known. A replica without one will be given a directory that does."""
    if directory in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY):
        return True
    if directory == LOST_DIRECTORY:
        return False
    return not broker.directories or directory in broker.directories


def has_uncordoned_directory(broker: BrokerRegistration) -> bool:
    """Whether new replicas may go to this broker (KIP-1066)."""
    cordoned = broker.cordoned_directories or ()
    return not broker.directories or any(directory not in cordoned for directory in broker.directories)


def default_directory(image: MetadataImage, broker_id: int) -> Uuid:
    """Where a new replica goes: a broker with one directory has no choice, one with several chooses by itself."""
    broker = image.cluster.brokers.get(broker_id)
    if broker is None:
        return UNASSIGNED_DIRECTORY
    match broker.directories:
        case ():
            return MIGRATING_DIRECTORY
        case (only,):
            return only
        case _:
            return UNASSIGNED_DIRECTORY


def check_broker_epoch(image: MetadataImage, broker_id: int, epoch: int) -> BrokerRegistration:
    """The broker, if it asks in the epoch of its latest registration."""
    broker = image.cluster.brokers.get(broker_id)
    if broker is None:
        raise StaleBrokerEpoch(f"broker {broker_id} is not registered")
    if broker.epoch != epoch:
        raise StaleBrokerEpoch(f"broker {broker_id} is registered in epoch {broker.epoch}, not {epoch}")
    return broker

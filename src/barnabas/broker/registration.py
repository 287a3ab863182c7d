"""What a broker says of itself when it registers: where it listens, which features it serves, where its logs are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.config.listeners import Endpoint
from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from barnabas.protocol.uuid import Uuid
from barnabas.protocol.version_range import VersionRange

# The controller refuses a broker that does not know every feature of its cluster.
BROKER_FEATURES: Final[Mapping[str, VersionRange]] = SUPPORTED_FEATURES


def registration_request(
    *,
    broker_id: int,
    cluster_id: str,
    incarnation_id: Uuid,
    listeners: Iterable[Endpoint],
    rack: str | None,
    directories: Iterable[Uuid],
    previous_broker_epoch: int,
    features: Mapping[str, VersionRange] = BROKER_FEATURES,
) -> BrokerRegistrationRequest:
    """`previous_broker_epoch` is -1 unless the last stop was clean in all directories."""
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster_id,
        incarnation_id=incarnation_id,
        listeners=[
            Listener(name=at.listener, host=at.host or "", port=at.port, security_protocol=at.protocol.value)
            for at in listeners
        ],
        features=[
            Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
            for name, levels in sorted(features.items())
        ],
        rack=rack,
        log_dirs=sorted(directories),
        previous_broker_epoch=previous_broker_epoch,
    )

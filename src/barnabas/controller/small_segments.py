"""Where the smallest segment is Apache's again: beside a broker of Apache's, which refuses topics with smaller ones.

docs/adr/0006-small-segments.md has the reasons. A registration does not say whose the broker is, but Apache's know
levels of metadata.version that are older than any of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.controller.errors import InvalidConfig, InvalidRegistration
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.versions import METADATA_VERSION, OLDEST_METADATA_VERSION
from barnabas.protocol.version_range import VersionRange

SEGMENT_BYTES: Final = "segment.bytes"
APACHE_SEGMENT_BYTES_MIN: Final = 1_048_576


def is_of_apache(supported: Mapping[str, VersionRange]) -> bool:
    levels = supported.get(METADATA_VERSION)
    return levels is not None and levels.lowest < OLDEST_METADATA_VERSION


def check_segment_bytes(image: MetadataImage, configs: Mapping[str, str]) -> None:
    """Refuse a topic's small segments while a broker of Apache's is registered. The value has been parsed before."""
    if SEGMENT_BYTES not in configs or int(configs[SEGMENT_BYTES]) >= APACHE_SEGMENT_BYTES_MIN:
        return
    others = [broker.id for broker in image.cluster.brokers.contents() if is_of_apache(broker.supported_features)]
    if others:
        raise InvalidConfig(
            f"{SEGMENT_BYTES} is at least {APACHE_SEGMENT_BYTES_MIN} in a cluster with brokers of Apache Kafka, "
            f"which are {_listed(others)} here"
        )


def check_registration(image: MetadataImage, supported: Mapping[str, VersionRange]) -> None:
    """Refuse a broker of Apache's while there are topics that it would refuse."""
    if not is_of_apache(supported):
        return
    small = [
        resource.name
        for resource, values in image.configs.entries()
        if resource.type is ConfigResourceType.TOPIC
        and int(values.get(SEGMENT_BYTES, APACHE_SEGMENT_BYTES_MIN)) < APACHE_SEGMENT_BYTES_MIN
    ]
    if small:
        raise InvalidRegistration(
            f"a broker of Apache Kafka takes no topics with {SEGMENT_BYTES} below {APACHE_SEGMENT_BYTES_MIN}, and "
            f"there are {_listed(small)}"
        )


def _listed(members: Iterable[object]) -> str:
    return ", ".join(map(str, members))

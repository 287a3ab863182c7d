"""What a group's topics look like, as one number: when it changes, the group is assigned anew.

The number stands in the group's record, so that it has to be the one that Apache's broker computes: XXH3 over the id,
name, partitions and racks of each topic, and over the hashes of all topics by their names. A group without topics has
the number 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final

from xxhash import xxh3_64_intdigest

from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import Topic

NO_TOPICS: Final = 0
_MAGIC: Final = b"\0"
_INT: Final = Struct("<i")
_LONG: Final = Struct("<q")
# Ids are written as two numbers, first the upper half.
_ID: Final = Struct(">QQ")
_ID_SWAPPED: Final = Struct("<QQ")


class TopicHashes:
    """The hash of each topic, kept for as long as the topic stays as it is.

    A broker's rack counts as it was when the topic was last looked at, as in Apache's broker: only what changes topics
    makes groups look again.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Topic, int]] = {}

    def of(self, names: Iterable[str], image: MetadataImage) -> int:
        """The hash of those of these topics that exist."""
        hashed = bytearray()
        for name in sorted(names):
            topic = image.topics.by_name(name)
            if topic is not None:
                hashed += _LONG.pack(self._of_topic(topic, image))
        return _signed(xxh3_64_intdigest(hashed)) if hashed else NO_TOPICS

    def forget(self, names: Iterable[str]) -> None:
        """Nobody subscribes to these topics any longer, or they are gone."""
        for name in names:
            self._known.pop(name, None)

    def _of_topic(self, topic: Topic, image: MetadataImage) -> int:
        known = self._known.get(topic.name)
        if known is not None and known[0] is topic:
            return known[1]
        computed = topic_hash(topic, image)
        self._known[topic.name] = (topic, computed)
        return computed


def topic_hash(topic: Topic, image: MetadataImage) -> int:
    hashed = bytearray(_MAGIC)
    hashed += _ID_SWAPPED.pack(*_ID.unpack(topic.id))
    hashed += _text(topic.name)
    hashed += _INT.pack(len(topic.partitions))
    brokers = image.cluster.brokers
    for number, partition in topic.partitions.entries():
        hashed += _INT.pack(number)
        registrations = (brokers.get(replica) for replica in partition.replicas)
        for rack in sorted(broker.rack for broker in registrations if broker is not None and broker.rack is not None):
            hashed += _INT.pack(_utf16_units(rack))
            hashed += _text(rack)
    return _signed(xxh3_64_intdigest(hashed))


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + _INT.pack(_utf16_units(text))


def _utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number

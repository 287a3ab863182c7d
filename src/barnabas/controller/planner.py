"""Partition changes of one decision, one after the other: each sees the ones before it, and all become records.

Looking for partitions goes through all of them; with a hundred thousand that is tens of milliseconds, for events as
rare as a broker that comes or goes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from barnabas.controller.brokers import default_directory, is_active, is_online
from barnabas.controller.effective_configs import EffectiveConfigs
from barnabas.controller.partition_change import Election, PartitionRules, change_record, plan_change
from barnabas.controller.settings import ControllerSettings
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.topics import NO_LEADER, Partition, Topic
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid


class PartitionPlanner:
    """`leaving` are brokers that may lead nothing from now on, whatever the image says; `coming` may, as of now."""

    def __init__(
        self,
        image: MetadataImage,
        settings: ControllerSettings,
        *,
        leaving: Collection[int] = (),
        coming: Collection[int] = (),
    ) -> None:
        self.records: list[Message] = []
        self.configs = EffectiveConfigs(image, settings)
        self._image = image
        self._alive = {
            broker.id: broker
            for broker in image.cluster.brokers.contents()
            if (broker.id in coming or is_active(image, broker.id)) and broker.id not in leaving
        }
        self._changed: dict[tuple[Uuid, int], Partition] = {}
        self._rules: dict[Uuid, PartitionRules] = {}
        self._elections: dict[Uuid, Election] = {}

    def partition(self, topic: Topic, index: int) -> Partition | None:
        """A partition as it is after the changes so far."""
        return self._changed.get((topic.id, index)) or topic.partitions.get(index)

    def select(self, is_wanted: Callable[[Partition], bool]) -> Iterator[tuple[Topic, int]]:
        """Every partition that, in the image, is of some kind."""
        for topic in self._image.topics.by_id.contents():
            for index, partition in topic.partitions.entries():
                if is_wanted(partition):
                    yield topic, index

    def allowed_election(self, topic: Topic) -> Election:
        """An unclean one where the topic allows it, for a partition that has to stay available."""
        if topic.id not in self._elections:
            is_unclean = self.configs.is_unclean_election_enabled(topic.name)
            self._elections[topic.id] = Election.UNCLEAN if is_unclean else Election.ONLINE
        return self._elections[topic.id]

    def change(
        self,
        topic: Topic,
        index: int,
        wanted: Partition,
        election: Election,
        *,
        uncleanly_stopped: Collection[int] = (),
    ) -> Partition | None:
        """Aim at `wanted`; the partition as it will be, or None where nothing changes."""
        was = self.partition(topic, index)
        assert was is not None, "a partition that is changed is there"
        change = plan_change(was, wanted, self._rules_of(topic), election, uncleanly_stopped)
        if change is None:
            return None
        self._changed[topic.id, index] = change.partition
        self.records.append(change_record(was, change, topic.id, index))
        return change.partition

    def take_out(self, broker_id: int, partitions: Iterator[tuple[Topic, int]], *, is_unclean: bool = False) -> None:
        """Take a broker out of ISRs and leaderships; out of the ELR too where it may have lost what it had."""
        for topic, index in partitions:
            was = self.partition(topic, index)
            assert was is not None
            self.change(
                topic,
                index,
                was._replace(isr=tuple(each for each in was.isr if each != broker_id)),
                self.allowed_election(topic),
                uncleanly_stopped=(broker_id,) if is_unclean else (),
            )

    def elect_for_leaderless(self) -> None:
        """Give partitions without a leader one, where somebody is there again that can lead."""
        for topic, index in self.select(lambda partition: partition.leader == NO_LEADER):
            was = self.partition(topic, index)
            assert was is not None
            self.change(topic, index, was, self.allowed_election(topic))

    def _rules_of(self, topic: Topic) -> PartitionRules:
        rules = self._rules.get(topic.id)
        if rules is None:
            image = self._image
            rules = self._rules[topic.id] = PartitionRules(
                self._can_lead,
                lambda replica: default_directory(image, replica),
                self.configs.min_isr(topic),
                image.features.is_elr_enabled,
            )
        return rules

    def _can_lead(self, broker_id: int, directory: Uuid) -> bool:
        broker = self._alive.get(broker_id)
        return broker is not None and is_online(broker, directory)

"""Partition changes of one decision, one after the other: each sees the ones before it, and all become records.

Looking for partitions goes through all of them; with a hundred thousand that is tens of milliseconds, for events as
rare as a broker that comes or goes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from barnabas.controller.brokers import default_directory, is_active, is_online
from barnabas.controller.effective_configs import EffectiveConfigs
from barnabas.controller.partition_change import Election, PartitionRules, RepeatedChange, change_record, plan_change
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
        self._changed: dict[Uuid, dict[int, Partition]] = {}
        self._rules: dict[Uuid, PartitionRules] = {}
        self._elections: dict[Uuid, Election] = {}

    def partition(self, topic: Topic, index: int) -> Partition | None:
        """A partition as it is after the changes so far."""
        changed = self._changed.get(topic.id)
        return (changed and changed.get(index)) or topic.partitions.get(index)

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
        self._changed.setdefault(topic.id, {})[index] = change.partition
        self.records.append(change_record(was, change, topic.id, index))
        return change.partition

    def take_out(
        self,
        broker_id: int,
        partitions: Iterable[tuple[Topic, int]],
        *,
        is_unclean: bool = False,
        records_max: int | None = None,
    ) -> bool:
        """Take a broker out of ISRs and leaderships; out of the ELR too where it may have lost what it had.

        False where the most records were reached before all partitions were seen.
        """

        def aim(was: Partition) -> Partition:
            return was._replace(isr=tuple(each for each in was.isr if each != broker_id))

        return self._change_alike(partitions, aim, (broker_id,) if is_unclean else (), records_max)

    def elect_for_leaderless(self) -> None:
        """Give partitions without a leader one, where somebody is there again that can lead."""
        self._change_alike(self.select(lambda partition: partition.leader == NO_LEADER), lambda was: was)

    def _change_alike(
        self,
        partitions: Iterable[tuple[Topic, int]],
        aim: Callable[[Partition], Partition],
        uncleanly_stopped: Collection[int] = (),
        records_max: int | None = None,
    ) -> bool:
        """Do the same to many partitions. Those that are alike but for their epochs are planned once."""
        plans: dict[tuple[object, ...], RepeatedChange | None] = {}
        for topic, index in partitions:
            if len(self.records) == records_max:
                return False
            was = self.partition(topic, index)
            assert was is not None, "a partition that is changed is there"
            rules, election = self._rules_of(topic), self.allowed_election(topic)
            key = (was.without_epochs, rules.min_isr, election)
            if key in plans:
                repeated = plans[key]
            else:
                change = plan_change(was, aim(was), rules, election, uncleanly_stopped)
                repeated = plans[key] = None if change is None else RepeatedChange(was, change)
            if repeated is not None:
                self._changed.setdefault(topic.id, {})[index] = repeated.partition(was)
                self.records.append(repeated.record(topic.id, index))
        return True

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

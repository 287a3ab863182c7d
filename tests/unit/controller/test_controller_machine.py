"""Random brokers, topics, leaders, restarts and failovers: after every step the invariants hold, and nobody is left
without an answer.

A decision may refuse anything, but it never fails with another error than an ApiError: that would end the process.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from barnabas.controller.invariants import validate
from barnabas.metadata.topics import Partition
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    RequestDirectoryData,
)
from barnabas.protocol.messages.assign_replicas_to_dirs import RequestPartitionData as AssignedPartition
from barnabas.protocol.messages.assign_replicas_to_dirs import RequestTopicData as AssignedTopic
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from barnabas.protocol.messages.broker_registration import BrokerRegistrationResponse
from barnabas.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.protocol.messages.create_topics import CreateTopicsRequest
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest
from barnabas.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from barnabas.protocol.schema import ZERO_UUID, Message
from unit.controller.controlled_cluster import ControlledCluster, directory, registration
from unit.controller.requests import new_topic

BROKERS = range(1, 5)
brokers = st.sampled_from(BROKERS)
topics = st.sampled_from(["a", "b"])
indexes = st.integers(0, 2)
replica_sets = st.lists(brokers, unique=True, min_size=1, max_size=3)


class ControllerMachine(RuleBasedStateMachine):
    @initialize(has_elr=st.booleans(), min_isr=st.integers(1, 3), directories=st.integers(1, 2))
    def start(self, has_elr: bool, min_isr: int, directories: int) -> None:
        self.directories = directories
        self.cluster = ControlledCluster(has_elr=has_elr, static_configs={"min.insync.replicas": str(min_isr)})
        self.incarnations = dict.fromkeys(BROKERS, 0)
        self.asked: set[object] = set()
        self.registrations: dict[object, int] = {}
        self.cluster.start_brokers(1, 2, 3, directories=directories)

    def send(self, request: Message) -> object:
        token = self.cluster.send(request)
        self.asked.add(token)
        return token

    @rule(broker_id=brokers, is_new=st.booleans(), is_clean=st.booleans())
    def register(self, broker_id: int, is_new: bool, is_clean: bool) -> None:
        self.incarnations[broker_id] += is_new
        known = self.cluster.image.cluster.brokers.get(broker_id)
        request = registration(
            broker_id,
            incarnation_number=self.incarnations[broker_id],
            directories=self.directories,
            previous_epoch=known.epoch if known is not None and is_clean else -1,
        )
        self.registrations[self.send(request)] = broker_id

    @rule(
        broker_id=brokers,
        want_fence=st.booleans(),
        want_shut_down=st.booleans(),
        lag=st.sampled_from([0, 0, 0, 5]),
        failed=st.sets(st.integers(0, 1)),
        cordoned=st.none() | st.sets(st.integers(0, 1)),
    )
    def heartbeat(
        self,
        broker_id: int,
        want_fence: bool,
        want_shut_down: bool,
        lag: int,
        failed: set[int],
        cordoned: set[int] | None,
    ) -> None:
        known = self.cluster.image.cluster.brokers.get(broker_id)
        is_half = len(failed) < self.directories
        self.send(
            BrokerHeartbeatRequest(
                broker_id=broker_id,
                broker_epoch=-1 if known is None else known.epoch,
                current_metadata_offset=self.cluster.end_offset - 1 - lag,
                want_fence=want_fence,
                want_shut_down=want_shut_down,
                offline_log_dirs=[directory(broker_id, number) for number in failed] if is_half else [],
                cordoned_log_dirs=None if cordoned is None else [directory(broker_id, number) for number in cordoned],
            )
        )

    @rule(broker_id=brokers)
    def keep_alive(self, broker_id: int) -> None:
        self.heartbeat(broker_id, False, False, 0, set(), None)

    @rule(broker_id=brokers)
    def unregister(self, broker_id: int) -> None:
        self.send(UnregisterBrokerRequest(broker_id=broker_id))

    @rule(name=topics, assignments=st.none() | st.lists(replica_sets, min_size=1, max_size=3), is_unclean=st.booleans())
    def create_topic(self, name: str, assignments: list[list[int]] | None, is_unclean: bool) -> None:
        configs: dict[str, str | None] = {"unclean.leader.election.enable": str(is_unclean).lower()}
        topic = new_topic(name, 2, 2, assignments=assignments or (), configs=configs)
        self.send(CreateTopicsRequest(topics=[topic]))

    @rule(name=topics)
    def delete_topic(self, name: str) -> None:
        self.send(DeleteTopicsRequest(topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID)], timeout_ms=0))

    @rule(name=topics, count=st.integers(1, 4))
    def create_partitions(self, name: str, count: int) -> None:
        topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
        self.send(CreatePartitionsRequest(topics=[topic], timeout_ms=0, validate_only=False))

    def partition(self, name: str, index: int) -> Partition | None:
        topic = self.cluster.image.topics.by_name(name)
        return None if topic is None else topic.partitions.get(index)

    @rule(name=topics, index=indexes, isr=replica_sets, is_everybody=st.booleans(), state=st.integers(0, 1))
    def alter_partition(self, name: str, index: int, isr: list[int], is_everybody: bool, state: int) -> None:
        partition = self.partition(name, index)
        if partition is None or not partition.has_leader:
            return
        known = self.cluster.image.cluster.brokers
        members = partition.replicas if is_everybody else tuple(dict.fromkeys((partition.leader, *isr)))
        data = RequestPartitionData(
            partition_index=index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            leader_recovery_state=state,
            new_isr_with_epochs=[
                BrokerState(broker_id=each, broker_epoch=known[each].epoch if each in known else -1) for each in members
            ],
        )
        topic_id = self.cluster.image.topics.ids[name]
        leader = known.get(partition.leader)
        self.send(
            AlterPartitionRequest(
                broker_id=partition.leader,
                broker_epoch=-1 if leader is None else leader.epoch,
                topics=[RequestTopicData(topic_id=topic_id, partitions=[data])],
            )
        )

    @rule(name=topics, index=indexes, replicas=st.none() | replica_sets)
    def reassign(self, name: str, index: int, replicas: list[int] | None) -> None:
        target = ReassignablePartition(partition_index=index, replicas=replicas)
        topic = ReassignableTopic(name=name, partitions=[target])
        self.send(AlterPartitionReassignmentsRequest(topics=[topic]))

    @rule(name=topics, index=indexes, broker_id=brokers, number=st.integers(0, 1))
    def assign_directory(self, name: str, index: int, broker_id: int, number: int) -> None:
        topic_id = self.cluster.image.topics.ids.get(name)
        known = self.cluster.image.cluster.brokers.get(broker_id)
        if topic_id is None or known is None:
            return
        topic = AssignedTopic(topic_id=topic_id, partitions=[AssignedPartition(partition_index=index)])
        where = RequestDirectoryData(id=directory(broker_id, number), topics=[topic])
        self.send(AssignReplicasToDirsRequest(broker_id=broker_id, broker_epoch=known.epoch, directories=[where]))

    @rule(election=st.integers(0, 1))
    def elect(self, election: int) -> None:
        self.send(ElectLeadersRequest(election_type=election, topic_partitions=None))

    @rule(resource=st.sampled_from([(2, "a"), (2, "b"), (4, ""), (4, "1")]), least=st.integers(1, 3))
    def set_min_isr(self, resource: tuple[int, str], least: int) -> None:
        change = AlterableConfig(name="min.insync.replicas", config_operation=0, value=str(least))
        asked = AlterConfigsResource(resource_type=resource[0], resource_name=resource[1], configs=[change])
        self.send(IncrementalAlterConfigsRequest(resources=[asked], validate_only=False))

    @rule(is_on=st.booleans())
    def switch_eligible_replicas(self, is_on: bool) -> None:
        update = FeatureUpdateKey(
            feature="eligible.leader.replicas.version", max_version_level=int(is_on), upgrade_type=1 if is_on else 2
        )
        self.send(UpdateFeaturesRequest(feature_updates=[update]))

    @rule(duration_ms=st.sampled_from([100, 2_000, 9_500, 400_000]))
    def pass_time(self, duration_ms: int) -> None:
        self.cluster.advance(duration_ms)

    @rule()
    def commit(self) -> None:
        self.cluster.commit()

    @rule(keep_batches=st.integers(0, 2))
    def fail_over(self, keep_batches: int) -> None:
        """Another leader commits some of what was under way, and this one leads again."""
        self.cluster.resign(keep_batches=keep_batches)
        self.cluster.lead()

    @precondition(lambda self: hasattr(self, "cluster"))
    @invariant()
    def invariants_hold(self) -> None:
        validate(self.cluster.image)
        validate(self.cluster.controller.committed_image)

    def teardown(self) -> None:
        if not hasattr(self, "cluster"):
            return
        self.cluster.commit()
        assert self.asked <= self.cluster.responses.keys(), "everybody is answered"
        epochs: dict[int, list[int]] = {}
        for token, broker_id in self.registrations.items():
            response: Any = self.cluster.responses[token]
            assert isinstance(response, BrokerRegistrationResponse)
            if response.error_code == 0:
                epochs.setdefault(broker_id, []).append(response.broker_epoch)
            else:
                assert response.error_code in (
                    ErrorCode.NOT_CONTROLLER,
                    ErrorCode.DUPLICATE_BROKER_REGISTRATION,
                    ErrorCode.UNSUPPORTED_VERSION,
                )
        for seen in epochs.values():
            assert seen == sorted(seen), "a broker's epoch never goes back"


TestControllerMachine = ControllerMachine.TestCase
TestControllerMachine.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)

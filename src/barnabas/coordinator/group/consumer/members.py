"""A member of a consumer group, as a value, and the two records that say it.

What a member wants is in one record, what it owns in another. A member may speak the classic protocol: then `classic`
is what it told when it joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final, NamedTuple

from barnabas.protocol.group_records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from barnabas.protocol.group_records.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from barnabas.protocol.uuid import Uuid

# What a member says in place of its epoch.
JOINING_EPOCH: Final = 0
LEAVING_EPOCH: Final = -1
LEAVING_STATIC_EPOCH: Final = -2

# The partitions that a member owns, each with the epoch at which it was given to it.
Owned = Mapping[Uuid, Mapping[int, int]]


class MemberState(IntEnum):
    """Where a member is on its way to the target assignment."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, _value: object) -> MemberState:
        return cls.UNKNOWN


class ClassicTerms(NamedTuple):
    """How a member joined that speaks the classic protocol: the assignors it names are not asked."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """`topic_pattern` is a regular expression, empty where there is none.

    `assigned` is what it may read; `pending_revocation` is what it may still be reading and has to give up.
    """

    member_id: str
    member_epoch: int = JOINING_EPOCH
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    topic_pattern: str = ""
    assignor_name: str | None = None
    assigned: Owned = field(default_factory=dict)
    pending_revocation: Owned = field(default_factory=dict)
    classic: ClassicTerms | None = None

    @property
    def is_classic(self) -> bool:
        return self.classic is not None

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def assignment_epoch(self, topic_id: Uuid, partition: int) -> int | None:
        """When it was given a partition that it owns or is giving up."""
        for owned in (self.assigned, self.pending_revocation):
            epoch = owned.get(topic_id, {}).get(partition)
            if epoch is not None:
                return epoch
        return None

    def gone_for_a_while(self) -> ConsumerMember:
        """A static member that said it would be back; its place and what it owns are kept for its instance."""
        return replace(
            self,
            member_epoch=LEAVING_STATIC_EPOCH,
            pending_revocation={},
            assigned={topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in self.assigned.items()},
        )

    # Its records

    def metadata_value(self) -> ConsumerGroupMemberMetadataValue:
        classic = None
        if self.classic is not None:
            classic = ClassicMemberMetadata(
                session_timeout_ms=self.classic.session_timeout_ms,
                supported_protocols=[
                    ClassicProtocol(name=name, metadata=metadata) for name, metadata in self.classic.protocols
                ],
            )
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topic_names),
            subscribed_topic_regex=self.topic_pattern,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor_name,
            classic_member_metadata=classic,
        )

    def with_metadata(self, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
        classic = None
        if value.classic_member_metadata is not None:
            written = value.classic_member_metadata
            protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in written.supported_protocols)
            classic = ClassicTerms(written.session_timeout_ms, protocols)
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topic_names=frozenset(value.subscribed_topic_names),
            topic_pattern=value.subscribed_topic_regex or "",
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            assignor_name=value.server_assignor,
            classic=classic,
        )

    def assignment_value(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_written(self.assigned),
            partitions_pending_revocation=_written(self.pending_revocation),
        )

    def with_assignment(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
        return replace(
            self,
            member_epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState(value.state),
            assigned=_read(value.assigned_partitions, value.member_epoch),
            pending_revocation=_read(value.partitions_pending_revocation, value.member_epoch),
        )

    def without_assignment(self) -> ConsumerMember:
        return replace(
            self, member_epoch=LEAVING_EPOCH, previous_epoch=LEAVING_EPOCH, assigned={}, pending_revocation={}
        )


def _written(owned: Owned) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=topic_id, partitions=list(epochs), assignment_epochs=list(epochs.values()))
        for topic_id, epochs in owned.items()
    ]


def _read(topics: Iterable[TopicPartitions], member_epoch: int) -> Owned:
    owned = {}
    for topic in topics:
        epochs = topic.assignment_epochs or []
        if len(epochs) != len(topic.partitions):
            # Written before partitions had epochs: then it was given to the member at its own epoch, or earlier.
            epochs = [max(member_epoch, 0)] * len(topic.partitions)
        owned[topic.topic_id] = dict(zip(topic.partitions, epochs, strict=True))
    return owned

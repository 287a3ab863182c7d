"""A member is what its two records say, no more and no less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.coordinator.group.consumer.members import ClassicTerms, ConsumerMember, MemberState, Owned
from barnabas.protocol.codec import decode, encode
from barnabas.protocol.group_records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from barnabas.protocol.group_records.consumer_group_member_metadata import ConsumerGroupMemberMetadataValue
from barnabas.protocol.uuid import Uuid

A = Uuid(bytes(range(16)))
texts = st.text(st.characters(codec="ascii"), max_size=5)
epochs = st.integers(0, 2**31 - 1)
owned: st.SearchStrategy[Owned] = st.dictionaries(
    st.binary(min_size=16, max_size=16).map(Uuid), st.dictionaries(st.integers(0, 99), epochs, min_size=1), max_size=2
)
members = st.builds(
    ConsumerMember,
    member_id=st.just("m"),
    member_epoch=st.integers(-2, 9),
    previous_epoch=st.integers(-1, 9),
    state=st.sampled_from(list(MemberState)),
    instance_id=st.none() | texts,
    rack_id=st.none() | texts,
    rebalance_timeout_ms=epochs,
    client_id=texts,
    client_host=texts,
    topic_names=st.frozensets(texts),
    topic_pattern=texts,
    assignor_name=st.none() | texts,
    assigned=owned,
    pending_revocation=owned,
    classic=st.none() | st.builds(ClassicTerms, epochs, st.lists(st.tuples(texts, st.binary(max_size=3))).map(tuple)),
)


@given(members)
def test_a_member_is_what_its_records_say(member: ConsumerMember) -> None:
    metadata = decode(ConsumerGroupMemberMetadataValue, 0, encode(member.metadata_value(), 0))
    assignment = decode(ConsumerGroupCurrentMemberAssignmentValue, 0, encode(member.assignment_value(), 0))
    assert ConsumerMember(member_id="m").with_metadata(metadata).with_assignment(assignment) == member


def test_partitions_of_old_records_were_given_at_the_members_epoch() -> None:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=5,
        previous_member_epoch=4,
        state=0,
        assigned_partitions=[TopicPartitions(topic_id=A, partitions=[0, 1])],
        partitions_pending_revocation=[],
    )
    assert ConsumerMember(member_id="m").with_assignment(value).assigned == {A: {0: 5, 1: 5}}
    value.member_epoch = -2
    assert ConsumerMember(member_id="m").with_assignment(value).assigned == {A: {0: 0, 1: 0}}


def test_a_state_of_a_later_release_is_unknown() -> None:
    assert MemberState(9) is MemberState.UNKNOWN


def test_a_static_member_that_goes_for_a_while_keeps_what_it_owns_and_nothing_that_it_was_giving_up() -> None:
    member = ConsumerMember(member_id="m", member_epoch=7, assigned={A: {0: 3}}, pending_revocation={A: {1: 3}})
    gone = member.gone_for_a_while()
    assert (gone.member_epoch, gone.assigned, gone.pending_revocation) == (-2, {A: {0: 0}}, {})


def test_the_epoch_of_a_partition_is_known_until_it_is_given_up() -> None:
    member = ConsumerMember(member_id="m", assigned={A: {0: 3}}, pending_revocation={A: {1: 2}})
    assert [member.assignment_epoch(A, number) for number in (0, 1, 2)] == [3, 2, None]

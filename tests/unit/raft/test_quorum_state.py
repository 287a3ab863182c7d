"""The quorum-state file, as Kafka writes it."""

from __future__ import annotations

import pytest

from barnabas.protocol.uuid import Uuid
from barnabas.raft.quorum_state import BadQuorumState, QuorumState
from barnabas.raft.replica import ReplicaKey

DIRECTORY = Uuid(bytes(range(16)))


def test_a_dynamic_quorum_writes_the_voted_directory() -> None:
    state = QuorumState(7, leader_id=2, voted_key=ReplicaKey(3, DIRECTORY))
    text = '{"leaderId":2,"leaderEpoch":7,"votedId":3,"votedDirectoryId":"AAECAwQFBgcICQoLDA0ODw","data_version":1}'
    assert state.to_json() == text
    assert QuorumState.from_json(text) == state


def test_a_static_quorum_writes_its_voters_and_no_directory() -> None:
    state = QuorumState(4, voted_key=ReplicaKey(1, DIRECTORY), voter_ids=(1, 2), version=0)
    text = (
        '{"clusterId":"","leaderId":-1,"leaderEpoch":4,"votedId":1,"appliedOffset":0,'
        '"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}'
    )
    assert state.to_json() == text
    assert QuorumState.from_json(text).voted_key == ReplicaKey(1)


def test_nobody_leads_and_nobody_was_voted_for() -> None:
    state = QuorumState(3)
    assert QuorumState.from_json(state.to_json()) == state


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "7", '{"data_version":2}', '{"leaderId":1,"leaderEpoch":"x","votedId":-1,"data_version":0}'],
)
def test_what_is_no_quorum_state_is_refused(text: str) -> None:
    with pytest.raises(BadQuorumState):
        QuorumState.from_json(text)

"""Who may commit, what is kept how long, and what is told of commits in transactions."""

from __future__ import annotations

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.messages.leave_group import MemberIdentity
from barnabas.protocol.messages.list_groups import ListGroupsRequest
from barnabas.protocol.uuid import Uuid
from unit.coordinator.group.driven_shard import DrivenShard
from unit.coordinator.group.offset_records import commit_request, commit_value, fetch_request

HOUR_MS = 3_600_000
CHECK_MS = 600_000


def commit(shard: DrivenShard, offset: int = 1, version: int = 10, **fields: object) -> ErrorCode:
    answer = shard.told(commit_request(offset, **fields), version)  # type: ignore[arg-type]
    return ErrorCode(answer.topics[0].partitions[0].error_code)


def fetched(shard: DrivenShard, topic: str = "t", **fields: object) -> tuple[int, ErrorCode]:
    answer = shard.told(fetch_request(topic=topic, **fields), 10)  # type: ignore[arg-type]
    partition = answer.groups[0].topics[0].partitions[0]
    return partition.committed_offset, ErrorCode(partition.error_code)


def group_ids(shard: DrivenShard) -> list[str]:
    return [group.group_id for group in shard.told(ListGroupsRequest(), 5).groups]


# Who may commit


def test_one_that_is_no_member_makes_a_group_by_committing() -> None:
    shard = DrivenShard()
    assert commit(shard, 5) is ErrorCode.NONE
    assert fetched(shard) == (5, ErrorCode.NONE)
    assert fetched(shard.reloaded()) == (5, ErrorCode.NONE)
    assert group_ids(shard) == group_ids(shard.reloaded()) == ["g"]


@pytest.mark.parametrize(("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_member_of_a_group_that_is_gone_is_refused(version: int, code: ErrorCode) -> None:
    assert commit(DrivenShard(), version=version, generation=1, member_id="m") is code


def test_only_members_of_the_generation_commit_while_there_are_members() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    assert commit(shard, member_id=member_id, generation=1) is ErrorCode.NONE
    assert commit(shard, member_id=member_id, generation=2) is ErrorCode.ILLEGAL_GENERATION
    assert commit(shard, member_id="other", generation=1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(shard) is ErrorCode.UNKNOWN_MEMBER_ID
    shard.leave(MemberIdentity(member_id=member_id))
    assert commit(shard) is ErrorCode.NONE


def test_nobody_commits_while_the_assignment_is_being_made() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    shard.join(member_id)
    assert commit(shard, member_id=member_id, generation=2) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_commit_keeps_the_session() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    shard.pass_time(9_000)
    commit(shard, member_id=member_id, generation=1)
    shard.pass_time(9_000)
    assert shard.heartbeat(member_id) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("note", "code"),
    [("x" * 10, ErrorCode.NONE), ("x" * 11, ErrorCode.OFFSET_METADATA_TOO_LARGE), ("\N{SNAKE}" * 6, 12), (None, 0)],
)
def test_a_note_has_a_limit_in_units_of_utf_16(note: str | None, code: ErrorCode) -> None:
    shard = DrivenShard(offset_metadata_max=10)
    assert commit(shard, metadata=note) == code
    assert fetched(shard)[0] == (-1 if code else 1)


def test_a_commit_that_cannot_be_written_changes_nothing() -> None:
    shard = DrivenShard()
    shard.failure = ErrorCode.NOT_COORDINATOR
    assert commit(shard) is ErrorCode.NOT_COORDINATOR
    assert fetched(shard) == (-1, ErrorCode.NONE)
    assert group_ids(shard) == []


def test_an_offset_of_a_topic_that_was_made_anew_is_not_there() -> None:
    shard = DrivenShard()
    old, new = Uuid(b"o" * 16), Uuid(b"n" * 16)
    commit(shard, 5, topic_id=old)
    assert fetched(shard, topic_id=old) == (5, ErrorCode.NONE)
    assert fetched(shard, topic_id=new) == (-1, ErrorCode.NONE)
    assert fetched(shard) == (5, ErrorCode.NONE)


# Transactions


def test_an_offset_in_an_open_transaction_is_unstable_to_those_who_ask_for_stable_ones() -> None:
    shard = DrivenShard()
    commit(shard, 5)
    key = OffsetCommitKey(group="g", topic="t", partition=0)
    shard.shard.replay(1, 9, key, commit_value(6))
    assert fetched(shard, require_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert fetched(shard) == (5, ErrorCode.NONE)
    shard.shard.replay_end_of_transaction(9, is_commit=True)
    assert fetched(shard, require_stable=True) == (6, ErrorCode.NONE)


# Retention


def test_offsets_without_a_group_expire_after_their_last_commit() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    commit(shard, 1)
    commit(shard, 2, topic="u")
    shard.pass_time(HOUR_MS // 2)
    commit(shard, 3)
    shard.pass_time(HOUR_MS // 2 + CHECK_MS)
    assert (fetched(shard)[0], fetched(shard, topic="u")[0]) == (3, -1)
    shard.pass_time(HOUR_MS)
    assert group_ids(shard) == group_ids(shard.reloaded()) == []


def test_offsets_of_a_group_expire_only_after_it_is_empty() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    (member_id,) = shard.stable_group(session_timeout_ms=1_800_000)
    commit(shard, 1, member_id=member_id, generation=1)
    for _ in range(6):
        shard.pass_time(HOUR_MS // 3)
        assert shard.heartbeat(member_id) is ErrorCode.NONE
    shard.leave(MemberIdentity(member_id=member_id))
    shard.pass_time(HOUR_MS - CHECK_MS)
    assert fetched(shard)[0] == 1
    shard.pass_time(2 * CHECK_MS)
    assert group_ids(shard) == []


def test_offsets_of_topics_that_consumers_no_longer_read_expire_while_they_run() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    (member_id,) = shard.stable_group(session_timeout_ms=1_800_000)
    for topic in "tu":
        commit(shard, 1, topic=topic, member_id=member_id, generation=1)
    for _ in range(5):
        shard.pass_time(HOUR_MS // 3)
        shard.heartbeat(member_id)
    assert (fetched(shard)[0], fetched(shard, topic="u")[0]) == (1, -1)


def test_members_that_are_no_consumers_keep_all_offsets() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    (member_id,) = shard.stable_group(session_timeout_ms=1_800_000, protocol_type="connect")
    commit(shard, 1, member_id=member_id, generation=1)
    for _ in range(6):
        shard.pass_time(HOUR_MS // 3)
        shard.heartbeat(member_id)
    assert fetched(shard)[0] == 1


def test_old_clients_choose_how_long_their_offsets_are_kept() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    commit(shard, 1, version=4, retention_time_ms=3 * HOUR_MS)
    value = shard.log[-1].value
    assert shard.log[-1].value_version == 1
    assert isinstance(value, OffsetCommitValue)
    shard.pass_time(2 * HOUR_MS)
    assert fetched(shard)[0] == 1
    shard.pass_time(HOUR_MS + CHECK_MS)
    assert fetched(shard)[0] == -1


def test_an_offset_with_an_open_transaction_does_not_expire() -> None:
    shard = DrivenShard(offsets_retention_ms=HOUR_MS)
    commit(shard, 1)
    shard.shard.replay(1, 9, OffsetCommitKey(group="g", topic="t", partition=0), commit_value(6))
    shard.pass_time(2 * HOUR_MS)
    assert fetched(shard)[0] == 1
    shard.shard.replay_end_of_transaction(9, is_commit=False)
    shard.pass_time(CHECK_MS)
    assert group_ids(shard) == []


def test_an_empty_group_without_offsets_is_forgotten() -> None:
    shard = DrivenShard()
    (member_id,) = shard.stable_group()
    shard.leave(MemberIdentity(member_id=member_id))
    shard.pass_time(CHECK_MS)
    assert group_ids(shard) == group_ids(shard.reloaded()) == []

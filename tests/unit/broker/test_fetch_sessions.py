"""Fetch sessions: what is told within one, against a model that remembers everything; and who has to make room."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from barnabas.broker.errors import FetchSessionIdNotFound, FetchSessionTopicIdError, InvalidFetchSessionEpoch
from barnabas.broker.fetch_sessions import EVICTION_MS, FetchContext, FetchSessions, PartitionKey
from barnabas.protocol.messages.fetch import EpochEndOffset, FetchPartition, PartitionData

KEYS: list[PartitionKey] = [("a", 0), ("a", 1), ("b", 0)]
keys = st.sampled_from(KEYS)
key_sets = st.sets(keys, max_size=3)


def wanted(offset: int = 0) -> FetchPartition:
    return FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=100)


def found(
    high_watermark: int = 0,
    records: bytes = b"",
    error_code: int = 0,
    log_start_offset: int = 0,
    preferred_read_replica: int = -1,
    diverging: int = -1,
) -> PartitionData:
    return PartitionData(
        partition_index=0,
        error_code=error_code,
        high_watermark=high_watermark if error_code == 0 else -1,
        log_start_offset=log_start_offset,
        aborted_transactions=None,
        preferred_read_replica=preferred_read_replica,
        diverging_epoch=EpochEndOffset(epoch=diverging),
        records=records,
    )


answers = st.builds(
    found,
    high_watermark=st.integers(0, 2),
    records=st.sampled_from([b"", b"", b"r"]),
    error_code=st.sampled_from([0, 0, 0, 3]),
    log_start_offset=st.integers(0, 1),
    preferred_read_replica=st.sampled_from([-1, -1, 4]),
    diverging=st.sampled_from([-1, -1, 0]),
)


class OneSession(RuleBasedStateMachine):
    """A fetcher that changes what it asks for, beside a model: the partitions, in order, and what was told of each."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions = FetchSessions(1, Random(1))
        self.offsets: dict[PartitionKey, int] = {}

    @precondition(lambda self: not self.offsets)
    @rule(asked=st.sets(keys, min_size=1), given=st.data())
    def begin(self, asked: set[PartitionKey], given: st.DataObject) -> None:
        ordered = sorted(asked)
        context = self.sessions.begin(
            0, 0, {key: wanted() for key in ordered}, [], is_privileged=False, has_topic_ids=False, now_ms=0
        )
        all_found = {key: given.draw(answers) for key in ordered}
        self.session_id, told = context.answer(all_found, 0)
        assert self.session_id != 0
        assert told == all_found
        self.epoch = 1
        self.offsets = dict.fromkeys(ordered, 0)
        self.last = dict(all_found)

    @precondition(lambda self: self.offsets)
    @rule(asked=key_sets, forgotten=key_sets, offset=st.integers(0, 9), given=st.data())
    def go_on(self, asked: set[PartitionKey], forgotten: set[PartitionKey], offset: int, given: st.DataObject) -> None:
        context = self._fetch(asked, forgotten, offset)
        for key in sorted(asked):
            self.offsets[key] = offset
        for key in forgotten:
            self.offsets.pop(key, None)
            self.last.pop(key, None)
        if not self.offsets:
            assert context.answer({}, 0) == (0, {})
            return
        assert [(key, partition.fetch_offset) for key, partition in context.partitions] == list(self.offsets.items())
        self.epoch += 1
        all_found = {key: given.draw(answers) for key in self.offsets}
        session_id, told = context.answer(all_found, 0)
        assert session_id == self.session_id
        assert told == {key: answer for key, answer in all_found.items() if self._is_news(key, answer)}
        for key, answer in all_found.items():
            self.last[key] = answer
            if answer.records:
                self.offsets[key] = self.offsets.pop(key)

    def _fetch(self, asked: set[PartitionKey], forgotten: set[PartitionKey], offset: int) -> FetchContext:
        return self.sessions.begin(
            self.session_id,
            self.epoch,
            {key: wanted(offset) for key in sorted(asked)},
            forgotten,
            is_privileged=False,
            has_topic_ids=False,
            now_ms=0,
        )

    def _is_news(self, key: PartitionKey, answer: PartitionData) -> bool:
        last = self.last.get(key)
        if last is None or last.error_code or answer.error_code or answer.records:
            return True
        if answer.preferred_read_replica >= 0 or answer.diverging_epoch.epoch >= 0:
            return True
        return (last.high_watermark, last.log_start_offset) != (answer.high_watermark, answer.log_start_offset)

    @precondition(lambda self: self.offsets)
    @rule(difference=st.sampled_from([-1, 1, 5]))
    def ask_in_another_epoch(self, difference: int) -> None:
        if self.epoch + difference <= 0:
            return
        with pytest.raises(InvalidFetchSessionEpoch):
            self.sessions.begin(
                self.session_id,
                self.epoch + difference,
                {},
                [],
                is_privileged=False,
                has_topic_ids=False,
                now_ms=0,
            )

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert self.sessions.partition_count == len(self.offsets)
        assert len(self.sessions) == bool(self.offsets)


TestOneSession = OneSession.TestCase
TestOneSession.settings = settings(max_examples=30, stateful_step_count=15)


class Crowd:
    """Fetchers that want sessions in a cache of some slots; a session id of 0 is none."""

    def __init__(self, slots: int) -> None:
        self.sessions = FetchSessions(slots, Random(3))

    def begin(self, size: int, now_ms: int, *, is_privileged: bool = False) -> int:
        asked: dict[PartitionKey, FetchPartition] = {("t", index): wanted() for index in range(size)}
        context = self.sessions.begin(0, 0, asked, [], is_privileged=is_privileged, has_topic_ids=False, now_ms=now_ms)
        session_id, _ = context.answer(dict.fromkeys(asked, found()), now_ms)
        return session_id

    def use(self, session_id: int, epoch: int, now_ms: int) -> None:
        self.sessions.begin(session_id, epoch, {}, [], is_privileged=False, has_topic_ids=False, now_ms=now_ms)

    def has(self, session_id: int, epoch: int = 1) -> bool:
        try:
            self.use(session_id, epoch, 10**9)
        except FetchSessionIdNotFound:
            return False
        return True


def test_without_slots_nobody_has_a_session() -> None:
    assert Crowd(0).begin(5, 0) == 0


def test_a_new_session_stays_while_it_is_used() -> None:
    crowd = Crowd(1)
    first = crowd.begin(1, 0)
    assert crowd.begin(100, EVICTION_MS) == 0
    assert crowd.has(first)


def test_a_session_that_was_not_used_for_long_makes_room_for_any() -> None:
    crowd = Crowd(2)
    stale, used = crowd.begin(50, 0), crowd.begin(50, 0)
    crowd.use(used, 1, EVICTION_MS)
    assert crowd.begin(1, EVICTION_MS + 1) != 0
    assert not crowd.has(stale)
    assert crowd.has(used, 2)
    assert crowd.sessions.evictions == 1


def test_a_session_that_has_had_its_time_makes_room_for_a_larger_one_only() -> None:
    crowd = Crowd(1)
    old = crowd.begin(5, 0)
    crowd.use(old, 1, EVICTION_MS + 1)
    assert crowd.begin(5, EVICTION_MS + 2) == 0
    assert crowd.begin(6, EVICTION_MS + 2) != 0
    assert not crowd.has(old, 2)


def test_a_follower_takes_the_place_of_a_consumer_but_not_of_a_follower() -> None:
    crowd = Crowd(1)
    consumer = crowd.begin(50, 0)
    follower = crowd.begin(1, 1, is_privileged=True)
    assert follower != 0
    assert not crowd.has(consumer)
    assert crowd.begin(50, 2, is_privileged=True) == 0
    assert crowd.begin(50, 2) == 0
    assert crowd.has(follower)


def test_a_session_begun_anew_ends_the_one_before() -> None:
    crowd = Crowd(5)
    session_id = crowd.begin(1, 0)
    crowd.sessions.begin(session_id, 0, {}, [], is_privileged=False, has_topic_ids=False, now_ms=0)
    assert not crowd.has(session_id)


def test_names_and_ids_do_not_mix_in_a_session() -> None:
    crowd = Crowd(5)
    session_id = crowd.begin(1, 0)
    with pytest.raises(FetchSessionTopicIdError):
        crowd.sessions.begin(session_id, 1, {}, [], is_privileged=False, has_topic_ids=True, now_ms=0)

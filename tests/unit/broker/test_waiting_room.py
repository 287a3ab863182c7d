"""The waiting room: each waiter completes once, when it is ready or when its deadline has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from barnabas.broker.waiting_room import WaitingRoom

KEYS = st.sampled_from("abcd")


@dataclass(eq=False)
class Guest:
    """What the model knows of a waiter."""

    keys: frozenset[str]
    deadline_ms: int
    is_ready: bool = False
    outcomes: list[bool] = field(default_factory=list)


def never() -> bool:
    return False


def ignore(_: object) -> None:
    pass


class WaitingRoomMachine(RuleBasedStateMachine):
    """Parks, readies, wakes and lets time pass in any order, beside a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0
        self.armed: list[int] = []
        self.room = WaitingRoom(self.armed.append)
        self.guests: list[Guest] = []

    def waiting(self) -> list[Guest]:
        return [guest for guest in self.guests if not guest.outcomes]

    @rule(keys=st.frozensets(KEYS, max_size=3), wait_ms=st.integers(0, 20), is_ready=st.booleans())
    def park(self, keys: frozenset[str], wait_ms: int, is_ready: bool) -> None:
        guest = Guest(keys, self.now_ms + wait_ms, is_ready)
        self.guests.append(guest)
        self.room.park(keys, lambda: guest.is_ready, guest.deadline_ms, guest.outcomes.append)
        assert guest.outcomes == ([False] if is_ready else [])

    @rule(data=st.data())
    def make_ready(self, data: st.DataObject) -> None:
        if self.waiting():
            data.draw(st.sampled_from(self.waiting())).is_ready = True

    @rule(key=KEYS)
    def wake(self, key: str) -> None:
        expected = [guest for guest in self.waiting() if key in guest.keys and guest.is_ready]
        assert self.room.wake(key) == len(expected)
        assert all(guest.outcomes == [False] for guest in expected)

    @rule(passed_ms=st.integers(0, 15))
    def expire(self, passed_ms: int) -> None:
        self.now_ms += passed_ms
        expected = [guest for guest in self.waiting() if guest.deadline_ms <= self.now_ms]
        assert self.room.expire(self.now_ms) == len(expected)
        assert all(guest.outcomes == [True] for guest in expected)

    @invariant()
    def agrees_with_the_model(self) -> None:
        waiting = self.waiting()
        assert len(self.room) == len(waiting)
        assert self.room.next_deadline_ms == min((guest.deadline_ms for guest in waiting), default=None)
        assert all(len(guest.outcomes) <= 1 for guest in self.guests)
        if waiting:
            assert min(self.armed) <= min(guest.deadline_ms for guest in waiting)


TestWaitingRoom = WaitingRoomMachine.TestCase


def test_the_room_asks_to_be_called_when_an_earlier_deadline_comes_up_and_after_an_expiry() -> None:
    armed: list[int] = []
    room = WaitingRoom(armed.append)
    for deadline_ms in (50, 70, 30):
        room.park("k", never, deadline_ms, ignore)
    assert armed == [50, 30]
    room.expire(30)
    assert armed == [50, 30, 50]


def test_waiters_of_one_deadline_expire_in_the_order_in_which_they_came() -> None:
    room = WaitingRoom(ignore)
    expired: list[int] = []
    for number in range(5):
        room.park("k", never, 10, lambda _, number=number: expired.append(number))  # type: ignore[misc]
    room.expire(10)
    assert expired == [0, 1, 2, 3, 4]


def test_a_completion_may_wake_others_and_park_again() -> None:
    room = WaitingRoom(ignore)
    ready: set[str] = set()
    events: list[str] = []

    def is_ready(name: str) -> Callable[[], bool]:
        return lambda: name in ready

    def complete_first(_: bool) -> None:
        events.append("first")
        room.wake("k")
        room.park("k", is_ready("third"), 100, lambda _: events.append("third"))

    room.park("k", is_ready("first"), 100, complete_first)
    room.park("k", is_ready("second"), 100, lambda _: events.append("second"))
    ready |= {"first", "second"}
    # The second was completed by the wake inside the first's completion, so the outer wake counts one.
    assert room.wake("k") == 1
    assert events == ["first", "second"]
    assert len(room) == 1


@given(count=st.integers(200, 400))
def test_far_deadlines_of_answered_requests_do_not_pile_up(count: int) -> None:
    room = WaitingRoom(ignore)
    ready: set[int] = set()
    for number in range(count):
        room.park([number], lambda number=number: number in ready, 10**9, ignore)  # type: ignore[misc]
        ready.add(number)
        assert room.wake(number) == 1
    assert len(room._deadlines) < 100
    assert not room._by_key


def test_who_is_cancelled_never_completes_and_leaves_nothing_behind() -> None:
    armed: list[int] = []
    room = WaitingRoom(armed.append)
    outcomes: list[str] = []
    first = room.park("ab", never, 10, lambda _: outcomes.append("first"))
    room.park("b", lambda: bool(outcomes), 20, lambda _: outcomes.append("second"))
    room.cancel(first)
    room.cancel(first)
    assert (len(room), room.next_deadline_ms) == (1, 20)
    assert room.wake("a") == 0
    assert room.expire(15) == 0
    assert room.expire(20) == 1
    assert outcomes == ["second"]
    assert len(room) == 0


def test_one_that_has_completed_is_cancelled_to_no_effect() -> None:
    room = WaitingRoom(ignore)
    done = room.park("a", lambda: True, 10, ignore)
    room.cancel(done)
    assert len(room) == 0

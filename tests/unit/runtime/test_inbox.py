"""Receiving buffers: shared while nobody looks into them, and never overwritten while somebody does."""

from __future__ import annotations

from barnabas.runtime.inbox import Inbox, RequestMemory, has_no_views


def test_a_buffer_comes_back_as_long_as_nobody_holds_a_view() -> None:
    inbox = Inbox(64)
    buffer = inbox.lend()
    held = memoryview(buffer)[10:20]
    inbox.give_back(buffer)
    another = inbox.lend()
    assert another is not buffer
    assert len(another) == 64
    inbox.give_back(another)
    assert inbox.lend() is another
    held.release()
    assert has_no_views(buffer)
    assert len(buffer) == 64


def test_a_slice_of_a_view_counts_as_a_view() -> None:
    buffer = bytearray(10)
    view = memoryview(buffer)
    part = view[2:4]
    view.release()
    assert not has_no_views(buffer)
    part.release()
    assert has_no_views(buffer)


def test_memory_for_a_large_frame_begins_small_and_is_kept_for_the_next() -> None:
    inbox = Inbox(64, spare_bytes_max=1_000)
    first = inbox.begin_large(frame_bytes=500, received_bytes=40)
    assert len(first) == 80
    assert len(inbox.begin_large(frame_bytes=70, received_bytes=64)) == 70
    large = bytearray(600)
    inbox.end_large(large)
    assert inbox.begin_large(601, 10) is not large
    assert inbox.begin_large(600, 10) is large
    assert inbox.begin_large(600, 10) is not large


def test_no_more_memory_is_kept_than_allowed_and_none_that_is_looked_into() -> None:
    inbox = Inbox(64, spare_bytes_max=1_000)
    kept, looked_into, too_much = bytearray(600), bytearray(100), bytearray(401)
    inbox.end_large(kept)
    view = memoryview(looked_into)
    inbox.end_large(looked_into)
    view.release()
    inbox.end_large(too_much)
    assert inbox.begin_large(100, 1) is kept
    assert inbox.begin_large(100, 1) not in (looked_into, too_much)


def test_those_who_wait_for_memory_are_called_in_order_while_there_is_room() -> None:
    memory = RequestMemory(100)
    called: list[str] = []

    def take(name: str) -> None:
        called.append(name)
        memory.change(60)

    memory.change(150)
    assert memory.is_full
    memory.wait(lambda: take("first"))
    memory.wait(lambda: take("second"))
    memory.wait(lambda: take("third"))
    memory.change(-50)
    assert not called, "exactly full is full"
    memory.change(-100)
    assert called == ["first", "second"]


def test_without_a_limit_memory_is_never_full() -> None:
    memory = RequestMemory()
    memory.change(10**12)
    assert not memory.is_full

"""The search for garbage rests while it is paused, goes on only if it went on before, and leaves out what is kept."""

from __future__ import annotations

import gc

import pytest

from barnabas.runtime.garbage import collection_paused, keep_for_good


def fail_while_paused() -> None:
    with collection_paused():
        raise ValueError("" if gc.isenabled() else "not enabled")


def test_collection_rests_and_goes_on_even_after_a_failure() -> None:
    with pytest.raises(ValueError, match="not enabled"):
        fail_while_paused()
    assert gc.isenabled()


def test_a_pause_within_a_pause_does_not_end_it() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()


def test_what_is_kept_is_searched_no_more() -> None:
    kept = [object()]
    try:
        keep_for_good()
        assert not any(each is kept for each in gc.get_objects())
    finally:
        gc.unfreeze()
    assert any(each is kept for each in gc.get_objects())

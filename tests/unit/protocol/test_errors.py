"""Error codes carry a message and a retriable flag, and every exception has a code of its own."""

from __future__ import annotations

import pytest

from barnabas.protocol.errors import ApiError, ErrorCode, InvalidRecord, RecordTooLarge


def test_codes_are_without_gaps() -> None:
    assert [int(code) for code in ErrorCode] == list(range(-1, 134))


def test_every_code_has_a_sentence_of_its_own() -> None:
    messages = [code.message for code in ErrorCode]
    assert len(set(messages)) == len(messages)
    assert all(message.endswith(".") for message in messages)


def test_a_code_is_found_by_its_number() -> None:
    assert ErrorCode(10) is ErrorCode.MESSAGE_TOO_LARGE
    with pytest.raises(ValueError):
        ErrorCode(999)


def test_retriable_codes_are_marked() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.is_retriable
    assert not ErrorCode.OFFSET_OUT_OF_RANGE.is_retriable


def test_an_error_without_text_says_what_its_code_means() -> None:
    assert str(RecordTooLarge()) == ErrorCode.MESSAGE_TOO_LARGE.message
    assert str(InvalidRecord("offset 3 has no key")) == "offset 3 has no key"


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in ApiError.__subclasses__() if error.__module__ == ApiError.__module__]
    assert codes
    assert len(set(codes)) == len(codes)

"""What came of each part of a request that asked for several things at once.

Such a response has an error field for each part. A part that was refused does not keep the others from succeeding, so
outcomes are values; only that a node is not in charge, which holds for all parts, is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from barnabas.client.cluster import NOT_IN_CHARGE
from barnabas.client.errors import ClientError, check_code
from barnabas.protocol.errors import ErrorCode

K = TypeVar("K")
T = TypeVar("T")

Outcomes = dict[K, ClientError | None]


def find_error(code: int, text: str | None = None) -> ClientError | None:
    """The error that an error field holds, if any."""
    try:
        check_code(code, text)
    except ClientError as error:
        return error
    return None


def gather(asked: Iterable[K], results: Iterable[tuple[K, int, str | None]]) -> Outcomes[K]:
    """The outcome of everything that was asked for, of results that each have a key, a code and a text."""
    outcomes: Outcomes[K] = {key: unanswered(key) for key in asked}
    for key, code, text in results:
        error = find_error(code, text)
        if error is not None and error.code in NOT_IN_CHARGE:
            raise error
        outcomes[key] = error
    return outcomes


def unanswered(key: object) -> ClientError:
    """In place of the outcome that a response does not have."""
    return ClientError(ErrorCode.UNKNOWN_SERVER_ERROR, f"The response has no result for {key}")


def raise_first(outcomes: Mapping[K, T | ClientError]) -> dict[K, T]:
    """All outcomes, where none is an error."""
    succeeded = {}
    for key, outcome in outcomes.items():
        if isinstance(outcome, ClientError):
            raise outcome
        succeeded[key] = outcome
    return succeeded

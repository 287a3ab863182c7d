"""Calls about many things, each of which only one node answers for.

The owners are looked up, every owner is asked for all that it owns at once, and what is refused for the moment is
looked up and asked again until the time of a call is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import unanswered

K = TypeVar("K", bound=Hashable)
Owner = TypeVar("Owner", bound=Hashable)
T = TypeVar("T")


def ask_owners(
    cluster: Cluster,
    name: str,
    keys: Iterable[K],
    find: Callable[[Sequence[K]], Mapping[K, Owner | ClientError]],
    ask: Callable[[Owner, Sequence[K]], Mapping[K, T | ClientError]],
) -> dict[K, T | ClientError]:
    """What the owners that `find` names answer to `ask`, by key, or why there is no answer."""
    pending = list(dict.fromkeys(keys))
    outcomes: dict[K, T | ClientError] = dict.fromkeys(pending, unanswered(name))
    deadline = cluster.deadline()
    failures = 0
    while pending:
        owned: defaultdict[Owner, list[K]] = defaultdict(list)
        owners = find(pending)
        for key in pending:
            owner = owners[key]
            if isinstance(owner, ClientError):
                outcomes[key] = owner
            else:
                owned[owner].append(key)
        for node, its in owned.items():
            outcomes |= ask(node, its)
        pending = [key for key in pending if _is_worth_retrying(outcomes[key])]
        if not pending or deadline.is_over:
            break
        failures += 1
        cluster.wait(failures, deadline)
    return outcomes


def _is_worth_retrying(outcome: object) -> bool:
    return isinstance(outcome, ClientError) and outcome.code.is_retriable

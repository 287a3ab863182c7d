"""Buckets of partitions: what they give, whom, and that they are not kept for ever."""

from __future__ import annotations

import pytest

from barnabas.metadata.configs import ClientQuotas, QuotaEntityPart
from barnabas.metadata.sorted_map import SortedMap
from barnabas.security.mutation_quotas import (
    BUCKETS_MIN,
    MUTATION_RATE,
    MutationAllowance,
    MutationQuotas,
    Quota,
    ThrottlingQuotaExceeded,
    quota_of,
)

Entity = dict[str, str | None]


def stored(*entities: tuple[Entity, float]) -> ClientQuotas:
    return SortedMap(
        {
            tuple(QuotaEntityPart(kind, name is None, name or "") for kind, name in sorted(entity.items())): SortedMap(
                {MUTATION_RATE: rate}
            )
            for entity, rate in entities
        }
    )


def limited(*entities: tuple[Entity, float], window_num: int = 5) -> MutationQuotas:
    quotas = stored(*entities)
    return MutationQuotas(lambda: quotas, window_num=window_num, window_size_seconds=1)


def allowance(
    quotas: MutationQuotas, now_ms: int = 0, *, user: str = "ada", client_id: str = "app", is_strict: bool = True
) -> MutationAllowance:
    given = quotas.allowance(user, client_id, now_ms, is_strict=is_strict)
    assert given is not None
    return given


def test_the_nearest_entity_that_has_a_quota_decides() -> None:
    ladder: list[tuple[Entity, Quota]] = [
        ({"user": "ada", "client-id": "app"}, Quota(("ada", "app"), 1.0)),
        ({"user": "ada", "client-id": None}, Quota(("ada", "app"), 2.0)),
        ({"user": "ada"}, Quota(("ada", None), 3.0)),
        ({"user": None, "client-id": "app"}, Quota(("ada", "app"), 4.0)),
        ({"user": None, "client-id": None}, Quota(("ada", "app"), 5.0)),
        ({"user": None}, Quota(("ada", None), 6.0)),
        ({"client-id": "app"}, Quota((None, "app"), 7.0)),
        ({"client-id": None}, Quota((None, "app"), 8.0)),
    ]
    others: list[tuple[Entity, float]] = [({"user": "bob"}, 90.0), ({"ip": None}, 91.0)]
    while ladder:
        quotas = stored(*((entity, quota.rate) for entity, quota in ladder), *others)
        assert quota_of(quotas, "ada", "app", MUTATION_RATE) == ladder.pop(0)[1]
    assert quota_of(stored(*others), "ada", "app", MUTATION_RATE) is None
    assert quota_of(stored(({"user": "ada"}, 1.0)), "ada", "app", "other_rate") is None


def test_a_bucket_that_is_not_overdrawn_lets_one_change_through_whole() -> None:
    quotas = limited(({"user": "ada"}, 2.0))
    first = allowance(quotas)
    first.charge(10)
    first.charge(7)
    assert first.throttle_time_ms == 0
    with pytest.raises(ThrottlingQuotaExceeded):
        first.charge(1)
    assert first.throttle_time_ms == 3_500
    with pytest.raises(ThrottlingQuotaExceeded):
        allowance(quotas, 3_499).charge(1)
    allowance(quotas, 3_500).charge(1)


def test_a_bucket_fills_up_to_its_windows_and_no_further() -> None:
    quotas = limited(({"user": "ada"}, 2.0))
    allowance(quotas).charge(11)
    later = allowance(quotas, 1_000_000)
    later.charge(10)
    later.charge(1)
    with pytest.raises(ThrottlingQuotaExceeded):
        later.charge(1)


def test_older_versions_are_told_to_rest_and_not_refused() -> None:
    quotas = limited(({"user": "ada"}, 2.0))
    older = allowance(quotas, is_strict=False)
    older.charge(10)
    assert older.throttle_time_ms == 0
    older.charge(4)
    older.charge(4)
    assert older.throttle_time_ms == 4_000


def test_those_whom_an_entity_names_together_share_a_bucket() -> None:
    quotas = limited(({"user": None}, 1.0), ({"user": "bob", "client-id": None}, 1.0))
    allowance(quotas, client_id="one").charge(6)
    with pytest.raises(ThrottlingQuotaExceeded):
        allowance(quotas, client_id="two").charge(1)
    allowance(quotas, user="eve").charge(6)
    allowance(quotas, user="bob", client_id="one").charge(6)
    allowance(quotas, user="bob", client_id="two").charge(6)


def test_nobody_is_limited_without_a_quota() -> None:
    assert limited().allowance("ada", "app", 0, is_strict=True) is None
    assert limited(({"user": "bob"}, 1.0)).allowance("ada", "app", 0, is_strict=True) is None


def test_buckets_that_have_filled_up_are_forgotten() -> None:
    quotas = limited(({"client-id": None}, 1.0))
    allowance(quotas, client_id="spent").charge(1_000_000)
    for number in range(5 * BUCKETS_MIN):
        allowance(quotas, number * 10, client_id=f"client-{number}").charge(1)
    assert len(quotas) < 2 * BUCKETS_MIN
    with pytest.raises(ThrottlingQuotaExceeded):
        allowance(quotas, 50 * BUCKETS_MIN, client_id="spent").charge(1)

"""How many partitions a client may create and delete in a while: Kafka's controller mutation quotas (KIP-599).

Each has a bucket that fills at the rate of its quota, up to what the quota gives in all windows together. As long as a
bucket is not overdrawn, one change goes through whole, however large; then nothing does until it is even again. A
bucket that is full says no more than one that is not there, so full ones are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.metadata.configs import CLIENT_ID, USER, ClientQuotas, QuotaEntity, QuotaEntityPart
from barnabas.protocol.errors import ApiError, ErrorCode

MUTATION_RATE: Final = "controller_mutation_rate"
# So many buckets are kept before the first look for full ones.
BUCKETS_MIN: Final = 1_000


class ThrottlingQuotaExceeded(ApiError):  # noqa: N818 (called as Kafka calls it)
    code = ErrorCode.THROTTLING_QUOTA_EXCEEDED


class Quota(NamedTuple):
    """A rate, and who shares it: the user, the client id, or both, whichever the entity speaks of."""

    sharers: tuple[str | None, str | None]
    rate: float


def quota_of(quotas: ClientQuotas, user: str, client_id: str, key: str) -> Quota | None:
    """The quota of the nearest entity that has one: both names, before a user's, before a client id's."""
    for entity in _entities(user, client_id):
        values = quotas.get(entity)
        if values is not None and (rate := values.get(key)) is not None:
            types = {part.type for part in entity}
            return Quota((user if USER in types else None, client_id if CLIENT_ID in types else None), rate)
    return None


def _entities(user: str, client_id: str) -> Iterator[QuotaEntity]:
    of_client = (QuotaEntityPart(CLIENT_ID, False, client_id), QuotaEntityPart(CLIENT_ID, True, ""))
    for of_user in (QuotaEntityPart(USER, False, user), QuotaEntityPart(USER, True, "")):
        for part in of_client:
            yield (part, of_user)
        yield (of_user,)
    for part in of_client:
        yield (part,)


@dataclass(slots=True)
class _Bucket:
    """What is left at a time, below 0 where more was taken than there was."""

    tokens: float
    at_ms: int

    def fill(self, rate: float, most: float, now_ms: int) -> None:
        self.tokens = min(most, self.tokens + rate * (now_ms - self.at_ms) / 1_000)
        self.at_ms = now_ms


class MutationQuotas:
    """The buckets of all clients of a controller. `quotas` gives the limits as they are now."""

    def __init__(self, quotas: Callable[[], ClientQuotas], *, window_num: int, window_size_seconds: int) -> None:
        self._quotas = quotas
        self._burst_seconds = window_num * window_size_seconds
        self._buckets: dict[tuple[str | None, str | None], _Bucket] = {}
        self._buckets_max = BUCKETS_MIN

    def __len__(self) -> int:
        return len(self._buckets)

    def allowance(self, user: str, client_id: str, now_ms: int, *, is_strict: bool) -> MutationAllowance | None:
        """What a request has, None where nothing limits it. Requests of older versions are delayed, never refused."""
        quotas = self._quotas()
        quota = quota_of(quotas, user, client_id, MUTATION_RATE) if quotas else None
        if quota is None:
            return None
        most = quota.rate * self._burst_seconds
        bucket = self._buckets.get(quota.sharers)
        if bucket is None:
            self._forget_full(now_ms)
            bucket = self._buckets[quota.sharers] = _Bucket(most, now_ms)
        bucket.fill(quota.rate, most, now_ms)
        return MutationAllowance(bucket, quota.rate, is_strict=is_strict)

    def _forget_full(self, now_ms: int) -> None:
        if len(self._buckets) < self._buckets_max:
            return
        quotas, kept = self._quotas(), {}
        for sharers, bucket in self._buckets.items():
            user, client_id = sharers
            quota = quota_of(quotas, user or "", client_id or "", MUTATION_RATE)
            if quota is None or quota.sharers != sharers:
                continue
            bucket.fill(quota.rate, quota.rate * self._burst_seconds, now_ms)
            if bucket.tokens < quota.rate * self._burst_seconds:
                kept[sharers] = bucket
        self._buckets = kept
        self._buckets_max = max(BUCKETS_MIN, 2 * len(kept))


class MutationAllowance:
    """What one request may take from its bucket. `throttle_time_ms` is how long its asker should rest afterwards."""

    def __init__(self, bucket: _Bucket, rate: float, *, is_strict: bool) -> None:
        self._bucket = bucket
        self._rate = rate
        self._is_strict = is_strict
        self.throttle_time_ms = 0

    def charge(self, partitions: int) -> None:
        if self._is_strict and self._bucket.tokens < 0:
            self.throttle_time_ms = self._until_even_ms()
            raise ThrottlingQuotaExceeded(f"the quota of {MUTATION_RATE} is used up; rest {self.throttle_time_ms} ms")
        self._bucket.tokens -= partitions
        if not self._is_strict and self._bucket.tokens < 0:
            self.throttle_time_ms = self._until_even_ms()

    def _until_even_ms(self) -> int:
        return round(-self._bucket.tokens / self._rate * 1_000)

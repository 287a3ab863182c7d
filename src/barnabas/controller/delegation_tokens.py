"""CreateDelegationToken, RenewDelegationToken and ExpireDelegationToken, and the end of tokens whose time is over.

What a holder shows is the token's HMAC under the cluster's secret; only the token is in the log (KIP-48). Times are
those of the day, for holders and brokers hold them against their own clocks.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final

from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    DelegationTokenAuthDisabled,
    DelegationTokenExpired,
    DelegationTokenNotFound,
    DelegationTokenOwnerMismatch,
    DelegationTokenRequestNotAllowed,
    InvalidPrincipalType,
)
from barnabas.controller.tasks import Outcome, PeriodicTask
from barnabas.metadata.access import DelegationToken
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from barnabas.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from barnabas.protocol.metadata_records.remove_delegation_token import RemoveDelegationTokenRecord
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation, ResourceType

USER_TYPE: Final = "User"
LATEST_MS: Final = 2**63 - 1
REMOVALS_MAX: Final = 1_000
# From this version on the owner of a token may be another than the one who asked for it.
TELLS_REQUESTER: Final = 3


def create_token(situation: Situation, request: CreateDelegationTokenRequest, context: RequestContext) -> Decision:
    """A token for the asker, or for another owner."""
    _check_asker(context)
    owner = context.principal
    if request.owner_principal_name:
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    if owner != context.principal:
        context.access.require(AclOperation.CREATE_TOKENS, ResourceType.USER, owner)
    secret = _secret(situation)
    for renewer in request.renewers:
        if renewer.principal_type != USER_TYPE:
            raise InvalidPrincipalType(f"a renewer is of type {USER_TYPE}, not {renewer.principal_type}")
    settings, now_ms = situation.settings, situation.wall_ms
    lifetime_ms = settings.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_ms = _later(now_ms, lifetime_ms)
    token_id = str(situation.random_id())
    token = DelegationToken(
        owner=owner,
        requester=context.principal,
        renewers=tuple(f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers),
        issue_timestamp=now_ms,
        max_timestamp=max_ms,
        expiration_timestamp=min(max_ms, _later(now_ms, settings.delegation_token_expiry_time_ms)),
    )
    owner_type, _, owner_name = owner.partition(":")
    requester = context.principal if context.version >= TELLS_REQUESTER else ""
    requester_type, _, requester_name = requester.partition(":")
    response = CreateDelegationTokenResponse(
        error_code=0,
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp_ms=token.issue_timestamp,
        expiry_timestamp_ms=token.expiration_timestamp,
        max_timestamp_ms=token.max_timestamp,
        token_id=token_id,
        hmac=_hmac(secret, token_id),
        throttle_time_ms=0,
    )
    return Decision(response, [token.record(token_id)], is_atomic=True)


def renew_token(situation: Situation, request: RenewDelegationTokenRequest, context: RequestContext) -> Decision:
    """Let a token live longer, though not beyond its greatest age."""
    _check_asker(context)
    token_id, token = _find(situation, request.hmac)
    _check_alive(situation, token)
    _check_permitted(token, context.principal)
    period_ms = situation.settings.delegation_token_expiry_time_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    expiry_ms = min(token.max_timestamp, _later(situation.wall_ms, period_ms))
    response = RenewDelegationTokenResponse(error_code=0, expiry_timestamp_ms=expiry_ms, throttle_time_ms=0)
    renewed = token._replace(expiration_timestamp=expiry_ms)
    return Decision(response, [renewed.record(token_id)], is_atomic=True)


def expire_token(situation: Situation, request: ExpireDelegationTokenRequest, context: RequestContext) -> Decision:
    """Let a token end after a time, or at once where that is negative."""
    _check_asker(context)
    token_id, token = _find(situation, request.hmac)
    _check_permitted(token, context.principal)
    record: Message
    if request.expiry_time_period_ms < 0:
        expiry_ms = situation.wall_ms
        record = RemoveDelegationTokenRecord(token_id=token_id)
    else:
        _check_alive(situation, token)
        expiry_ms = min(token.max_timestamp, _later(situation.wall_ms, request.expiry_time_period_ms))
        record = token._replace(expiration_timestamp=expiry_ms).record(token_id)
    response = ExpireDelegationTokenResponse(error_code=0, expiry_timestamp_ms=expiry_ms, throttle_time_ms=0)
    return Decision(response, [record], is_atomic=True)


def remove_expired(situation: Situation) -> Outcome:
    """Forget tokens that nobody can use any more."""
    expired = [
        token_id
        for token_id, token in situation.image.delegation_tokens.entries()
        if _is_expired(token, situation.wall_ms)
    ]
    records = [RemoveDelegationTokenRecord(token_id=token_id) for token_id in expired[:REMOVALS_MAX]]
    return Outcome(Decision(records=records), has_more=len(expired) > REMOVALS_MAX)


def _check_asker(context: RequestContext) -> None:
    """Only who has shown who they are, to a broker as a rule, and by more than a token.

    A controller's own listeners are PLAINTEXT, where nobody shows it.
    """
    if not context.is_forwarded or context.is_token_authenticated:
        raise DelegationTokenRequestNotAllowed(
            "tokens are given by brokers, to those who have authenticated themselves"
        )


def _secret(situation: Situation) -> bytes:
    secret = situation.settings.delegation_token_secret_key
    if secret is None:
        raise DelegationTokenAuthDisabled("no delegation.token.secret.key is set")
    return secret.encode()


def _hmac(secret: bytes, token_id: str) -> bytes:
    return hmac.digest(secret, token_id.encode(), "sha512")


def _find(situation: Situation, shown: bytes) -> tuple[str, DelegationToken]:
    secret = _secret(situation)
    for token_id, token in situation.image.delegation_tokens.entries():
        if hmac.compare_digest(_hmac(secret, token_id), bytes(shown)):
            return token_id, token
    raise DelegationTokenNotFound("there is no token with this HMAC")


def _is_expired(token: DelegationToken, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def _check_alive(situation: Situation, token: DelegationToken) -> None:
    if _is_expired(token, situation.wall_ms):
        raise DelegationTokenExpired("the token's time is over")


def _check_permitted(token: DelegationToken, principal: str) -> None:
    if principal != token.owner and principal not in token.renewers:
        raise DelegationTokenOwnerMismatch(f"{principal} neither owns the token nor may renew it")


def _later(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, LATEST_MS)


def _refuse_creation(_request: CreateDelegationTokenRequest, error: ApiError, _version: int) -> Message:
    return CreateDelegationTokenResponse(
        error_code=error.code,
        principal_type="",
        principal_name="",
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )


def _refuse_renewal(_request: RenewDelegationTokenRequest, error: ApiError, _version: int) -> Message:
    return RenewDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=-1, throttle_time_ms=0)


def _refuse_expiry(_request: ExpireDelegationTokenRequest, error: ApiError, _version: int) -> Message:
    return ExpireDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=-1, throttle_time_ms=0)


OPERATIONS: Mapping[type[Message], Operation] = {
    CreateDelegationTokenRequest: Operation(create_token, _refuse_creation, needs=None),
    RenewDelegationTokenRequest: Operation(renew_token, _refuse_renewal, needs=None),
    ExpireDelegationTokenRequest: Operation(expire_token, _refuse_expiry, needs=None),
}

REMOVE_EXPIRED_TOKENS = PeriodicTask(
    "remove expired delegation tokens",
    lambda settings: settings.delegation_token_expiry_check_interval_ms,
    remove_expired,
)

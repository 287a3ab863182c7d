"""Who asks a controller: from a call or an envelope to what decisions and checks may know of the asker.

On a PLAINTEXT listener nobody shows who they are, so whoever connects is User:ANONYMOUS. A broker that passes a request
on is asked for its own right to do so; from then on the request is the client's, with its principal and address.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.broker.call import Call
from barnabas.controller.decision import RequestContext
from barnabas.protocol.api import ApiKey
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.framing import Request
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.security.acls import ANONYMOUS, AclOperation, ResourceType
from barnabas.security.authorizer import Access, Acls, Authorizer
from barnabas.security.hosts import host_text
from barnabas.security.mutation_quotas import MutationAllowance, MutationQuotas

LOG: Final = logging.getLogger(__name__)

# The versions from which clients understand that a quota is used up; before them they are only slowed down.
_REFUSABLE_SINCE: Final[Mapping[int, int]] = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.CREATE_PARTITIONS: 3,
}


class RequestContexts:
    """Without an authorizer everybody may do everything."""

    def __init__(self, authorizer: Authorizer | None, quotas: MutationQuotas) -> None:
        self._authorizer = authorizer
        self._quotas = quotas

    def access(self, call: Call) -> Access:
        """What the other end of a connection may do."""
        return self._access(ANONYMOUS, call.client.host)

    def direct(self, call: Call) -> RequestContext:
        return RequestContext(
            version=call.version,
            principal=ANONYMOUS,
            listener=call.client.listener,
            access=self.access(call),
            allowance=self._allowance(call.header, ANONYMOUS, call.now_ms),
        )

    def forwarded(self, inner: Request, principal: DefaultPrincipalData, address: bytes, call: Call) -> RequestContext:
        """Of a request in an envelope, whose client a broker has authenticated."""
        name = f"{principal.type}:{principal.name}"
        return RequestContext(
            version=inner.version,
            principal=name,
            listener=call.client.listener,
            is_forwarded=True,
            is_token_authenticated=principal.token_authenticated,
            access=self._access(name, address),
            allowance=self._allowance(inner.header, name, call.now_ms),
        )

    def _access(self, principal: str, host: str | bytes) -> Access:
        return Access(self._authorizer, principal, host_text(host), _log_denied)

    def _allowance(self, header: RequestHeader, principal: str, now_ms: int) -> MutationAllowance | None:
        refusable_since = _REFUSABLE_SINCE.get(header.request_api_key)
        if refusable_since is None:
            return None
        is_strict = header.request_api_version >= refusable_since
        user = principal.partition(":")[2]
        return self._quotas.allowance(user, header.client_id or "", now_ms, is_strict=is_strict)


class LoadedAcls:
    """The access control entries as they are committed, None until all that was committed at the start is replayed."""

    def __init__(self, replay: MetadataReplay, high_watermark: Callable[[], int | None]) -> None:
        self._replay = replay
        self._high_watermark = high_watermark
        self._is_loaded = False

    def __call__(self) -> Acls | None:
        if not self._is_loaded:
            high_watermark = self._high_watermark()
            self._is_loaded = high_watermark is not None and self._replay.next_offset >= high_watermark
        return self._replay.image.acls if self._is_loaded else None


def _log_denied(access: Access, operation: AclOperation, resource_type: ResourceType, name: str) -> None:
    LOG.info(
        "denied",
        extra={
            "principal": access.principal,
            "host": access.host,
            "operation": operation.name,
            "resource": f"{resource_type.name}:{name}",
        },
    )

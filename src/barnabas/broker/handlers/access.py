"""What a broker tells of quotas, credentials and tokens, all from its own copy of the metadata.

DescribeClientQuotas v0-v1, DescribeUserScramCredentials v0, DescribeAcls v1-v3, and the delegation token APIs. Tokens
are refused to whoever has not authenticated, which on a PLAINTEXT listener is everybody. Access control entries can be
looked at only where an authorizer enforces them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.broker.call import Call, Outcome
from barnabas.broker.client_quotas import describe_client_quotas
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.errors import DelegationTokenRequestNotAllowed
from barnabas.controller.operations import OPERATIONS
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from barnabas.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from barnabas.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from barnabas.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from barnabas.protocol.schema import Message

TOKEN_CHANGES: Final = (
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
)


class DescribeAccess:
    def __init__(self, image: Callable[[], MetadataImage]) -> None:
        self._image = image

    @property
    def routes(self) -> tuple[Route, ...]:
        handlers: Mapping[ApiKey, Callable[..., Outcome]] = {
            ApiKey.DESCRIBE_CLIENT_QUOTAS: self.describe_quotas,
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: self.describe_credentials,
            ApiKey.DESCRIBE_ACLS: self.describe_acls,
            ApiKey.DESCRIBE_DELEGATION_TOKEN: self.describe_tokens,
            **dict.fromkeys(TOKEN_CHANGES, self.change_token),
        }
        return tuple(
            Route(
                key,
                APIS[key].versions,
                ServedBy.CONTROLLER if key in TOKEN_CHANGES else ServedBy.BROKER,
                handle,
            )
            for key, handle in handlers.items()
        )

    def describe_quotas(self, request: DescribeClientQuotasRequest, call: Call) -> Message:  # noqa: ARG002
        return describe_client_quotas(self._image().client_quotas, request)

    def describe_credentials(
        self,
        request: DescribeUserScramCredentialsRequest,
        call: Call,  # noqa: ARG002
    ) -> DescribeUserScramCredentialsResponse:
        """The mechanisms and iterations of some users or, where none is named, of all."""
        by_user: dict[str, list[CredentialInfo]] = {}
        for user, credential in self._image().scram.entries():
            by_user.setdefault(user.name, []).append(
                CredentialInfo(mechanism=user.mechanism, iterations=credential.iterations)
            )
        asked = Counter(user.name for user in request.users or ()) or Counter(by_user.keys())
        results = []
        for name, times in asked.items():
            code, text = ErrorCode.NONE, None
            if times > 1:
                code, text = ErrorCode.DUPLICATE_RESOURCE, f"{name} is asked for more than once"
            elif name not in by_user:
                code, text = ErrorCode.RESOURCE_NOT_FOUND, f"{name} has no credentials"
            infos = by_user[name] if code is ErrorCode.NONE else []
            results.append(
                DescribeUserScramCredentialsResult(
                    user=name, error_code=code, error_message=text, credential_infos=infos
                )
            )
        return DescribeUserScramCredentialsResponse(
            throttle_time_ms=0, error_code=0, error_message=None, results=results
        )

    def describe_acls(self, request: DescribeAclsRequest, call: Call) -> DescribeAclsResponse:  # noqa: ARG002
        return DescribeAclsResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.SECURITY_DISABLED,
            error_message="no authorizer is set on this broker",
            resources=[],
        )

    def describe_tokens(
        self,
        request: DescribeDelegationTokenRequest,  # noqa: ARG002
        call: Call,  # noqa: ARG002
    ) -> DescribeDelegationTokenResponse:
        return DescribeDelegationTokenResponse(
            error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, tokens=[], throttle_time_ms=0
        )

    def change_token(self, request: Message, call: Call) -> Message:
        return OPERATIONS[type(request)].refuse(request, DelegationTokenRequestNotAllowed(), call.version)

"""SaslHandshake and SaslAuthenticate where there is nothing to authenticate: on a PLAINTEXT listener it is too late.

SaslHandshake v0-v1, SaslAuthenticate v0-v2. On listeners with SASL they come before everything else, and never here.
"""

from __future__ import annotations

from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def refuse_handshake(_request: SaslHandshakeRequest, _call: Call) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])


def refuse_authentication(_request: SaslAuthenticateRequest, _call: Call) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="this connection needs no authentication, or has it already",
        auth_bytes=b"",
    )


SASL_STATE_ROUTES: Final = (
    Route(ApiKey.SASL_HANDSHAKE, APIS[ApiKey.SASL_HANDSHAKE].versions, ServedBy.BROKER, refuse_handshake),
    Route(ApiKey.SASL_AUTHENTICATE, APIS[ApiKey.SASL_AUTHENTICATE].versions, ServedBy.BROKER, refuse_authentication),
)

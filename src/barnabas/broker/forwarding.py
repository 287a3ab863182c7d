"""Passes on what the controller decides: the request in an envelope with its client's name, its answer back to them.

The answer is the controller's own. What goes wrong with the envelope is this cluster's affair and no client's: it is
answered with UNKNOWN_SERVER_ERROR, and a controller that did not answer in time with REQUEST_TIMED_OUT. Where the
controller does not speak the version any more, the client has to connect anew and choose another.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from barnabas.broker.call import Call, Client, Disconnect, Pending
from barnabas.broker.dispatch import bare_error
from barnabas.broker.routing import Route, ServedBy
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.errors import ApiError, ErrorCode, UnknownServerError
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages import RESPONSES
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.schema import Message, ProtocolError

LOG: Final = logging.getLogger(__name__)

PRINCIPAL_VERSION: Final = 0
# How long a request is tried to be put to a controller that cannot be found.
TIMEOUT_MS: Final = 60_000

# What a broker does not answer itself.
FORWARDED: Final = (
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.UPDATE_FEATURES,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
)

# Asks the active controller within a time and gives its answer; raises an ApiError where there is none.
AskController = Callable[[Message, int], Awaitable[Any]]
Refuse = Callable[[Message, ApiError, int], Message | None]
Spawn = Callable[[Coroutine[Any, Any, None]], object]


class Forwarding:
    """`refuse` builds the answer to a request that failed as a whole; `spawn` runs what has to wait for an answer."""

    def __init__(self, ask: AskController, refuse: Refuse, spawn: Spawn) -> None:
        self._ask = ask
        self._refuse = refuse
        self._spawn = spawn

    @property
    def routes(self) -> tuple[Route, ...]:
        return tuple(self.routes_of(FORWARDED))

    def routes_of(self, keys: Iterable[ApiKey]) -> Iterator[Route]:
        for key in keys:
            yield Route(key, APIS[key].versions, ServedBy.CONTROLLER, self.handle)

    def handle(self, request: Message, call: Call) -> Pending:
        pending = Pending()
        self._spawn(self._complete(pending, request, call))
        return pending

    async def _complete(self, pending: Pending, request: Message, call: Call) -> None:
        try:
            response = await self.forward(request, call)
        except Exception as error:
            pending.fail(error)
        else:
            pending.complete(response)

    async def forward(self, request: Message, call: Call) -> Any:
        """The controller's answer to a client's request, or a refusal of all of it; Disconnect where it has none."""
        try:
            return await self._exchange(request, call)
        except ApiError as error:
            refusal = self._refuse(request, error, call.version)
            if refusal is None:
                raise Disconnect(f"{type(request).__name__} could not be passed on: {error}") from error
            return refusal

    async def _exchange(self, request: Message, call: Call) -> Message:
        key = type(request).api_key
        assert key is not None, f"{type(request).__name__} is no request"
        _, *parts = _split_size(frame_request(request, call.version, call.header.correlation_id, call.header.client_id))
        envelope = EnvelopeRequest(
            request_data=b"".join(parts),
            request_principal=encode_principal("User", "ANONYMOUS"),
            client_host_address=address_bytes(call.client),
        )
        answer: EnvelopeResponse = await self._ask(envelope, TIMEOUT_MS)
        code = ErrorCode(answer.error_code)
        if code is ErrorCode.UNSUPPORTED_VERSION:
            raise Disconnect(f"the controller does not speak version {call.version} of {type(request).__name__}")
        if code is not ErrorCode.NONE:
            LOG.error("the controller refuses an envelope", extra={"error": code.name, **call.describe()})
            raise UnknownServerError
        try:
            _, response = read_response(memoryview(answer.response_data or b""), RESPONSES[key], call.version)
        except ProtocolError as error:
            LOG.error("the controller's answer cannot be read", exc_info=error, extra=call.describe())
            raise UnknownServerError from error
        return response


def _split_size(parts: list[Any]) -> list[Any]:
    """The size of a frame, and what stands behind it."""
    first = memoryview(parts[0])
    return [first[:4], first[4:], *parts[1:]]


def encode_principal(kind: str, name: str) -> bytes:
    """As DefaultKafkaPrincipalBuilder does: a version of two bytes, then the message."""
    principal = DefaultPrincipalData(type=kind, name=name, token_authenticated=False)
    return PRINCIPAL_VERSION.to_bytes(2, "big") + bytes(encode(principal, PRINCIPAL_VERSION))


def address_bytes(client: Client) -> bytes:
    """The address of a client as Java has it: four bytes where it came by IPv4, however the listener sees it."""
    address = ip_address(client.host.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.packed
    return address.packed


def refuse_bare(request: Message, error: ApiError, version: int) -> Message | None:
    """The refusal of an API that has an error code on top of its response."""
    key = type(request).api_key
    assert key is not None, f"{type(request).__name__} is no request"
    return bare_error(RESPONSES[key], version, error.code)

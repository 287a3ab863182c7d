"""What a controller's listener serves: the quorum's APIs, everything the controller decides on, and Envelope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from barnabas.broker.call import Call, Pending
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.decision import RequestContext
from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.schema import Message

QUORUM_APIS = (
    ApiKey.FETCH,
    ApiKey.VOTE,
    ApiKey.BEGIN_QUORUM_EPOCH,
    ApiKey.END_QUORUM_EPOCH,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.FETCH_SNAPSHOT,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
    ApiKey.UPDATE_RAFT_VOTER,
)

AskQuorum = Callable[[Message, int, str], Pending]
AskController = Callable[[Message, RequestContext], Pending]


def quorum_routes(ask: AskQuorum) -> Iterator[Route]:
    def handle(request: Message, call: Call) -> Pending:
        return ask(request, call.version, call.client.listener)

    for key in QUORUM_APIS:
        yield Route(key, APIS[key].versions, ServedBy.CONTROLLER, handle)


def controller_routes(requests: Iterable[type[Message]], ask: AskController) -> Iterator[Route]:
    """Routes of the requests that the controller decides on or answers."""

    def handle(request: Message, call: Call) -> Pending:
        return ask(request, RequestContext(version=call.version, listener=call.client.listener))

    for request in requests:
        assert request.api_key is not None, f"{request.__name__} is no request"
        api = APIS[ApiKey(request.api_key)]
        if Listener.CONTROLLER in api.listeners:
            yield Route(api.key, api.versions, ServedBy.CONTROLLER, handle)

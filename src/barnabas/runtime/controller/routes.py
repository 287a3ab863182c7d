"""What a controller's listener serves: the quorum's APIs, and everything the controller decides on or answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from barnabas.broker.call import Call, Pending
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.decision import RequestContext
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.schema import Message
from barnabas.runtime.controller.contexts import RequestContexts
from barnabas.security.acls import AclOperation

# What an asker must be allowed on the cluster for each of the quorum's APIs.
QUORUM_APIS: Final[Mapping[int, AclOperation]] = {
    ApiKey.FETCH: AclOperation.CLUSTER_ACTION,
    ApiKey.VOTE: AclOperation.CLUSTER_ACTION,
    ApiKey.BEGIN_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.END_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.DESCRIBE_QUORUM: AclOperation.DESCRIBE,
    ApiKey.FETCH_SNAPSHOT: AclOperation.CLUSTER_ACTION,
    ApiKey.ADD_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.REMOVE_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.UPDATE_RAFT_VOTER: AclOperation.CLUSTER_ACTION,
}

AskQuorum = Callable[[Message, int, str], Pending]
AskController = Callable[[Message, RequestContext], Pending]


def quorum_routes(ask: AskQuorum, contexts: RequestContexts) -> Iterator[Route]:
    def handle(request: Message, call: Call) -> Pending:
        contexts.access(call).require_of_cluster(QUORUM_APIS[call.header.request_api_key])
        return ask(request, call.version, call.client.listener)

    for key in QUORUM_APIS:
        api = APIS[ApiKey(key)]
        yield Route(api.key, api.versions, ServedBy.CONTROLLER, handle)


def controller_routes(
    requests: Iterable[type[Message]], ask: AskController, contexts: RequestContexts
) -> Iterator[Route]:
    """Routes of the requests that the controller decides on or answers."""

    def handle(request: Message, call: Call) -> Pending:
        return ask(request, contexts.direct(call))

    for request in requests:
        assert request.api_key is not None, f"{request.__name__} is no request"
        api = APIS[ApiKey(request.api_key)]
        yield Route(api.key, api.versions, ServedBy.CONTROLLER, handle)

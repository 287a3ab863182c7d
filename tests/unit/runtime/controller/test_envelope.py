"""Envelope: requests that brokers pass on, the answers inside, and what is wrong with an envelope."""

from __future__ import annotations

import pytest

from barnabas.broker.call import Call, Client, Pending
from barnabas.broker.routing import Route, ServedBy
from barnabas.controller.decision import RequestContext
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.messages.fetch import FetchRequest
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.schema import Message
from barnabas.runtime.controller.contexts import RequestContexts
from barnabas.runtime.controller.envelope import Envelopes
from barnabas.security.acls import ANONYMOUS, CLUSTER_NAME, AclOperation, ResourceType
from barnabas.security.authorizer import Authorizer, AuthorizerRules
from barnabas.security.errors import ClusterAuthorizationFailed
from barnabas.security.mutation_quotas import MutationQuotas

VERSION = 7
CORRELATION_ID = 42
PRINCIPAL = b"\0\0" + bytes(encode(DefaultPrincipalData(type="User", name="alice", token_authenticated=False), 0))
ADDRESS = bytes([10, 0, 0, 1])
TOPIC = CreatableTopic(name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[])
CREATE = CreateTopicsRequest(topics=[TOPIC], timeout_ms=100, validate_only=False)


class Asked:
    """Stands for the controller and the quorum: keeps what it is asked, and is told what to answer."""

    def __init__(self) -> None:
        self.pending = Pending()
        self.request: Message | None = None
        self.context: RequestContext | None = None

    def controller(self, request: Message, context: RequestContext) -> Pending:
        self.request, self.context = request, context
        return self.pending

    def quorum(self, request: Message, _version: int, _listener: str) -> Pending:
        self.request = request
        return self.pending


def request_contexts(authorizer: Authorizer | None = None) -> RequestContexts:
    return RequestContexts(authorizer, MutationQuotas(SortedMap, window_num=1, window_size_seconds=1))


def send(
    asked: Asked, envelope: EnvelopeRequest, contexts: RequestContexts | None = None
) -> EnvelopeResponse | Pending:
    keys = (ApiKey.CREATE_TOPICS, ApiKey.DESCRIBE_QUORUM, ApiKey.FETCH)
    routes: dict[int, Route] = {
        key: Route(key, APIS[key].versions, ServedBy.CONTROLLER, lambda _request, _call: None) for key in keys
    }
    header = RequestHeader(request_api_key=ApiKey.ENVELOPE, request_api_version=0, correlation_id=1, client_id="broker")
    call = Call(header, 0, Client("c", "127.0.0.1", 1, "CONTROLLER"), 0)
    return Envelopes(routes, asked.controller, asked.quorum, contexts or request_contexts()).handle(envelope, call)


def enclosed(request: Message, version: int = VERSION) -> bytes:
    return b"".join(frame_request(request, version, CORRELATION_ID, "client"))[4:]


def envelope(request: bytes, principal: bytes | None = PRINCIPAL, address: bytes = ADDRESS) -> EnvelopeRequest:
    return EnvelopeRequest(request_data=request, request_principal=principal, client_host_address=address)


def result(outcome: EnvelopeResponse | Pending) -> EnvelopeResponse:
    response = outcome.result() if isinstance(outcome, Pending) else outcome
    assert isinstance(response, EnvelopeResponse)
    return response


def created(code: ErrorCode) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        throttle_time_ms=0, topics=[CreatableTopicResult(name="t", error_code=code, error_message=None)]
    )


def test_the_answer_comes_back_as_the_client_would_have_got_it() -> None:
    asked = Asked()
    outcome = send(asked, envelope(enclosed(CREATE)))
    assert isinstance(outcome, Pending)
    assert not outcome.is_completed
    context = asked.context
    assert context is not None
    assert (context.version, context.principal, context.listener) == (VERSION, "User:alice", "CONTROLLER")
    assert context.is_forwarded
    assert (context.access.principal, context.access.host) == ("User:alice", "10.0.0.1")
    asked.pending.complete(created(ErrorCode.TOPIC_ALREADY_EXISTS))
    response = result(outcome)
    assert response.error_code == ErrorCode.NONE
    assert response.response_data is not None
    correlation_id, inner = read_response(memoryview(response.response_data), CreateTopicsResponse, VERSION)
    assert correlation_id == CORRELATION_ID
    assert isinstance(inner, CreateTopicsResponse)
    assert inner.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


def test_the_broker_needs_to_be_allowed_to_pass_requests_on() -> None:
    nobody = request_contexts(Authorizer(AuthorizerRules(), SortedMap))
    with pytest.raises(ClusterAuthorizationFailed):
        send(Asked(), envelope(enclosed(CREATE)), nobody)


def test_what_is_in_the_envelope_is_the_clients_and_not_the_brokers() -> None:
    brokers_only = request_contexts(Authorizer(AuthorizerRules(super_users=frozenset({ANONYMOUS})), SortedMap))
    asked = Asked()
    send(asked, envelope(enclosed(CREATE)), brokers_only)
    assert asked.context is not None
    assert not asked.context.access.allows(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
    refused = result(send(asked, envelope(enclosed(DescribeQuorumRequest(topics=[]), 0)), brokers_only))
    assert refused.response_data is not None
    _, inner = read_response(memoryview(refused.response_data), DescribeQuorumResponse, 0)
    assert isinstance(inner, DescribeQuorumResponse)
    assert inner.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_a_client_that_came_by_a_token_is_known_as_such() -> None:
    principal = DefaultPrincipalData(type="User", name="alice", token_authenticated=True)
    asked = Asked()
    send(asked, envelope(enclosed(CREATE), b"\0\0" + bytes(encode(principal, 0))))
    assert asked.context is not None
    assert asked.context.is_token_authenticated


def test_a_controller_that_is_not_active_says_so_in_the_envelope() -> None:
    asked = Asked()
    outcome = send(asked, envelope(enclosed(CREATE)))
    asked.pending.complete(created(ErrorCode.NOT_CONTROLLER))
    assert result(outcome) == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


def test_the_quorum_is_asked_about_itself_and_only_its_leader_answers() -> None:
    asked = Asked()
    outcome = send(asked, envelope(enclosed(DescribeQuorumRequest(topics=[]), 0)))
    assert asked.request == DescribeQuorumRequest(topics=[])
    refused = DescribeQuorumResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER, topics=[])
    asked.pending.complete(refused)
    assert result(outcome).error_code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (envelope(enclosed(CREATE), principal=b"\0\1x"), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(enclosed(CREATE), principal=None), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(enclosed(CREATE), address=b"123"), ErrorCode.INVALID_REQUEST),
        (envelope(b"\0\x13"), ErrorCode.UNSUPPORTED_VERSION),
        (envelope(b"\x7f\xff\0\0\0\0\0\0"), ErrorCode.UNSUPPORTED_VERSION),
        (envelope(enclosed(CREATE)[:-3]), ErrorCode.UNSUPPORTED_VERSION),
        (envelope(enclosed(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]), 12)), ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_wrong_with_an_envelope_is_answered_in_it(bad: EnvelopeRequest, code: ErrorCode) -> None:
    asked = Asked()
    assert result(send(asked, bad)).error_code == code
    assert asked.request is None

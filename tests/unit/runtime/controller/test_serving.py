"""A controller's listeners serve what Apache's do, and who may use them is read from the settings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from barnabas.broker.api_versions import Features
from barnabas.broker.call import Call, Client, Pending
from barnabas.broker.routing import RoutingTable
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.metadata.image import EMPTY_IMAGE
from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest
from barnabas.protocol.messages.vote import VoteRequest
from barnabas.protocol.schema import Message
from barnabas.runtime.controller.contexts import LoadedAcls
from barnabas.runtime.controller.serving import STANDARD_AUTHORIZER, authorizer_rules, controller_table
from barnabas.security.authorizer import AuthorizerRules
from barnabas.security.errors import ClusterAuthorizationFailed

BASE = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
}
# APIs that Apache's ApiVersions lists on controllers, and why ours does not.
LEFT_OUT = {
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "Apache's controllers list it and fail on it: brokers tell tokens",
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: "likewise: brokers tell credentials",
}


def table(**settings: str) -> RoutingTable:
    replay: Any = SimpleNamespace(image=EMPTY_IMAGE, next_offset=0)
    return controller_table(
        parse_node(BASE | {name.replace("_", "."): value for name, value in settings.items()}),
        replay=replay,
        acls=LoadedAcls(replay, lambda: 0),
        features=Features,
        ask_controller=lambda _request, _context: Pending(),
        ask_quorum=lambda _request, _version, _listener: Pending(),
    )


def ask(routes: RoutingTable, request: Message) -> Any:
    key, version = request.api_key or 0, request.valid_versions[-1]
    header = RequestHeader(request_api_key=key, request_api_version=version, correlation_id=1, client_id="app")
    return routes.routes[key].handle(request, Call(header, version, Client("c", "127.0.0.1", 1, "CONTROLLER"), 0))


def test_exactly_the_apis_of_apaches_controllers_are_listed_but_for_those_named_here() -> None:
    response = ask(table(), ApiVersionsRequest(client_software_name="test", client_software_version="1"))
    listed = {ApiKey(each.api_key): range(each.min_version, each.max_version + 1) for each in response.api_keys}
    of_apache = {key: api.stable_versions for key, api in APIS.items() if Listener.CONTROLLER in api.listeners}
    assert of_apache.keys() - listed.keys() == LEFT_OUT.keys()
    assert listed == {key: versions for key, versions in of_apache.items() if key not in LEFT_OUT}


def test_a_controller_describes_its_own_settings() -> None:
    resources = [
        DescribeConfigsResource(resource_type=4, resource_name=name, configuration_keys=["node.id"]) for name in "12"
    ]
    own, other = ask(table(), DescribeConfigsRequest(resources=resources)).results
    assert [(each.name, each.value) for each in own.configs] == [("node.id", "1")]
    assert other.error_code == ErrorCode.INVALID_REQUEST


def test_there_is_nothing_to_authenticate_on_a_plaintext_listener() -> None:
    for request in (SaslHandshakeRequest(mechanism="PLAIN"), SaslAuthenticateRequest(auth_bytes=b"")):
        assert ask(table(), request).error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_an_authorizer_guards_the_quorum_and_the_settings_too() -> None:
    guarded = table(authorizer_class_name=STANDARD_AUTHORIZER)
    with pytest.raises(ClusterAuthorizationFailed):
        ask(guarded, VoteRequest(cluster_id=None, topics=[]))
    resource = DescribeConfigsResource(resource_type=4, resource_name="1", configuration_keys=None)
    (refused,) = ask(guarded, DescribeConfigsRequest(resources=[resource])).results
    assert (refused.error_code, refused.configs) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [])
    friendly = {"authorizer_class_name": STANDARD_AUTHORIZER, "super_users": "User:root;User:ANONYMOUS"}
    assert isinstance(ask(table(**friendly), VoteRequest(cluster_id=None, topics=[])), Pending)


def test_a_controller_that_shuts_other_nodes_out_says_so(caplog: pytest.LogCaptureFixture) -> None:
    table(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:ANONYMOUS")
    assert not caplog.records
    table(authorizer_class_name=STANDARD_AUTHORIZER)
    assert ["User:ANONYMOUS" in vars(record)["reason"] for record in caplog.records] == [True]


def rules(**settings: str) -> AuthorizerRules | None:
    return authorizer_rules(parse_node(BASE | {name.replace("_", "."): value for name, value in settings.items()}))


def test_the_rules_of_access_are_read_from_the_settings() -> None:
    assert rules() is None
    assert rules(authorizer_class_name=f" {STANDARD_AUTHORIZER} ") == AuthorizerRules()
    assert rules(
        authorizer_class_name=STANDARD_AUTHORIZER,
        super_users=" User:a; User:CN=b,O=c ;",
        **{"allow.everyone.if.no.acl.found": "TRUE"},
    ) == AuthorizerRules(super_users=frozenset({"User:a", "User:CN=b,O=c"}), is_allowed_without_acls=True)


def test_another_authorizer_and_a_super_user_without_a_type_are_named() -> None:
    with pytest.raises(ConfigError, match=rf"authorizer.class.name: org.example.Mine .*{STANDARD_AUTHORIZER}"):
        rules(authorizer_class_name="org.example.Mine")
    with pytest.raises(ConfigError, match=r"super.users: 'root' .*User:root"):
        rules(authorizer_class_name=STANDARD_AUTHORIZER, super_users="root")

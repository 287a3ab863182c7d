"""A running controller holds its askers to access control entries, quotas and policies, over real sockets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.controller.policies import NewTopic, PolicyViolation
from barnabas.protocol.codec import encode
from barnabas.protocol.embedded.default_principal import DefaultPrincipalData
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from barnabas.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from barnabas.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest
from barnabas.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from barnabas.protocol.schema import Message
from barnabas.runtime.clock import SystemClock
from barnabas.security.acls import AclOperation, PatternType, PermissionType, ResourceType
from controller_nodes import CLUSTER_ID, Controllers, config_change, controllers, run
from unit.controller.controlled_cluster import registration

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SECURED = {"authorizer.class.name": AUTHORIZER, "super.users": "User:ANONYMOUS"}
ANY = 1
HOUR_MS = 60 * 60 * 1_000


class ShortNames:
    """The policy that a test's controller is set up with."""

    def configure(self, settings: Mapping[str, str]) -> None:
        self._longest = int(settings["names.max"])

    def validate(self, topic: NewTopic) -> None:
        if len(topic.name) > self._longest:
            raise PolicyViolation(f"{topic.name} has more than {self._longest} letters")


def new_topics(*names: str, partitions: int = 1) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[])
            for name in names
        ]
    )


async def start_broker(nodes: Controllers) -> None:
    """A broker that registers and is unfenced, and does no more."""
    registered = await nodes.ask(1, registration(7, cluster_id=CLUSTER_ID))
    assert registered.error_code == 0
    heartbeat = BrokerHeartbeatRequest(
        broker_id=7,
        broker_epoch=registered.broker_epoch,
        current_metadata_offset=2**62,
        want_fence=False,
        want_shut_down=False,
    )
    answer = await nodes.ask(1, heartbeat)
    assert not answer.is_fenced


async def forward(
    nodes: Controllers,
    request: Message,
    user: str,
    version: int,
    expected: type[Message] = CreateTopicsResponse,
) -> Any:
    """Ask as a broker does for a client."""
    principal = DefaultPrincipalData(type="User", name=user, token_authenticated=False)
    envelope = EnvelopeRequest(
        request_data=b"".join(frame_request(request, version, 1, "app"))[4:],
        request_principal=b"\0\0" + bytes(encode(principal, 0)),
        client_host_address=bytes([10, 0, 0, 1]),
    )
    response = await nodes.ask(1, envelope)
    assert isinstance(response, EnvelopeResponse)
    assert response.error_code == 0
    assert response.response_data is not None
    return read_response(memoryview(response.response_data), expected, version)[1]


def test_entries_are_kept_and_hold_from_then_on() -> None:
    async def scenario() -> None:
        async with controllers(1, 0, **SECURED) as nodes:
            nodes.start()
            await nodes.active()
            await start_broker(nodes)
            denied = await forward(nodes, new_topics("t"), "ada", 7)
            assert [each.error_code for each in denied.topics] == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
            creation = AclCreation(
                resource_type=ResourceType.TOPIC,
                resource_name="t",
                resource_pattern_type=PatternType.PREFIXED,
                principal="User:ada",
                host="10.0.0.1",
                operation=AclOperation.CREATE,
                permission_type=PermissionType.ALLOW,
            )
            created = await nodes.ask(1, CreateAclsRequest(creations=[creation]))
            assert [each.error_code for each in created.results] == [0]
            allowed = await forward(nodes, new_topics("topic", "other"), "ada", 7)
            codes = [each.error_code for each in allowed.topics]
            assert codes == [0, ErrorCode.TOPIC_AUTHORIZATION_FAILED]
            everything = DescribeAclsRequest(
                resource_type_filter=ANY,
                resource_name_filter=None,
                pattern_type_filter=ANY,
                principal_filter=None,
                host_filter=None,
                operation=ANY,
                permission_type=ANY,
            )
            described = await nodes.ask(1, everything)
            assert [each.resource_name for each in described.resources] == ["t"]

    run(scenario)


def test_who_is_nobody_in_particular_gets_no_answer_but_a_refusal() -> None:
    async def scenario() -> None:
        settings = {**SECURED, "super.users": "User:somebody"}
        async with controllers(1, 0, **settings) as nodes:
            nodes.start()
            await nodes.active()
            await nodes.until(lambda: nodes.offset(1) > 0)
            registered = await nodes.ask(1, registration(7, cluster_id=CLUSTER_ID))
            assert registered.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            changed = await nodes.ask(1, config_change("log.retention.ms", "5"))
            assert [each.error_code for each in changed.responses] == [ErrorCode.CLUSTER_AUTHORIZATION_FAILED]

    run(scenario)


def test_a_listener_that_is_not_to_open_early_waits_for_the_entries() -> None:
    async def scenario() -> None:
        async with controllers(1, 0, **SECURED, **{"early.start.listeners": ""}) as nodes:
            nodes.start()
            part = nodes.part(1)
            assert not part.is_open_early("CONTROLLER")
            changed = await nodes.ask(1, config_change("log.retention.ms", "5"))
            assert [each.error_code for each in changed.responses] == [0]
            assert part.controller.active_epoch is not None

    run(scenario)


def test_a_quota_of_partitions_holds_for_the_user_behind_a_broker() -> None:
    async def scenario() -> None:
        async with controllers(1, 0, **{"controller.quota.window.num": "2"}) as nodes:
            nodes.start()
            await nodes.active()
            await start_broker(nodes)
            limit = RequestEntryData(
                entity=[RequestEntityData(entity_type="user", entity_name="ada")],
                ops=[OpData(key="controller_mutation_rate", value=0.5, remove=False)],
            )
            await nodes.ask(1, AlterClientQuotasRequest(entries=[limit], validate_only=False))
            first = await forward(nodes, new_topics("a", partitions=100), "ada", 7)
            assert (first.topics[0].error_code, first.throttle_time_ms) == (0, 0)
            second = await forward(nodes, new_topics("b"), "ada", 7)
            assert second.topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
            assert 150_000 < second.throttle_time_ms <= 198_000
            older = await forward(nodes, new_topics("b"), "ada", 5)
            assert older.topics[0].error_code == 0
            assert older.throttle_time_ms > 150_000
            other = await forward(nodes, new_topics("c"), "bob", 7)
            assert (other.topics[0].error_code, other.throttle_time_ms) == (0, 0)

    run(scenario)


def test_a_token_tells_the_time_of_day_where_the_nodes_own_clock_is_another() -> None:
    async def scenario() -> None:
        async with controllers(1, 0, **{"delegation.token.secret.key": "secret"}) as nodes:
            nodes.start()
            await nodes.active()
            clock = nodes.running[1].clock
            clock._offset_ms += HOUR_MS  # As if the system's clock had been set back since the start.
            request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
            before_ms = SystemClock().now_ms()
            token = await forward(nodes, request, "ada", 3, CreateDelegationTokenResponse)
            assert token.error_code == 0
            assert before_ms <= token.issue_timestamp_ms <= SystemClock().now_ms()

    run(scenario)


def test_a_policy_of_the_clusters_own_is_asked() -> None:
    async def scenario() -> None:
        settings = {"create.topic.policy.class.name": f"{__name__}.ShortNames", "names.max": "3"}
        async with controllers(1, 0, **settings) as nodes:
            nodes.start()
            await nodes.active()
            await start_broker(nodes)
            response = await nodes.ask(1, new_topics("abc", "abcd"))
            assert [each.error_code for each in response.topics] == [0, ErrorCode.POLICY_VIOLATION]
            assert response.topics[1].error_message == "abcd has more than 3 letters"

    run(scenario)

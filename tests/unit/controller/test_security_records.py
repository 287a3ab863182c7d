"""Credentials, access control entries and delegation tokens are kept, found, changed and removed."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from barnabas.controller.acl_filters import AclFilter
from barnabas.metadata.access import AccessControlEntry, ScramUser
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Listener,
)
from barnabas.protocol.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from barnabas.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from barnabas.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from unit.controller.controlled_cluster import ControlledCluster, incarnation

SHA_256, SHA_512 = 1, 2
HOUR_MS = 60 * 60 * 1_000


def upsertion(name: str, mechanism: int = SHA_256, iterations: int = 4_096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=b"salted"
    )


def alter_credentials(
    cluster: ControlledCluster,
    *upsertions: ScramCredentialUpsertion,
    deletions: tuple[ScramCredentialDeletion, ...] = (),
) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(deletions=list(deletions), upsertions=list(upsertions))
    response = cluster.ask(request, AlterUserScramCredentialsResponse)
    return {result.user: result.error_code for result in response.results}


@pytest.mark.parametrize(("mechanism", "digest"), [(SHA_256, "sha256"), (SHA_512, "sha512")])
def test_what_is_stored_proves_a_password_and_is_not_one(mechanism: int, digest: str) -> None:
    cluster = ControlledCluster()
    assert alter_credentials(cluster, upsertion("ada", mechanism)) == {"ada": 0}
    credential = cluster.image.scram[ScramUser(mechanism, "ada")]
    client_key = hmac.new(b"salted", b"Client Key", digest).digest()
    assert credential.stored_key == hashlib.new(digest, client_key).digest()
    assert credential.server_key == hmac.new(b"salted", b"Server Key", digest).digest()
    assert (credential.salt, credential.iterations) == (b"salt", 4_096)
    deletion = ScramCredentialDeletion(name="ada", mechanism=mechanism)
    assert alter_credentials(cluster, deletions=(deletion,)) == {"ada": 0}
    assert len(cluster.image.scram) == 0
    assert alter_credentials(cluster, deletions=(deletion,)) == {"ada": ErrorCode.RESOURCE_NOT_FOUND}


def test_one_bad_credential_spares_its_neighbours() -> None:
    cluster = ControlledCluster()
    assert alter_credentials(
        cluster,
        upsertion("good"),
        upsertion(""),
        upsertion("weak", iterations=4_095),
        upsertion("slow", iterations=16_385),
        upsertion("unknown", mechanism=3),
        upsertion("twice"),
        upsertion("twice", SHA_512),
    ) == {
        "good": 0,
        "": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "weak": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "slow": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "unknown": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        "twice": ErrorCode.DUPLICATE_RESOURCE,
    }
    assert list(cluster.image.scram) == [ScramUser(SHA_256, "good")]


TOPIC, CLUSTER, LITERAL, PREFIXED, MATCH, ANY, READ, ALLOW = 2, 4, 3, 4, 2, 1, 3, 3


def acl(**changes: object) -> AclCreation:
    values: dict[str, object] = {
        "resource_type": TOPIC,
        "resource_name": "t",
        "resource_pattern_type": LITERAL,
        "principal": "User:ada",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return AclCreation(**values | changes)  # type: ignore[arg-type]


def acl_filter(**changes: object) -> dict[str, object]:
    values: dict[str, object] = {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }
    return values | changes


@pytest.fixture
def secured() -> ControlledCluster:
    return ControlledCluster(static_configs={"authorizer.class.name": "org.apache.kafka.metadata.authorizer.Standard"})


def create_acls(cluster: ControlledCluster, *creations: AclCreation) -> list[int]:
    response = cluster.ask(CreateAclsRequest(creations=list(creations)), CreateAclsResponse)
    return [result.error_code for result in response.results]


def test_entries_are_created_once_described_and_deleted(secured: ControlledCluster) -> None:
    assert create_acls(secured, acl(), acl(), acl(resource_name="u")) == [0, 0, 0]
    assert create_acls(secured, acl()) == [0]
    assert len(secured.image.acls) == 2
    described = secured.ask(DescribeAclsRequest(**acl_filter()), DescribeAclsResponse)  # type: ignore[arg-type]
    assert [(each.resource_name, len(each.acls)) for each in described.resources] == [("t", 1), ("u", 1)]
    filters = [DeleteAclsFilter(**acl_filter(resource_name_filter="t")), DeleteAclsFilter(**acl_filter())]  # type: ignore[arg-type]
    response = secured.ask(DeleteAclsRequest(filters=filters), DeleteAclsResponse)
    assert [len(each.matching_acls) for each in response.filter_results] == [1, 2]
    assert len(secured.image.acls) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type": ANY},
        {"resource_type": 0},
        {"resource_type": 9},
        {"resource_pattern_type": MATCH},
        {"resource_pattern_type": ANY},
        {"operation": ANY},
        {"operation": 16},
        {"permission_type": ANY},
        {"resource_name": ""},
        {"resource_type": CLUSTER, "resource_name": "mine"},
        {"principal": "ada"},
    ],
)
def test_an_entry_that_makes_no_sense_spares_its_neighbour(
    secured: ControlledCluster, changes: dict[str, object]
) -> None:
    assert create_acls(secured, acl(**changes), acl()) == [ErrorCode.INVALID_REQUEST, 0]
    assert len(secured.image.acls) == 1


def test_without_an_authorizer_entries_are_refused() -> None:
    cluster = ControlledCluster()
    assert create_acls(cluster, acl()) == [ErrorCode.SECURITY_DISABLED]
    described = cluster.ask(DescribeAclsRequest(**acl_filter()), DescribeAclsResponse)  # type: ignore[arg-type]
    assert described.error_code == ErrorCode.SECURITY_DISABLED


def test_a_filter_with_an_unknown_number_is_refused(secured: ControlledCluster) -> None:
    described = secured.ask(DescribeAclsRequest(**acl_filter(operation=0)), DescribeAclsResponse)  # type: ignore[arg-type]
    assert described.error_code == ErrorCode.INVALID_REQUEST
    filters = [DeleteAclsFilter(**acl_filter(pattern_type_filter=9))]  # type: ignore[arg-type]
    response = secured.ask(DeleteAclsRequest(filters=filters), DeleteAclsResponse)
    assert response.filter_results[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("pattern_type", "name", "expected"),
    [
        (LITERAL, "topic", ["topic"]),
        (PREFIXED, "top", ["top"]),
        (ANY, "top", ["top"]),
        (MATCH, "topic", ["topic", "top", "*"]),
        (MATCH, "other", ["*"]),
        (MATCH, None, ["topic", "top", "*"]),
        (LITERAL, None, ["topic", "*"]),
    ],
)
def test_a_filter_matches_patterns_as_kafka_does(pattern_type: int, name: str | None, expected: list[str]) -> None:
    entries = [
        AccessControlEntry(TOPIC, "topic", LITERAL, "User:a", "*", READ, ALLOW),
        AccessControlEntry(TOPIC, "top", PREFIXED, "User:a", "*", READ, ALLOW),
        AccessControlEntry(TOPIC, "*", LITERAL, "User:a", "*", READ, ALLOW),
    ]
    asked = AclFilter(ANY, name, pattern_type, None, None, ANY, ANY)
    assert [entry.resource_name for entry in entries if asked.matches(entry)] == expected


def create_token(cluster: ControlledCluster, **fields: object) -> CreateDelegationTokenResponse:
    request = CreateDelegationTokenRequest(**{"renewers": [], "max_lifetime_ms": -1} | fields)  # type: ignore[arg-type]
    return cluster.ask(request, CreateDelegationTokenResponse, principal="User:ada", is_forwarded=True)


@pytest.fixture
def tokens() -> ControlledCluster:
    return ControlledCluster(delegation_token_secret_key="secret")


def test_a_token_is_known_by_its_hmac_and_lives_as_long_as_allowed(tokens: ControlledCluster) -> None:
    created = create_token(tokens)
    assert (created.error_code, created.principal_type, created.principal_name) == (0, "User", "ada")
    assert created.hmac == hmac.new(b"secret", created.token_id.encode(), "sha512").digest()
    assert created.expiry_timestamp_ms == tokens.now_ms + 24 * HOUR_MS
    assert created.max_timestamp_ms == tokens.now_ms + 7 * 24 * HOUR_MS
    shorter = create_token(tokens, max_lifetime_ms=5)
    assert shorter.expiry_timestamp_ms == shorter.max_timestamp_ms == tokens.now_ms + 5


def test_another_owner_and_only_users_as_renewers(tokens: ControlledCluster) -> None:
    created = create_token(tokens, owner_principal_type="User", owner_principal_name="bob")
    assert (created.principal_name, created.token_requester_principal_name) == ("bob", "ada")
    renewers = [CreatableRenewers(principal_type="Group", principal_name="g")]
    assert create_token(tokens, renewers=renewers).error_code == ErrorCode.INVALID_PRINCIPAL_TYPE


def renew(
    cluster: ControlledCluster, shown: bytes, principal: str, period_ms: int = -1
) -> RenewDelegationTokenResponse:
    request = RenewDelegationTokenRequest(hmac=shown, renew_period_ms=period_ms)
    return cluster.ask(request, RenewDelegationTokenResponse, principal=principal, is_forwarded=True)


def expire(
    cluster: ControlledCluster, shown: bytes, principal: str, period_ms: int = -1
) -> ExpireDelegationTokenResponse:
    request = ExpireDelegationTokenRequest(hmac=shown, expiry_time_period_ms=period_ms)
    return cluster.ask(request, ExpireDelegationTokenResponse, principal=principal, is_forwarded=True)


def test_owner_and_renewers_may_renew_and_expire(tokens: ControlledCluster) -> None:
    created = create_token(tokens, renewers=[CreatableRenewers(principal_type="User", principal_name="bob")])
    tokens.now_ms += HOUR_MS
    assert renew(tokens, created.hmac, "User:eve").error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert renew(tokens, b"?", "User:ada").error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert renew(tokens, created.hmac, "User:bob").expiry_timestamp_ms == tokens.now_ms + 24 * HOUR_MS
    assert renew(tokens, created.hmac, "User:ada", 5).expiry_timestamp_ms == tokens.now_ms + 5
    assert expire(tokens, created.hmac, "User:eve").error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert expire(tokens, created.hmac, "User:ada", 3).expiry_timestamp_ms == tokens.now_ms + 3
    tokens.now_ms += 4
    assert renew(tokens, created.hmac, "User:ada").error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert expire(tokens, created.hmac, "User:ada", 3).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert expire(tokens, created.hmac, "User:ada").error_code == 0
    assert len(tokens.image.delegation_tokens) == 0


def test_tokens_whose_time_is_over_are_swept_away(tokens: ControlledCluster) -> None:
    create_token(tokens, max_lifetime_ms=HOUR_MS // 2)
    create_token(tokens)
    tokens.advance(HOUR_MS)
    assert len(tokens.image.delegation_tokens) == 1


def test_tokens_go_by_the_time_of_day_when_that_jumps(tokens: ControlledCluster) -> None:
    tokens.wall_offset_ms = 5 * HOUR_MS
    created = create_token(tokens)
    assert created.issue_timestamp_ms == tokens.now_ms + 5 * HOUR_MS
    assert created.expiry_timestamp_ms == tokens.now_ms + 29 * HOUR_MS
    tokens.wall_offset_ms = 30 * HOUR_MS
    assert renew(tokens, created.hmac, "User:ada").error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    tokens.advance(HOUR_MS)
    assert len(tokens.image.delegation_tokens) == 0


@pytest.mark.parametrize("context", [{"is_forwarded": False}, {"is_forwarded": True, "is_token_authenticated": True}])
def test_only_who_is_authenticated_by_more_than_a_token_gets_one(
    tokens: ControlledCluster, context: dict[str, bool]
) -> None:
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    response = tokens.ask(request, CreateDelegationTokenResponse, principal="User:ada", **context)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    for other, expected in (
        (RenewDelegationTokenRequest(hmac=b"", renew_period_ms=1), RenewDelegationTokenResponse),
        (ExpireDelegationTokenRequest(hmac=b"", expiry_time_period_ms=1), ExpireDelegationTokenResponse),
    ):
        answer = tokens.ask(other, expected, principal="User:ada", **context)
        assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED  # type: ignore[attr-defined]


def test_without_a_secret_there_are_no_tokens() -> None:
    cluster = ControlledCluster()
    assert create_token(cluster).error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert renew(cluster, b"", "User:ada").error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def describe_cluster(cluster: ControlledCluster, endpoint_type: int = 2, version: int = 2) -> DescribeClusterResponse:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=endpoint_type)
    return cluster.ask(request, DescribeClusterResponse, version=version, listener="CONTROLLER")


def test_controllers_are_told_by_the_listener_that_was_asked() -> None:
    cluster = ControlledCluster()
    assert describe_cluster(cluster).controller_id == -1
    for controller_id, listener in ((3000, "CONTROLLER"), (3001, "OTHER")):
        request = ControllerRegistrationRequest(
            controller_id=controller_id,
            incarnation_id=incarnation(controller_id),
            zk_migration_ready=False,
            listeners=[Listener(name=listener, host="h", port=9093, security_protocol=0)],
            features=[],
        )
        cluster.ask(request, ControllerRegistrationResponse)
    response = describe_cluster(cluster)
    assert [(node.broker_id, node.host, node.port) for node in response.brokers] == [(3000, "h", 9093)]
    assert response.controller_id == 3000
    cluster.resign()
    assert len(describe_cluster(cluster).brokers) == 1


@pytest.mark.parametrize(
    ("endpoint_type", "version", "expected"),
    [
        (1, 2, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (7, 2, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
        (1, 0, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_controller_tells_of_controllers_only(endpoint_type: int, version: int, expected: int) -> None:
    assert describe_cluster(ControlledCluster(), endpoint_type, version).error_code == expected

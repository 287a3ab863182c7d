"""What a broker tells of quotas and credentials, and what it tells nobody on a PLAINTEXT listener."""

from __future__ import annotations

import pytest

from barnabas.broker.handlers.access import DescribeAccess
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest
from barnabas.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from barnabas.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from barnabas.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from barnabas.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from barnabas.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.schema import Message
from unit.broker.handlers.asking import serve
from unit.broker.hosting import Hosting


@pytest.fixture
def hosting() -> Hosting:
    hosting = Hosting()
    return serve(hosting, DescribeAccess(lambda: hosting.image))


def credential(name: str, mechanism: int, iterations: int) -> UserScramCredentialRecord:
    return UserScramCredentialRecord(
        name=name, mechanism=mechanism, salt=b"s", stored_key=b"k", server_key=b"k", iterations=iterations
    )


def test_credentials_are_told_without_their_keys(hosting: Hosting) -> None:
    hosting.apply(credential("ann", 1, 4096), credential("ann", 2, 8192), credential("bob", 1, 5000))
    everybody = hosting.ask(DescribeUserScramCredentialsRequest(users=None)).results
    told = {each.user: [(info.mechanism, info.iterations) for info in each.credential_infos] for each in everybody}
    assert told == {"ann": [(1, 4096), (2, 8192)], "bob": [(1, 5000)]}


def test_users_that_are_not_there_or_named_twice_are_told_so(hosting: Hosting) -> None:
    hosting.apply(credential("ann", 1, 4096))
    users = [UserName(name=name) for name in ("ann", "bob", "eve", "eve")]
    results = hosting.ask(DescribeUserScramCredentialsRequest(users=users)).results
    assert [(each.user, each.error_code) for each in results] == [
        ("ann", 0),
        ("bob", ErrorCode.RESOURCE_NOT_FOUND),
        ("eve", ErrorCode.DUPLICATE_RESOURCE),
    ]


def test_quotas_are_told_from_the_brokers_own_metadata(hosting: Hosting) -> None:
    entity = [EntityData(entity_type="user", entity_name="ann")]
    hosting.apply(ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=10.0, remove=False))
    (entry,) = hosting.ask(DescribeClientQuotasRequest(components=[], strict=False)).entries
    assert [(each.key, each.value) for each in entry.values] == [("producer_byte_rate", 10.0)]


@pytest.mark.parametrize(
    "request_",
    [
        CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1),
        RenewDelegationTokenRequest(hmac=b"h", renew_period_ms=1),
        ExpireDelegationTokenRequest(hmac=b"h", expiry_time_period_ms=1),
        DescribeDelegationTokenRequest(owners=None),
    ],
    ids=lambda request: type(request).__name__,
)
def test_nobody_gets_a_token_who_has_not_shown_who_they_are(hosting: Hosting, request_: Message) -> None:
    assert hosting.ask(request_).error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_entries_that_nobody_enforces_are_not_told(hosting: Hosting) -> None:
    request = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    assert hosting.ask(request).error_code == ErrorCode.SECURITY_DISABLED

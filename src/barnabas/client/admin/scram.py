"""SCRAM credentials of users. A password is salted here and never leaves this process."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.client.cluster import Cluster, Target
from barnabas.client.errors import ClientError, check_code
from barnabas.client.outcomes import find_error, gather, raise_first
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from barnabas.security.scram import ScramMechanism, salt_password

_SALT_BYTES: Final = 24
_MECHANISMS: Final = {mechanism.number: mechanism for mechanism in ScramMechanism}


@dataclass(frozen=True, slots=True)
class NewCredential:
    mechanism: ScramMechanism
    iterations: int
    password: str = field(repr=False)


# The mechanisms that a user has credentials for, each with its iterations.
CredentialInfos = list[tuple[ScramMechanism, int]]


def describe_user_scram_credentials(
    cluster: Cluster, users: Sequence[str]
) -> list[tuple[str, CredentialInfos | ClientError]]:
    """The credentials of these users, or of all where none is named. A user who has none is left out."""
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=user) for user in users] or None)

    def read(response: DescribeUserScramCredentialsResponse) -> list[tuple[str, CredentialInfos | ClientError]]:
        check_code(response.error_code, response.error_message)
        return [
            (
                result.user,
                find_error(result.error_code, result.error_message)
                or [
                    (_MECHANISMS[info.mechanism], info.iterations)
                    for info in result.credential_infos
                    if info.mechanism in _MECHANISMS
                ],
            )
            for result in response.results
            if result.error_code != ErrorCode.RESOURCE_NOT_FOUND
        ]

    return cluster.call(
        "describeUserScramCredentials",
        lambda _: request,
        DescribeUserScramCredentialsResponse,
        read,
        is_for_brokers=True,
    )


def alter_user_scram_credentials(
    cluster: Cluster, user: str, upsertions: Iterable[NewCredential], deletions: Iterable[ScramMechanism]
) -> None:
    request = AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name=user, mechanism=mechanism.number) for mechanism in deletions],
        upsertions=[_upsertion(user, credential) for credential in upsertions],
    )

    def read(response: AlterUserScramCredentialsResponse) -> None:
        results = ((each.user, each.error_code, each.error_message) for each in response.results)
        raise_first(gather([user], results))

    cluster.call(
        "alterUserScramCredentials",
        lambda _: request,
        AlterUserScramCredentialsResponse,
        read,
        to=Target.CONTROLLER,
        is_for_brokers=True,
    )


def _upsertion(user: str, credential: NewCredential) -> ScramCredentialUpsertion:
    if not credential.password:
        raise ClientError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "A password must not be empty")
    salt = secrets.token_bytes(_SALT_BYTES)
    return ScramCredentialUpsertion(
        name=user,
        mechanism=credential.mechanism.number,
        iterations=credential.iterations,
        salt=salt,
        salted_password=salt_password(credential.mechanism, credential.password, salt, credential.iterations),
    )

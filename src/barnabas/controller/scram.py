"""AlterUserScramCredentials: what a password's owner has to prove is stored, never the password."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from typing import Final

from barnabas.controller.decision import Decision, Operation, RequestContext, Situation
from barnabas.controller.errors import (
    DuplicateResource,
    ResourceNotFound,
    UnacceptableCredential,
    UnsupportedSaslMechanism,
)
from barnabas.metadata.access import ScramUser
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.protocol.metadata_records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.schema import Message
from barnabas.security.acls import AclOperation

# By the numbers of SCRAM-SHA-256 and SCRAM-SHA-512.
_HASHES: Final = {1: "sha256", 2: "sha512"}
ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384


def alter_credentials(
    situation: Situation, request: AlterUserScramCredentialsRequest, _context: RequestContext
) -> Decision:
    """Each user once; a mistake with one spares the others."""
    changes = _changes(request)
    counts = Counter(change.name for change in changes)
    records: list[Message] = []
    results: dict[str, AlterUserScramCredentialsResult] = {}
    for change in changes:
        code, text = 0, None
        try:
            if counts[change.name] > 1:
                raise DuplicateResource(f"user {change.name} is named twice in the request")
            _check_user(change.name, change.mechanism)
            if isinstance(change, ScramCredentialDeletion):
                records.append(_deletion(situation, change))
            else:
                records.append(_upsertion(change))
        except ApiError as error:
            code, text = error.code, str(error)
        results[change.name] = AlterUserScramCredentialsResult(user=change.name, error_code=code, error_message=text)
    response = AlterUserScramCredentialsResponse(throttle_time_ms=0, results=list(results.values()))
    return Decision(response, records, is_atomic=True)


def _changes(request: AlterUserScramCredentialsRequest) -> list[ScramCredentialDeletion | ScramCredentialUpsertion]:
    return [*request.deletions, *request.upsertions]


def _check_user(name: str, mechanism: int) -> None:
    if not name:
        raise UnacceptableCredential("a user has a name")
    if mechanism not in _HASHES:
        raise UnsupportedSaslMechanism(f"there is no SCRAM mechanism with number {mechanism}")


def _deletion(situation: Situation, deletion: ScramCredentialDeletion) -> Message:
    if ScramUser(deletion.mechanism, deletion.name) not in situation.image.scram:
        raise ResourceNotFound(f"user {deletion.name} has no such credential")
    return RemoveUserScramCredentialRecord(name=deletion.name, mechanism=deletion.mechanism)


def _upsertion(upsertion: ScramCredentialUpsertion) -> Message:
    if not ITERATIONS_MIN <= upsertion.iterations <= ITERATIONS_MAX:
        raise UnacceptableCredential(
            f"a password is hashed {ITERATIONS_MIN} to {ITERATIONS_MAX} times, not {upsertion.iterations}"
        )
    digest = _HASHES[upsertion.mechanism]
    salted_password = bytes(upsertion.salted_password)
    client_key = hmac.digest(salted_password, b"Client Key", digest)
    return UserScramCredentialRecord(
        name=upsertion.name,
        mechanism=upsertion.mechanism,
        salt=bytes(upsertion.salt),
        stored_key=hashlib.new(digest, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", digest),
        iterations=upsertion.iterations,
    )


def _refuse(request: AlterUserScramCredentialsRequest, error: ApiError, _version: int) -> Message:
    results = [
        AlterUserScramCredentialsResult(user=name, error_code=error.code, error_message=str(error))
        for name in dict.fromkeys(change.name for change in _changes(request))
    ]
    return AlterUserScramCredentialsResponse(throttle_time_ms=0, results=results)


OPERATIONS: Mapping[type[Message], Operation] = {
    AlterUserScramCredentialsRequest: Operation(alter_credentials, _refuse, needs=AclOperation.ALTER)
}

"""Who may do what: access control entries, SCRAM credentials and delegation tokens, as values."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.protocol.metadata_records.access_control_entry import AccessControlEntryRecord
from barnabas.protocol.metadata_records.delegation_token import DelegationTokenRecord
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.uuid import Uuid


class AccessControlEntry(NamedTuple):
    """An entry, with resource, pattern, operation and permission by Kafka's numbers."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    @classmethod
    def of(cls, record: AccessControlEntryRecord) -> AccessControlEntry:
        return cls(**{name: getattr(record, name) for name in cls._fields})

    def record(self, entry_id: Uuid) -> AccessControlEntryRecord:
        return AccessControlEntryRecord(id=entry_id, **self._asdict())


class ScramUser(NamedTuple):
    """Whose credential it is: a user may have one for each mechanism, which goes by Kafka's number."""

    mechanism: int
    name: str


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    @classmethod
    def of(cls, record: UserScramCredentialRecord) -> ScramCredential:
        return cls(**{name: getattr(record, name) for name in cls._fields})

    def record(self, user: ScramUser) -> UserScramCredentialRecord:
        return UserScramCredentialRecord(**user._asdict(), **self._asdict())

    def __repr__(self) -> str:
        return "ScramCredential([hidden])"


class DelegationToken(NamedTuple):
    """What is known of a token; principals are written as type, colon, name."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int

    @classmethod
    def of(cls, record: DelegationTokenRecord) -> DelegationToken:
        values = {name: getattr(record, name) for name in cls._fields}
        return cls(**values | {"renewers": tuple(record.renewers)})

    def record(self, token_id: str) -> DelegationTokenRecord:
        values = self._asdict() | {"renewers": list(self.renewers)}
        return DelegationTokenRecord(token_id=token_id, **values)

"""Who may do what, as Kafka's StandardAuthorizer decides it from the access control entries in the metadata.

Super users may do anything. Otherwise one entry that denies outweighs all that allow; where entries name the resource
and none of them is about the asker, the answer is no; where none names it, a setting decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.metadata.access import AccessControlEntry
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import (
    ANONYMOUS,
    CLUSTER_NAME,
    EVERYBODY,
    WILDCARD,
    AclOperation,
    PatternType,
    PermissionType,
    ResourceType,
)
from barnabas.security.errors import AUTHORIZATION_FAILED

Acls = SortedMap[Uuid, AccessControlEntry]

# What an entry that allows one of these also allows. An entry that denies denies itself only.
_IMPLIED_BY: Final[Mapping[AclOperation, frozenset[AclOperation]]] = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.DESCRIBE, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}),
}
# What can be done with each kind of resource, for responses that tell what the asker may do.
_OPERATIONS: Final[Mapping[ResourceType, frozenset[AclOperation]]] = {
    ResourceType.TOPIC: frozenset(
        {
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.CREATE,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.GROUP: frozenset(
        {
            AclOperation.READ,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.CLUSTER: frozenset(
        {
            AclOperation.CREATE,
            AclOperation.CLUSTER_ACTION,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
            AclOperation.IDEMPOTENT_WRITE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE,
        }
    ),
}


class AuthorizerNotReady(ApiError):  # noqa: N818 (called as Kafka calls it)
    """The entries are not known yet. Kafka has no code for it either."""

    code = ErrorCode.UNKNOWN_SERVER_ERROR


class _Patterns:
    """The entries by kind of resource and pattern of its name."""

    def __init__(self) -> None:
        self._acls: Acls = SortedMap()
        self._by_pattern: defaultdict[tuple[int, str, int], list[AccessControlEntry]] = defaultdict(list)
        # How many patterns there are of each length, by kind of resource.
        self._prefix_lengths: defaultdict[int, Counter[int]] = defaultdict(Counter)

    def follow(self, acls: Acls) -> None:
        """Take in what has changed since the last time."""
        if acls is self._acls:
            return
        for entry_id, entry in self._acls.changes_to(acls).items():
            old = self._acls.get(entry_id)
            if old is not None:
                self._remove(old)
            if entry is not None:
                self._add(entry)
        self._acls = acls

    def _add(self, entry: AccessControlEntry) -> None:
        entries = self._by_pattern[entry[:3]]
        if not entries and entry.pattern_type == PatternType.PREFIXED:
            self._prefix_lengths[entry.resource_type][len(entry.resource_name)] += 1
        entries.append(entry)

    def _remove(self, entry: AccessControlEntry) -> None:
        entries = self._by_pattern[entry[:3]]
        entries.remove(entry)
        if entries:
            return
        del self._by_pattern[entry[:3]]
        if entry.pattern_type == PatternType.PREFIXED:
            lengths = self._prefix_lengths[entry.resource_type]
            lengths[len(entry.resource_name)] -= 1
            if not lengths[len(entry.resource_name)]:
                del lengths[len(entry.resource_name)]

    def of(self, resource_type: ResourceType, name: str) -> Iterator[AccessControlEntry]:
        """The entries that a name falls under."""
        for literal in {name, WILDCARD}:
            yield from self._by_pattern.get((resource_type, literal, PatternType.LITERAL), ())
        for length in self._prefix_lengths.get(resource_type, ()):
            if length <= len(name):
                yield from self._by_pattern.get((resource_type, name[:length], PatternType.PREFIXED), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerRules:
    """What the settings of a node say about access, beside the entries."""

    super_users: frozenset[str] = frozenset()
    is_allowed_without_acls: bool = False


class Authorizer:
    """A verdict for each question. `acls` gives the entries as they are now, None while they are not known yet.

    Entries that have changed are sorted by their patterns when somebody asks, and only they.
    """

    def __init__(self, rules: AuthorizerRules, acls: Callable[[], Acls | None]) -> None:
        self._rules = rules
        self._acls = acls
        self._patterns = _Patterns()

    def allows(
        self, principal: str, host: str, operation: AclOperation, resource_type: ResourceType, name: str
    ) -> bool:
        if principal in self._rules.super_users:
            return True
        is_named = is_allowed = False
        for entry in self._current().of(resource_type, name):
            is_named = True
            if entry.principal not in (principal, EVERYBODY) or entry.host not in (WILDCARD, host):
                continue
            if entry.permission_type == PermissionType.ALLOW:
                is_allowed = is_allowed or _covers(entry.operation, operation)
            elif entry.operation in (AclOperation.ALL, operation):
                return False
        return is_allowed if is_named else self._rules.is_allowed_without_acls

    def _current(self) -> _Patterns:
        acls = self._acls()
        if acls is None:
            raise AuthorizerNotReady("the access control entries are not loaded yet; ask again")
        self._patterns.follow(acls)
        return self._patterns


def _covers(granted: int, operation: AclOperation) -> bool:
    return granted == AclOperation.ALL or granted in _IMPLIED_BY.get(operation, (operation,))


@dataclass(frozen=True, slots=True)
class Access:
    """What one asker may do; without an authorizer anything. `denied` is told of each refusal, for the log."""

    authorizer: Authorizer | None = None
    principal: str = ANONYMOUS
    host: str = ""
    denied: Callable[[Access, AclOperation, ResourceType, str], None] | None = None

    def allows(self, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Whether the asker may, where the answer is not a refusal in itself."""
        return self.authorizer is None or self.authorizer.allows(
            self.principal, self.host, operation, resource_type, name
        )

    def require(self, operation: AclOperation, resource_type: ResourceType, name: str) -> None:
        """Raise the error of this kind of resource unless the asker may."""
        if self.allows(operation, resource_type, name):
            return
        if self.denied is not None:
            self.denied(self, operation, resource_type, name)
        raise AUTHORIZATION_FAILED[resource_type](
            f"{self.principal} needs {operation.name} on {resource_type.name} {name}"
        )

    def require_of_cluster(self, operation: AclOperation) -> None:
        self.require(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """All that the asker may do with a resource, as a field of bits."""
        return sum(
            1 << operation for operation in _OPERATIONS[resource_type] if self.allows(operation, resource_type, name)
        )


UNRESTRICTED: Final = Access()

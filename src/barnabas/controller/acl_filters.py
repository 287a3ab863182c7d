"""Access control entries by Kafka's numbers: which are ones, and which a filter asks for."""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.controller.errors import InvalidRequest
from barnabas.metadata.access import AccessControlEntry
from barnabas.security.acls import (
    CLUSTER_NAME,
    WILDCARD,
    AclOperation,
    PatternType,
    PermissionType,
    ResourceType,
)

ANY: Final = 1
_KINDS: Final = {
    "resource_type": ResourceType,
    "pattern_type": PatternType,
    "operation": AclOperation,
    "permission_type": PermissionType,
}


def check_entry(entry: AccessControlEntry) -> None:
    """Raise InvalidRequest where this is no entry that somebody could be held to."""
    for name, kind in _KINDS.items():
        number = getattr(entry, name)
        if number == ANY or number not in {int(member) for member in kind}:
            raise InvalidRequest(f"an entry cannot have the {name.replace('_', ' ')} {number}")
    if entry.pattern_type == PatternType.MATCH:
        raise InvalidRequest("an entry is for a literal name or for a prefix; matching is for filters")
    if not entry.resource_name:
        raise InvalidRequest("the name of a resource is not empty")
    if entry.resource_type == ResourceType.CLUSTER and entry.resource_name != CLUSTER_NAME:
        raise InvalidRequest(f"the cluster goes by the name {CLUSTER_NAME}, not {entry.resource_name}")
    if ":" not in entry.principal:
        raise InvalidRequest(f"a principal is a type, a colon and a name, not {entry.principal!r}")


class AclFilter(NamedTuple):
    """None, and ANY among numbers, lets everything through."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    def check(self) -> None:
        for name, kind in _KINDS.items():
            number = getattr(self, name)
            if number not in {int(member) for member in kind}:
                raise InvalidRequest(f"there is no {name.replace('_', ' ')} {number} to filter by")

    def matches(self, entry: AccessControlEntry) -> bool:
        return (
            self.resource_type in (ANY, entry.resource_type)
            and self._matches_pattern(entry)
            and self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (ANY, entry.operation)
            and self.permission_type in (ANY, entry.permission_type)
        )

    def _matches_pattern(self, entry: AccessControlEntry) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, entry.pattern_type):
            return False
        if self.resource_name is None:
            return True
        if self.pattern_type != PatternType.MATCH:
            return self.resource_name == entry.resource_name
        if entry.pattern_type == PatternType.PREFIXED:
            return self.resource_name.startswith(entry.resource_name)
        return entry.resource_name in (self.resource_name, WILDCARD)

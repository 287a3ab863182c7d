"""The verdicts of the authorizer, by the rules of Kafka's StandardAuthorizer and against the obvious model of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.metadata.access import AccessControlEntry
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import CLUSTER_NAME, AclOperation, PatternType, PermissionType, ResourceType
from barnabas.security.authorizer import UNRESTRICTED, Access, Acls, Authorizer, AuthorizerNotReady, AuthorizerRules

ADA, HOST = "User:ada", "10.0.0.1"
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
TOPIC, CLUSTER = ResourceType.TOPIC, ResourceType.CLUSTER
ALLOW, DENY = PermissionType.ALLOW, PermissionType.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def entry(
    name: str = "t",
    operation: AclOperation = READ,
    *,
    permission: PermissionType = ALLOW,
    pattern: PatternType = LITERAL,
    principal: str = ADA,
    host: str = "*",
    resource: ResourceType = TOPIC,
) -> AccessControlEntry:
    return AccessControlEntry(resource, name, pattern, principal, host, operation, permission)


def stored(*entries: AccessControlEntry) -> Acls:
    return SortedMap({Uuid(number.to_bytes(16, "big")): each for number, each in enumerate(entries)})


def allows(
    entries: tuple[AccessControlEntry, ...],
    operation: AclOperation = READ,
    name: str = "t",
    *,
    principal: str = ADA,
    host: str = HOST,
    resource: ResourceType = TOPIC,
    is_default: bool = False,
) -> bool:
    acls = stored(*entries)
    rules = AuthorizerRules(super_users=frozenset({"User:root"}), is_allowed_without_acls=is_default)
    return Authorizer(rules, lambda: acls).allows(principal, host, operation, resource, name)


def test_super_users_may_do_anything_even_before_the_entries_are_known() -> None:
    denied = entry(principal="User:*", operation=AclOperation.ALL, permission=DENY)
    assert allows((denied,), principal="User:root")
    unready = Authorizer(AuthorizerRules(super_users=frozenset({"User:root"})), lambda: None)
    assert unready.allows("User:root", HOST, READ, TOPIC, "t")
    with pytest.raises(AuthorizerNotReady):
        unready.allows(ADA, HOST, READ, TOPIC, "t")


def test_where_no_entry_names_the_resource_the_setting_decides() -> None:
    assert not allows(())
    assert allows((), is_default=True)
    assert allows((entry("other"), entry(resource=CLUSTER)), is_default=True)
    assert not allows((entry("t", principal="User:bob"),), is_default=True), "the entry is about others only"


def test_one_entry_that_denies_outweighs_all_that_allow() -> None:
    allowed = (entry(), entry("*"), entry("", pattern=PREFIXED), entry(principal="User:*"))
    assert allows(allowed)
    for denying in (
        entry(permission=DENY),
        entry("*", permission=DENY),
        entry("t", permission=DENY, pattern=PREFIXED),
        entry(permission=DENY, principal="User:*", operation=AclOperation.ALL),
    ):
        assert not allows((*allowed, denying)), denying


@pytest.mark.parametrize(
    ("pattern", "name", "asked", "expected"),
    [
        (LITERAL, "t", "t", True),
        (LITERAL, "t", "tt", False),
        (LITERAL, "tt", "t", False),
        (LITERAL, "*", "anything", True),
        (PREFIXED, "t", "t", True),
        (PREFIXED, "t", "topic", True),
        (PREFIXED, "topic", "t", False),
        (PREFIXED, "*", "topic", False),
    ],
)
def test_names_are_matched_by_pattern(pattern: PatternType, name: str, asked: str, expected: bool) -> None:
    assert allows((entry(name, pattern=pattern),), name=asked) is expected


def test_principals_and_hosts_match_themselves_or_the_wildcard() -> None:
    assert allows((entry(principal="User:*"),), principal="User:anybody")
    assert not allows((entry(),), principal="User:bob")
    assert not allows((entry(principal="*"),))
    assert allows((entry(host=HOST),))
    assert not allows((entry(host="10.0.0.2"),))


def test_some_permissions_imply_that_one_may_look() -> None:
    for operation in (READ, WRITE, AclOperation.DELETE, AclOperation.ALTER, AclOperation.ALL, DESCRIBE):
        assert allows((entry(operation=operation),), DESCRIBE), operation
    for operation in (AclOperation.CREATE, AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS):
        assert not allows((entry(operation=operation),), DESCRIBE), operation
    assert allows((entry(operation=AclOperation.ALTER_CONFIGS),), AclOperation.DESCRIBE_CONFIGS)
    assert not allows((entry(operation=DESCRIBE),), READ)
    denied_read = entry(operation=READ, permission=DENY)
    assert allows((entry(operation=WRITE), denied_read), DESCRIBE), "what is denied implies nothing"


def test_entries_that_change_count_from_the_next_question_on() -> None:
    acls = stored(entry())
    authorizer = Authorizer(AuthorizerRules(), lambda: acls)
    assert authorizer.allows(ADA, HOST, READ, TOPIC, "t")
    acls = stored(entry(permission=DENY))
    assert not authorizer.allows(ADA, HOST, READ, TOPIC, "t")


def test_entries_that_come_and_go_leave_nothing_behind() -> None:
    rng = random.Random(0)
    current = [stored()]
    authorizer = Authorizer(AuthorizerRules(), lambda: current[-1])
    for _ in range(200):
        drawn = entry(
            rng.choice(("a", "ab", "b", "*")),
            rng.choice((READ, WRITE)),
            permission=rng.choice((ALLOW, DENY)),
            pattern=rng.choice((LITERAL, PREFIXED)),
        )
        entry_id = Uuid(rng.randrange(8).to_bytes(16, "big"))
        current.append(current[-1].updated({entry_id: drawn if rng.random() < 0.6 else None}))
        afresh = Authorizer(AuthorizerRules(), lambda: current[-1])
        for name in ("a", "ab", "abc", "b", "c"):
            assert authorizer.allows(ADA, HOST, READ, TOPIC, name) is afresh.allows(ADA, HOST, READ, TOPIC, name)


names = st.text(alphabet="ab*", min_size=1, max_size=3)
entries = st.builds(
    AccessControlEntry,
    resource_type=st.sampled_from([TOPIC, ResourceType.GROUP]),
    resource_name=names,
    pattern_type=st.sampled_from([LITERAL, PREFIXED]),
    principal=st.sampled_from([ADA, "User:bob", "User:*"]),
    host=st.sampled_from(["*", HOST, "other"]),
    operation=st.sampled_from([READ, WRITE, DESCRIBE, AclOperation.ALL]),
    permission_type=st.sampled_from([ALLOW, DENY]),
)


@given(st.lists(entries, max_size=6), names, st.sampled_from([READ, WRITE, DESCRIBE]), st.booleans())
def test_the_verdict_is_that_of_going_through_every_entry(
    acls: list[AccessControlEntry], name: str, operation: AclOperation, is_default: bool
) -> None:
    def is_of_name(each: AccessControlEntry) -> bool:
        if each.pattern_type == PREFIXED:
            return name.startswith(each.resource_name)
        return each.resource_name in (name, "*")

    of_name = [each for each in acls if each.resource_type == TOPIC and is_of_name(each)]
    of_asker = [each for each in of_name if each.principal in (ADA, "User:*") and each.host in ("*", HOST)]
    denied = [each for each in of_asker if each.permission_type == DENY and each.operation in (operation, 2)]
    implying = {READ: {READ, 2}, WRITE: {WRITE, 2}, DESCRIBE: {DESCRIBE, READ, WRITE, 2}}[operation]
    allowed = [each for each in of_asker if each.permission_type == ALLOW and each.operation in implying]
    expected = is_default if not of_name else bool(allowed) and not denied
    assert allows(tuple(acls), operation, name, is_default=is_default) is expected


def test_without_an_authorizer_nothing_is_forbidden() -> None:
    UNRESTRICTED.require_of_cluster(AclOperation.CLUSTER_ACTION)
    assert UNRESTRICTED.operations(CLUSTER, CLUSTER_NAME) == 0b1_1111_1010_0000


def test_a_refusal_names_what_is_needed_and_is_told_to_whoever_keeps_the_log() -> None:
    told = []
    authorizer = Authorizer(AuthorizerRules(), SortedMap)
    access = Access(authorizer, ADA, HOST, lambda *refused: told.append(refused))
    for resource, code in (
        (TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (ResourceType.USER, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
    ):
        with pytest.raises(ApiError, match=f"{ADA} needs ALTER on {resource.name} x") as refusal:
            access.require(AclOperation.ALTER, resource, "x")
        assert refusal.value.code is code
    assert told[0] == (access, AclOperation.ALTER, TOPIC, "x")
    assert not access.allows(READ, TOPIC, "x")
    assert len(told) == 4, "a question is no attempt"


def test_what_an_asker_may_do_is_told_in_bits() -> None:
    acls = stored(entry(CLUSTER_NAME, DESCRIBE, resource=CLUSTER), entry(CLUSTER_NAME, READ, resource=CLUSTER))
    access = Access(Authorizer(AuthorizerRules(), lambda: acls), ADA, HOST)
    assert access.operations(CLUSTER, CLUSTER_NAME) == 1 << DESCRIBE

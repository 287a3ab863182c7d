"""Apache's StandardAuthorizer judges ours: random entries, random questions, the same verdicts."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest

from barnabas.metadata.access import AccessControlEntry
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import AclOperation, PatternType, PermissionType, ResourceType
from barnabas.security.authorizer import Authorizer, AuthorizerRules
from barnabas.security.hosts import host_text
from interop.referee import PROGRAMS, JvmProcess

pytestmark = pytest.mark.referee

ROUNDS = 400
# To Apache's, entries of the name * do not hold for names that begin with it, which only groups and the like may have.
NAMES = ("a", "ab", "abc", "abd", "b", "*", "kafka-cluster")
# Somebody who is called as everybody is makes Apache's fail, so nobody who asks is.
ASKERS = ("User:ada", "User:bob", "Group:ada", "User:root")
PRINCIPALS = (*ASKERS, "User:*")
HOSTS = ("127.0.0.1", "10.0.0.1", "::1")
RESOURCES = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER)
OPERATIONS = tuple(each for each in AclOperation if each not in (AclOperation.ANY, AclOperation.ALL))


def random_entry(rng: random.Random) -> AccessControlEntry:
    return AccessControlEntry(
        resource_type=rng.choice(RESOURCES),
        resource_name=rng.choice(NAMES),
        pattern_type=rng.choice((PatternType.LITERAL, PatternType.PREFIXED)),
        principal=rng.choice(PRINCIPALS),
        host=rng.choice(("*", "*", *map(host_text, HOSTS))),
        operation=rng.choice((AclOperation.ALL, *OPERATIONS)),
        permission_type=rng.choice((PermissionType.ALLOW, PermissionType.ALLOW, PermissionType.DENY)),
    )


def test_every_verdict_is_apaches() -> None:
    rng = random.Random(4)
    lines, ours = [], []
    for _ in range(ROUNDS):
        entries = list({random_entry(rng): None for _ in range(rng.randrange(12))})
        is_default = rng.random() < 0.5
        every = list(product(ASKERS, HOSTS, OPERATIONS, RESOURCES, NAMES))
        questions = rng.sample(every, 60)
        lines.append(
            json.dumps(
                {
                    "superUsers": "User:root; User:admin",
                    "isAllowedByDefault": is_default,
                    "acls": entries,
                    "questions": questions,
                }
            )
        )
        acls = SortedMap({Uuid(number.to_bytes(16, "big")): each for number, each in enumerate(entries)})
        rules = AuthorizerRules(super_users=frozenset({"User:root", "User:admin"}), is_allowed_without_acls=is_default)
        authorizer = Authorizer(rules, lambda acls=acls: acls)  # type: ignore[misc]
        ours.append(
            "".join(
                str(int(authorizer.allows(principal, host_text(host), operation, resource, name)))
                for principal, host, operation, resource, name in questions
            )
        )
    with JvmProcess(PROGRAMS / "Authorizer.java") as apache:
        theirs = list(apache.exchange(lines))
    different = [
        (asked["questions"][number], asked["acls"])
        for line, our, their in zip(lines, ours, theirs, strict=True)
        for asked in [json.loads(line)]
        for number in range(len(our))
        if our[number] != their[number]
    ]
    assert different == []
    verdicts = "".join(ours)
    assert verdicts.count("0") > ROUNDS
    assert verdicts.count("1") > ROUNDS

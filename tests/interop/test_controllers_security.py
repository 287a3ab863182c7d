"""Users, rights and tokens that our controllers keep: Apache's tools change them, Apache's broker goes by them.

The broker forwards what its clients ask for in an Envelope with their principal, so it is our controllers that decide
who may make a topic or renew a token. The active one is killed between what is kept and what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.mixed_cluster import TOPICS_TOOL, MixedCluster, running
from interop.referee import ToolOutput, Tools

pytestmark = pytest.mark.referee

ACL_TOOL = "org.apache.kafka.tools.AclCommand"
CONFIGS_TOOL = "kafka.admin.ConfigCommand"
TOKEN_TOOL = "org.apache.kafka.tools.DelegationTokenCommand"
ACCESS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Nodes, and the tools that do not log in.
    "super.users": "User:ANONYMOUS",
    "delegation.token.secret.key": "a secret of all nodes",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[MixedCluster]:
    home = tmp_path_factory.mktemp("secure")
    cluster = MixedCluster(home, tools, "ooo", brokers=1, has_sasl=True, settings=ACCESS, broker_settings=ACCESS)
    with running(cluster):
        yield cluster


class Login(NamedTuple):
    """Who asks, and the settings by which they log in."""

    cluster: MixedCluster
    settings: Path

    def run(self, tool: str, *arguments: str) -> ToolOutput:
        at = ("--bootstrap-server", self.cluster.sasl_servers, "--command-config", self.settings)
        return self.cluster.tools.run(tool, *at, *arguments)

    def is_let_in(self) -> bool:
        listed = self.run(TOPICS_TOOL, "--list")
        assert listed.status == 0 or "Authentication failed" in listed.err + listed.out, listed
        return listed.status == 0


def log_in(cluster: MixedCluster, name: str, password: str, *options: str) -> Login:
    settings = cluster.home / f"{name}-{len(list(cluster.home.iterdir()))}.properties"
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    words = [f'username="{name}"', f'password="{password}"', *options]
    settings.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        f"sasl.jaas.config={module} required {' '.join(words)};\n"
    )
    return Login(cluster, settings)


def change_user(cluster: MixedCluster, name: str, *change: str) -> None:
    changed = cluster.tools.run(
        CONFIGS_TOOL,
        *("--bootstrap-server", cluster.bootstrap_servers, "--alter", "--entity-type", "users", "--entity-name", name),
        *change,
    )
    assert changed.out == f"Completed updating config for user {name}.\n", changed


def add_user(cluster: MixedCluster, name: str) -> Login:
    password = f"the password of {name}"
    change_user(cluster, name, "--add-config", f"SCRAM-SHA-256=[iterations=5000,password={password}]")
    login = log_in(cluster, name, password)
    cluster.wait_until(login.is_let_in, f"{name} is not let in")
    return login


@pytest.fixture(scope="module")
def alice(cluster: MixedCluster) -> Login:
    return add_user(cluster, "alice")


def fail_over(cluster: MixedCluster) -> None:
    """Kill the active controller; another has taken over and knows of the first one's return."""
    leader_id = cluster.leader_id()
    cluster.controllers[leader_id].kill()
    assert cluster.leader_id() != leader_id
    cluster.controllers[leader_id].start()


def test_users_log_in_with_what_was_kept_of_their_password(cluster: MixedCluster) -> None:
    carol = add_user(cluster, "carol")
    fail_over(cluster)
    described = cluster.tools.run(
        CONFIGS_TOOL, "--bootstrap-server", cluster.bootstrap_servers, "--describe", "--entity-type", "users"
    )
    assert "SCRAM credential configs for user-principal 'carol' are SCRAM-SHA-256=iterations=5000\n" in described.out
    assert carol.is_let_in()
    assert not log_in(cluster, "carol", "another password").is_let_in()
    change_user(cluster, "carol", "--delete-config", "SCRAM-SHA-256")
    cluster.wait_until(lambda: not carol.is_let_in(), "carol is still let in")


def test_users_may_do_what_the_acls_say(cluster: MixedCluster, alice: Login) -> None:
    def may_create(topic: str) -> bool:
        created = alice.run(TOPICS_TOOL, "--create", "--topic", topic)
        assert created.status == 0 or "TopicAuthorizationException" in created.err, created
        return created.out == f"Created topic {topic}.\n"

    assert not may_create("orders-1")
    rights = (
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", "orders-", "--resource-pattern-type", "prefixed"),
        *("--allow-principal", "User:alice", "--operation", "Create"),
    )
    added = cluster.tools.run(ACL_TOOL, "--add", *rights)
    assert added.status == 0, added
    cluster.wait_until(lambda: may_create("orders-1"), "the right has no effect")
    assert not may_create("bills-1")
    fail_over(cluster)
    assert may_create("orders-2")
    listed = cluster.tools.run(ACL_TOOL, "--bootstrap-server", cluster.bootstrap_servers, "--list")
    assert "ResourcePattern(resourceType=TOPIC, name=orders-, patternType=PREFIXED)" in listed.out
    assert "(principal=User:alice, host=*, operation=CREATE, permissionType=ALLOW)" in listed.out
    removed = cluster.tools.run(ACL_TOOL, "--remove", "--force", *rights)
    assert removed.status == 0, removed
    assert not may_create("orders-3")


def test_tokens_are_made_renewed_and_expired(cluster: MixedCluster, alice: Login) -> None:
    bob = add_user(cluster, "bob")
    made = alice.run(TOKEN_TOOL, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob")
    found = re.search(r"^(\S+) +(\S+) +User:alice +User:alice +\[?User:bob\]? ", made.out, re.MULTILINE)
    assert found is not None, made
    token_id, hmac = found.groups()
    bearer = log_in(cluster, token_id, hmac, 'tokenauth="true"')
    cluster.wait_until(bearer.is_let_in, "the token lets nobody in")
    fail_over(cluster)
    assert bearer.is_let_in()

    described = alice.run(TOKEN_TOOL, "--describe", "--owner-principal", "User:alice")
    assert "Total number of tokens : 1" in described.out, described
    renewed = bob.run(TOKEN_TOOL, "--renew", "--renew-time-period", "3600000", "--hmac", hmac)
    assert "Completed renew operation" in renewed.out, renewed
    carried_off = add_user(cluster, "mallory").run(TOKEN_TOOL, "--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    assert "DelegationTokenOwnerMismatchException" in carried_off.err, carried_off
    expired = alice.run(TOKEN_TOOL, "--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    assert "Completed expire operation" in expired.out, expired
    cluster.wait_until(lambda: not bearer.is_let_in(), "the token still lets somebody in")
    assert "Total number of tokens : 0" in alice.run(TOKEN_TOOL, "--describe").out

"""Apache's tools ask a controller of ours and one of Apache's, both with an authorizer: both say the same.

Access control entries are made, listed and removed at the controller itself, its settings are altered and described,
and so are the levels of its loggers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from interop.mixed_cluster import MixedCluster, running
from interop.referee import ToolOutput, Tools

pytestmark = pytest.mark.referee

LOOKS_MAX, PAUSE_S = 10, 0.1
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "log.retention.hours": "48",
}
PREFIXED = ("--resource-pattern-type", "prefixed")
ACLS, CONFIGS = "org.apache.kafka.tools.AclCommand", "kafka.admin.ConfigCommand"
COMMANDS: list[tuple[str, ...]] = [
    (
        ACLS,
        "--add",
        "--allow-principal",
        "User:ada",
        "--operation",
        "Create",
        "--operation",
        "Describe",
        "--topic",
        "a",
    ),
    (
        ACLS,
        "--add",
        "--allow-principal",
        "User:ada",
        "--producer",
        "--topic",
        "b",
        "--resource-pattern-type",
        "prefixed",
    ),
    (ACLS, "--add", "--deny-principal", "User:bob", "--deny-host", "10.0.0.1", "--operation", "All", "--group", "*"),
    (ACLS, "--add", "--allow-principal", "User:eve", "--operation", "Alter", "--cluster"),
    (ACLS, "--list"),
    (ACLS, "--list", "--topic", "bc", "--resource-pattern-type", "match"),
    (ACLS, "--list", "--principal", "User:bob"),
    (ACLS, "--remove", "--force", "--topic", "a"),
    (ACLS, "--list"),
    (CONFIGS, "--alter", "--entity-type", "brokers", "--entity-default", "--add-config", "log.cleaner.threads=2"),
    (CONFIGS, "--alter", "--entity-type", "brokers", "--entity-name", "1", "--add-config", "message.max.bytes=5000"),
    (CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "1"),
    (CONFIGS, "--describe", "--entity-type", "brokers", "--entity-default"),
    (CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "absent"),
    (CONFIGS, "--alter", "--entity-type", "broker-loggers", "--entity-name", "1", "--add-config", "root=WARN"),
    (CONFIGS, "--alter", "--entity-type", "broker-loggers", "--entity-name", "1", "--add-config", "absent=WARN"),
]


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[tuple[MixedCluster, MixedCluster]]:
    with ExitStack() as stack:
        ours, apaches = (
            stack.enter_context(running(MixedCluster(tmp_path_factory.mktemp(kind), tools, kind, 0, settings=SETTINGS)))
            for kind in "oa"
        )
        yield ours, apaches


def said(cluster: MixedCluster, command: tuple[str, ...]) -> tuple[int, list[str], str]:
    """What a tool says, in whatever order, and the first line of what went wrong; where it asks is its own."""
    main, *arguments = command
    address = cluster.controller_addresses
    output: ToolOutput = cluster.tools.run(main, "--bootstrap-controller", address, *arguments)
    out, err = (text.replace(address, "ADDRESS") for text in (output.out, output.err))
    return output.status, sorted(out.splitlines()), err.partition("\n")[0]


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=[" ".join(each[1:4]) for each in COMMANDS])
def test_apaches_tools_are_told_the_same(controllers: tuple[MixedCluster, MixedCluster], number: int) -> None:
    """Apache's controller follows what it has decided a moment later, so it may take more than one look."""
    ours, apaches = controllers
    expected = said(ours, COMMANDS[number])
    looks = 0
    while (theirs := said(apaches, COMMANDS[number])) != expected and looks < LOOKS_MAX:
        looks += 1
        time.sleep(PAUSE_S)
    assert expected == theirs

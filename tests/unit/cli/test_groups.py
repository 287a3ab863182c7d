"""`kafka-groups`: which groups its filters let through, and how they are shown."""

from __future__ import annotations

import pytest

from barnabas.cli.groups import run
from unit.cli.tool_runs import Said, call
from unit.client.group_node import GroupNode


def ask(arguments: str) -> Said:
    with GroupNode() as node:
        return call(run, f"--bootstrap-server {node.address} {arguments}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("", {"old", "idle", "young", "connectors", "sharing"}),
        ("--group-type CLASSIC", {"old", "idle", "connectors"}),
        ("--group-type classic --protocol consumer", {"old"}),
        ("--protocol connect", {"connectors"}),
        ("--consumer", {"old", "idle", "young"}),
        ("--share", {"sharing"}),
        ("--streams", set()),
    ],
)
def test_groups_are_filtered(arguments: str, shown: set[str]) -> None:
    said = ask(f"--list {arguments}")
    assert (said.status, said.err) == (0, "")
    head, *rows = said.out.splitlines()
    assert head.split() == ["GROUP", "TYPE", "PROTOCOL"]
    assert {row.split()[0] for row in rows} == shown


def test_every_column_is_as_wide_as_the_widest() -> None:
    rows = ask("--list --group-type share").out.splitlines()
    assert rows == [f"{'GROUP':20} {'TYPE':20} {'PROTOCOL':20}", f"{'sharing':20} {'Share':20} {'share':20} "]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--consumer", "Command must include exactly one action: --list."),
        ("--list --group-type rotten", "--group-type must be a valid group type."),
        ("--list --consumer --share", 'Option "[consumer]" can\'t be used with option "[share]"'),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments: str, complaint: str) -> None:
    said = ask(arguments)
    assert (said.status, said.out, said.complaint) == (1, "", complaint)

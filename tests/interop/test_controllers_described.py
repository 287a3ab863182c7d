"""Apache's tools print the same of a quorum of ours as of Apache's own: every cell but those that count or tell time.

Both have the same ids and the same leader. A directory id and an address are each put down as the node that has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from interop.mixed_cluster import FEATURES_TOOL, QUORUM_TOOL, MixedCluster, running
from interop.referee import Tools

pytestmark = pytest.mark.referee

# What counts or tells time, by its name; of these the form is compared: a number, -1 for none, or a time ago.
MOVING = {
    *("LeaderEpoch", "HighWatermark", "MaxFollowerLag", "MaxFollowerLagTimeMs"),
    *("LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp"),
    "Epoch",
}
OLDEST_LEVELS = ("3.9-IV0", "3.3-IV3")  # of metadata.version, ours and Apache's

Rows = list[dict[str, str]]


class Both(NamedTuple):
    ours: MixedCluster
    apache: MixedCluster


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[Both]:
    homes = tmp_path_factory.mktemp("described")
    with (
        running(MixedCluster(homes / "ours", tools, "ooo", brokers=1)) as ours,
        running(MixedCluster(homes / "apache", tools, "aaa", brokers=1)) as apache,
    ):
        ours.move_leadership(apache.leader_id())
        for cluster in (ours, apache):
            for node_id in (*cluster.controllers, *cluster.brokers):
                cluster.wait_until_caught_up(node_id)
        yield Both(ours, apache)


def printed(cluster: MixedCluster, tool: str, asked: int, command: str) -> str:
    """What the tool prints, with nodes in the place of their directory ids and addresses."""
    flag = "--bootstrap-controller" if asked in cluster.controllers else "--bootstrap-server"
    said = cluster.tools.run(tool, flag, cluster.address(asked), *command.split())
    assert (said.status, said.err) == (0, ""), said
    text = said.out
    for node_id in (*cluster.controllers, *cluster.brokers):
        text = text.replace(cluster.directory_id(node_id), f"directory-{node_id}")
        text = text.replace(cluster.address(node_id), f"address-{node_id}")
    return text


def form(name: str, cell: str) -> str:
    return re.sub(r"^\d+", "N", cell) if name in MOVING else cell


def lines_of(text: str) -> Rows:
    """A name and its value on every line."""
    pairs = (re.fullmatch(r"(\w+:\s+)(.*)", line) for line in text.splitlines())
    return [{found[1]: form(found[1].rstrip(": "), found[2]) for found in pairs if found}]


def table_of(text: str) -> Rows:
    """Cells between tabs under a line of names."""
    names, *rows = ([cell.rstrip() for cell in line.split("\t")] for line in text.splitlines())
    return [{name: form(name, cell) for name, cell in zip(names, row, strict=True)} for row in rows]


def features_of(text: str) -> Rows:
    """Names and values in turn on every line."""
    rows = (re.findall(r"(\w+): (\S+)", line) for line in text.splitlines())
    return [{name: form(name, cell) for name, cell in row} for row in rows]


@pytest.mark.parametrize("asked", [1, 2, 3, 101])
@pytest.mark.parametrize(
    ("command", "parse"),
    [
        ("describe --status", lines_of),
        ("describe --replication", table_of),
        ("describe --replication --human-readable", table_of),
    ],
)
def test_both_quorums_are_described_alike(both: Both, asked: int, command: str, parse: Callable[[str], Rows]) -> None:
    ours, apache = (parse(printed(cluster, QUORUM_TOOL, asked, command)) for cluster in both)
    assert ours == apache
    assert {"CurrentVoters:          ", "Status"} & set(ours[0])


@pytest.mark.parametrize("asked", [1, 2, 3, 101])
def test_both_quorums_have_the_same_features(both: Both, asked: int) -> None:
    ours, apache = (features_of(printed(cluster, FEATURES_TOOL, asked, "describe")) for cluster in both)
    if asked in both.ours.controllers:
        oldest = [
            row.pop("SupportedMinVersion")
            for rows in (ours, apache)
            for row in rows
            if row["Feature"] == "metadata.version"
        ]
        assert tuple(oldest) == OLDEST_LEVELS
    assert ours == apache
    assert {"metadata.version", "kraft.version", "eligible.leader.replicas.version"} <= {row["Feature"] for row in ours}

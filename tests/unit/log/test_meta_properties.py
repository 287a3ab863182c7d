"""`meta.properties`: what Kafka writes is understood, what is ours is written so, and strangers are refused."""

from __future__ import annotations

import pytest

from barnabas.log.meta_properties import (
    MetaProperties,
    MetaPropertiesError,
    check_ensemble,
    format_meta_properties,
    parse_meta_properties,
    read_meta_properties,
    write_meta_properties,
)
from barnabas.protocol.uuid import Uuid
from barnabas.sim.disk import SimDisk

DIRECTORY_ID = Uuid.parse("-hKEJHYRRPuZ8E5dCWlsVw")
META = MetaProperties(cluster_id="q1Sh-9_ISia_zwGINzRvyQ", node_id=3, directory_id=DIRECTORY_ID)

KAFKAS = b"""#
#Wed Jun 17 14:30:00 UTC 2026
cluster.id=q1Sh-9_ISia_zwGINzRvyQ
directory.id=-hKEJHYRRPuZ8E5dCWlsVw
node.id=3
version=1
"""


def test_the_text_is_kafkas() -> None:
    assert parse_meta_properties(KAFKAS) == META
    assert format_meta_properties(META, 1_781_706_600_000) == KAFKAS


def test_a_directory_that_was_never_formatted_says_nothing() -> None:
    disk = SimDisk()
    disk.make_directory("/data")
    assert read_meta_properties(disk, "/data") is None
    write_meta_properties(disk, "/data", META, 0)
    assert read_meta_properties(disk, "/data") == META


def test_version_0_may_lack_everything() -> None:
    empty = MetaProperties(version=0, cluster_id=None, node_id=None)
    assert parse_meta_properties(b"") == empty
    assert parse_meta_properties(b"version=0\nbroker.id=7\n") == MetaProperties(version=0, cluster_id=None, node_id=7)


@pytest.mark.parametrize(
    "text",
    [
        b"version=2\ncluster.id=a\nnode.id=1\n",
        b"version=x\n",
        b"version=1\nnode.id=1\n",
        b"version=1\ncluster.id=a\n",
        b"version=1\ncluster.id=a\nnode.id=one\n",
        b"version=1\ncluster.id=a\nnode.id=1\ndirectory.id=short\n",
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_directorys_name(text: bytes) -> None:
    disk = SimDisk()
    disk.make_directory("/data")
    disk.open("/data/meta.properties", create=True).write_at(0, text)
    with pytest.raises(MetaPropertiesError, match="/data"):
        read_meta_properties(disk, "/data")


def other(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        (MetaProperties(cluster_id="other", node_id=3, directory_id=other(1000)), "cluster"),
        (MetaProperties(cluster_id=META.cluster_id, node_id=4, directory_id=other(1000)), "node"),
        (MetaProperties(cluster_id=META.cluster_id, node_id=3, directory_id=DIRECTORY_ID), "same directory id"),
        (MetaProperties(cluster_id=META.cluster_id, node_id=3, directory_id=other(99)), "reserved"),
    ],
)
def test_directories_of_several_nodes_are_refused(second: MetaProperties, complaint: str) -> None:
    with pytest.raises(MetaPropertiesError, match=complaint):
        check_ensemble({"/a": META, "/b": second})


def test_directories_of_one_node_pass_and_are_held_against_what_was_expected() -> None:
    found = {"/a": META, "/b": MetaProperties(cluster_id=META.cluster_id, node_id=3, directory_id=other(1000))}
    check_ensemble(found)
    check_ensemble(found, cluster_id=META.cluster_id, node_id=3)
    with pytest.raises(MetaPropertiesError):
        check_ensemble(found, node_id=1)

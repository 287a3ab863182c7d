"""`kafka-storage` makes directories those of one node in one cluster, never another's, and says what it finds."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from barnabas.cli.storage import run
from barnabas.log.meta_properties import MetaProperties, read_meta_properties
from barnabas.metadata.bootstrap import read_checkpoint
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.disk import PosixDisk

DYNAMIC = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
}
STATIC = DYNAMIC | {"controller.quorum.voters": "1@localhost:9093"}
SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
DIRECTORY_ID = "JEXY6aqzQY-32P5TStzaFg"


class Answer(NamedTuple):
    status: int
    out: str
    err: str


def call(*arguments: str) -> Answer:
    out, err = StringIO(), StringIO()
    return Answer(run(arguments, out, err), out.getvalue(), err.getvalue())


class Node:
    """A node's settings and its two log directories."""

    def __init__(self, home: Path, settings: dict[str, str]) -> None:
        self.directories = [home / "a", home / "b"]
        self.config = home / "server.properties"
        lines = settings | {"log.dirs": ",".join(map(str, self.directories))}
        self.config.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))

    def format(self, *options: str, cluster_id: str = "abc") -> Answer:
        return call("format", "-t", cluster_id, "-c", str(self.config), *options)

    def info(self) -> Answer:
        return call("info", "-c", str(self.config))

    def meta(self) -> list[MetaProperties | None]:
        return [read_meta_properties(PosixDisk(), str(directory)) for directory in self.directories]

    def levels(self) -> dict[str, int]:
        bootstrap = read_checkpoint((self.directories[0] / "bootstrap.checkpoint").read_bytes())
        return {m.name: m.feature_level for m, _ in bootstrap.records if isinstance(m, FeatureLevelRecord)}


@pytest.fixture
def dynamic(tmp_path: Path) -> Node:
    return Node(tmp_path, DYNAMIC)


@pytest.fixture
def static(tmp_path: Path) -> Node:
    return Node(tmp_path, STATIC)


def test_a_static_node_gets_names_and_first_records(static: Node) -> None:
    answer = static.format()
    assert answer.status == 0
    assert [line.split(str(static.directories[0].parent))[0] for line in answer.out.splitlines()[1:]] == [
        "Formatting metadata directory ",
        "Formatting data directory ",
    ]
    first, second = static.meta()
    assert first is not None
    assert second is not None
    assert (first.cluster_id, first.node_id, first.version) == ("abc", 1, 1)
    assert (second.cluster_id, second.node_id) == ("abc", 1)
    assert first.directory_id != second.directory_id
    assert static.levels()["metadata.version"] == 30
    assert not (static.directories[0] / SNAPSHOT).exists()


def test_a_standalone_controller_is_its_only_voter(dynamic: Node) -> None:
    answer = dynamic.format("--standalone")
    assert answer.status == 0
    assert "Formatting dynamic metadata voter directory" in answer.out
    (meta, _) = dynamic.meta()
    assert meta is not None
    assert meta.directory_id is not None
    snapshot = (dynamic.directories[0] / SNAPSHOT).read_bytes()
    assert bytes(meta.directory_id) in snapshot
    assert b"CONTROLLER\x0alocalhost" in snapshot
    assert not (dynamic.directories[1] / SNAPSHOT).exists()


def test_initial_controllers_name_the_directories_of_all_voters(dynamic: Node) -> None:
    other = "MvDxzVmcRsaTz33bUuRU6A"
    assert dynamic.format("-I", f"1@localhost:9093:{DIRECTORY_ID},2@[::1]:9094:{other}").status == 0
    (meta, _) = dynamic.meta()
    assert meta is not None
    assert str(meta.directory_id) == DIRECTORY_ID
    snapshot = (dynamic.directories[0] / SNAPSHOT).read_bytes()
    assert bytes(Uuid.parse(other)) in snapshot


def test_a_node_that_is_no_voter_keeps_a_directory_id_of_its_own(dynamic: Node) -> None:
    answer = dynamic.format("-I", f"2@localhost:9093:{DIRECTORY_ID}")
    assert "Formatting dynamic metadata directory" in answer.out
    (meta, _) = dynamic.meta()
    assert meta is not None
    assert str(meta.directory_id) != DIRECTORY_ID


def test_without_initial_controllers_there_is_no_first_snapshot(dynamic: Node) -> None:
    assert dynamic.format("-N").status == 0
    assert not (dynamic.directories[0] / SNAPSHOT).exists()


def test_a_formatted_directory_is_left_alone(static: Node) -> None:
    static.format()
    before = static.meta()
    again = static.format()
    assert again.status == 1
    assert again.err.startswith(f"Log directory {static.directories[0]} is already formatted. Use --ignore-formatted")
    ignored = static.format("--ignore-formatted")
    assert (ignored.status, ignored.out) == (0, "All of the log directories are already formatted.\n")
    assert static.meta() == before


def test_what_is_not_formatted_yet_can_be_formatted_later(static: Node) -> None:
    static.format()
    before, _ = static.meta()
    (static.directories[1] / "meta.properties").unlink()
    assert static.format("-g").status == 0
    first, second = static.meta()
    assert first == before
    assert second is not None


def test_another_cluster_or_node_is_never_overwritten(static: Node, tmp_path: Path) -> None:
    static.format()
    answer = static.format("-g", cluster_id="other")
    assert answer.status == 1
    path = static.directories[0] / "meta.properties"
    assert answer.err == f"Invalid cluster.id in: {path}. Expected other, but read abc\n"
    renumbered = Node(tmp_path, STATIC | {"node.id": "2", "controller.quorum.voters": "2@localhost:9093"})
    assert renumbered.format("-g").status == 1


def test_a_directory_that_cannot_be_read_is_passed_over(static: Node) -> None:
    static.directories[0].mkdir()
    (static.directories[0] / "meta.properties").write_text("version=7\n")
    answer = static.format()
    assert answer.status == 0
    assert f"I/O error trying to read log directory {static.directories[0]}. Ignoring..." in answer.out
    assert f"Formatting data directory {static.directories[1]}" in answer.out


def test_places_that_are_files_cannot_be_formatted(static: Node) -> None:
    for place in static.directories:
        place.write_text("")
    answer = static.format()
    assert (answer.status, answer.err) == (1, "No available log directories to format.\n")


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        ((), {"metadata.version": 30, "group.version": 1, "transaction.version": 2}),
        (("-r", "4.0"), {"metadata.version": 25, "group.version": 1, "transaction.version": 2}),
        (("-r", "3.9-IV0"), {"metadata.version": 21}),
        (("-f", "metadata.version=23"), {"metadata.version": 23, "group.version": 1}),
        (("-f", "group.version=0"), {"metadata.version": 30, "transaction.version": 2}),
    ],
)
def test_the_release_decides_the_levels_but_for_those_named(
    static: Node, options: tuple[str, ...], levels: dict[str, int]
) -> None:
    assert static.format(*options).status == 0
    kept = {
        name: level
        for name, level in static.levels().items()
        if name in ("metadata.version", "group.version", "transaction.version")
    }
    assert kept == levels


def test_credentials_are_among_the_first_records_and_stay_secret(static: Node) -> None:
    answer = static.format(
        "-S", "SCRAM-SHA-256=[name=bob,password=letmein]",
        "-S", 'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]',
    )  # fmt: skip
    bootstrap = read_checkpoint((static.directories[0] / "bootstrap.checkpoint").read_bytes())
    bob, alice = [m for m, _ in bootstrap.records if isinstance(m, UserScramCredentialRecord)]
    assert (bob.name, bob.mechanism, bob.iterations, len(bob.stored_key)) == ("bob", 1, 4096, 32)
    assert (alice.name, alice.mechanism, alice.iterations, alice.salt) == ("alice", 2, 8192, b"7q")
    assert "UserScramCredentialRecord(name='bob', mechanism=1, salt=[hidden], storedKey=[hidden]" in answer.out


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "Because controller.quorum.voters is not set on this controller, you must specify one of the following"),
        (("-s", "-r", "9"), "Unknown metadata.version '9'. Supported metadata.version are: 3.9-IV0"),
        (("-s", "-r", "4.0", "-f", "metadata.version=30"), "Use --release-version instead of --feature"),
        (("-s", "-f", "metadata.version=99"), "No metadata.version with feature level 99"),
        (("-s", "-f", "foo=1"), "Unsupported feature: foo. Supported features are: eligible.leader.replicas.version,"),
        (("-s", "-f", "foo"), "Can't parse feature=level string foo: equals sign not found."),
        (("-s", "-f", "foo=x"), "Can't parse feature=level string foo=x: unable to parse x as a short."),
        (("-s", "-f", "group.version=7"), "No feature:group.version with feature level 7"),
        (
            ("-s", "-f", "eligible.leader.replicas.version=1", "-r", "3.9"),
            "eligible.leader.replicas.version could not be set to 1 because it depends on metadata.version level 23",
        ),
        (("-s", "-f", "kraft.version=0"), "Cannot set kraft.version to 0 if controller.quorum.voters is empty"),
        (("-I", "1@h"), "'1@h' in --initial-controllers is not of the form id@hostname:port:directory"),
        (("-I", f"1@h:65536:{DIRECTORY_ID}"), f"'1@h:65536:{DIRECTORY_ID}' in --initial-controllers: there is no port"),
        (("-I", "1@h:1:short"), "'1@h:1:short' in --initial-controllers: 'short'"),
        (("-I", f"1@h:1:{DIRECTORY_ID},1@h:2:{DIRECTORY_ID}"), "Node id 1 was specified more than once."),
        (("-I", ","), "--initial-controllers names no voters."),
        (("-s", "-S", "bad"), "Failed to find equals sign in SCRAM argument 'bad'"),
        (("-s", "-S", "X=[name=a]"), "The add-scram mechanism X is not supported."),
        (("-s", "-S", "SCRAM-SHA-256=name=a]"), "Expected configuration string to start with ["),
        (("-s", "-S", "SCRAM-SHA-256=[name=a"), "Expected configuration string to end with ]"),
        (("-s", "-S", "SCRAM-SHA-256=[name]"), "No equals sign found in SCRAM component: name"),
        (("-s", "-S", "SCRAM-SHA-256=[password=a]"), "You must supply 'name' to add-scram"),
        (("-s", "-S", "SCRAM-SHA-256=[name=a]"), "You must supply one of 'password' or 'saltedpassword' to add-scram"),
        (
            ("-s", "-S", "SCRAM-SHA-256=[name=a,saltedpassword=YCE=]"),
            "You must supply 'salt' with 'saltedpassword' to add-scram",
        ),
        (("-s", "-S", "SCRAM-SHA-256=[name=a,password=b,salt=%]"), "Failed to decode given salt: %"),
        (("-s", "-S", "SCRAM-SHA-256=[name=a,password=b,x=1]"), "Unknown SCRAM configurations: x"),
        (
            ("-s", "-S", "SCRAM-SHA-256=[name=a,password=b,iterations=4095]"),
            "The 'iterations' value must be >= 4096 for add-scram using SCRAM_SHA_256",
        ),
        (
            ("-s", "-S", "SCRAM-SHA-512=[name=a,password=b,iterations=16385]"),
            "The 'iterations' value must be <= 16384 for add-scram using SCRAM_SHA_512",
        ),
        (
            ("-s", "-S", "SCRAM-SHA-256=[name=a,password=b,iterations=x]"),
            "Failed to parse iterations count: x",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_nothing_is_written(dynamic: Node, options: tuple[str, ...], line: str) -> None:
    answer = dynamic.format(*options)
    assert answer.status == 1
    assert answer.err.startswith(line)
    assert not dynamic.directories[0].exists()


@pytest.mark.parametrize("options", [("--standalone",), ("-I", f"1@localhost:9093:{DIRECTORY_ID}")])
def test_static_voters_exclude_dynamic_ones(static: Node, options: tuple[str, ...]) -> None:
    assert static.format(*options).err.startswith("You cannot specify controller.quorum.voters and format the node")
    assert static.format("-f", "kraft.version=1").err.startswith("Cannot set kraft.version to 1 unless")


def test_only_a_controller_is_standalone(tmp_path: Path) -> None:
    broker = DYNAMIC | {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
    assert Node(tmp_path, broker).format("-s").err == "You can only use --standalone on a controller.\n"
    assert Node(tmp_path, broker).format().status == 0


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    answer = Node(tmp_path, DYNAMIC | {"num.partitions": "many"}).format("-s")
    assert (answer.status, "num.partitions" in answer.err) == (1, True)
    assert call("format", "-t", "abc", "-c", str(tmp_path / "none")).status == 1


def test_info_says_what_is_not_there(static: Node) -> None:
    a, b = static.directories
    b.write_text("")
    assert static.info() == (1, f"Found problems:\n  {a} does not exist\n  {b} is not a directory\n\n", "")
    a.mkdir()
    assert static.info().out.startswith(f"Found log directory:\n  {a}\n\nFound problems:\n  {a} is not formatted.\n")


def test_info_says_whose_directories_they_are(static: Node) -> None:
    static.format()
    (meta, _) = static.meta()
    assert meta is not None
    a, b = static.directories
    assert static.info() == (
        0,
        f"Found log directories:\n  {a}\n  {b}\n\n"
        f"Found metadata: {{cluster.id=abc, directory.id={meta.directory_id}, node.id=1, version=1}}\n\n",
        "",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("version=1\ncluster.id=other\nnode.id=1\n", "Mismatched cluster IDs between storage directories."),
        ("version=1\ncluster.id=abc\nnode.id=2\n", "Mismatched node IDs between storage directories."),
        ("version=7\n", "Error loading "),
    ],
)
def test_info_finds_directories_that_do_not_belong_together(static: Node, text: str, problem: str) -> None:
    static.format()
    (static.directories[1] / "meta.properties").write_text(text)
    answer = static.info()
    assert answer.status == 1
    assert f"Found problem:\n  {problem}" in answer.out


def test_info_knows_directories_from_before_kraft(static: Node) -> None:
    for directory in static.directories:
        directory.mkdir()
        (directory / "meta.properties").write_text("version=0\nbroker.id=1\n")
    answer = static.info()
    assert "Found metadata: {broker.id=1, version=0}" in answer.out
    assert "formatted for legacy mode." in answer.out


def test_a_release_maps_to_levels() -> None:
    assert call("version-mapping", "-r", "4.0").out.splitlines()[:3] == [
        "metadata.version=25 (4.0)",
        "kraft.version=1",
        "transaction.version=2",
    ]
    assert call("version-mapping").out.startswith("metadata.version=30 (4.3-IV0)\n")
    assert call("version-mapping", "-r", "1.0").status == 1


def test_levels_have_dependencies() -> None:
    answer = call("feature-dependencies", "-f", "eligible.leader.replicas.version=1", "-f", "group.version=1")
    assert answer.out == (
        "eligible.leader.replicas.version=1 requires:\n    metadata.version=23 (4.0-IV1)\n"
        "group.version=1 has no dependencies.\n"
    )
    assert call("feature-dependencies", "-f", "metadata.version=25").out == (
        "metadata.version=25 (4.0-IV3) has no dependencies.\n"
    )


@pytest.mark.parametrize(
    ("feature", "line"),
    [
        ("x", "Invalid feature format: x. Expected format: 'feature=version' (e.g. 'group.version=1')"),
        ("x=1", "Unknown feature: x"),
        ("group.version=x", "Invalid version format: x for feature group.version"),
        ("group.version=9", "Feature level 9 is not supported for feature group.version"),
        ("metadata.version=99", "Unknown metadata.version 99"),
    ],
)
def test_a_level_that_is_none_is_refused(feature: str, line: str) -> None:
    assert call("feature-dependencies", "-f", feature) == (1, "", line + "\n")


def test_a_random_id_is_an_id_and_no_option() -> None:
    ids = [call("random-uuid").out.strip() for _ in range(200)]
    assert len({Uuid.parse(text) for text in ids}) == 200
    assert not [text for text in ids if text.startswith("-")]


def test_help_is_no_failure() -> None:
    assert call("-h").status == 0
    assert call("format", "-h").status == 0
    assert "--cluster-id" in call("format", "-h").out
    assert call().status == 1

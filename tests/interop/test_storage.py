"""Apache Kafka judges `kafka-storage`: its nodes start on what ours formats, and both tools say the same."""

from __future__ import annotations

import re
import socket
from io import StringIO
from pathlib import Path

import pytest

from barnabas.cli.storage import run
from barnabas.log.meta_properties import MetaProperties, read_meta_properties
from barnabas.runtime.disk import PosixDisk
from interop.apache_broker import ApacheBroker
from interop.referee import ToolOutput, Tools

pytestmark = pytest.mark.referee

APACHE = "kafka.tools.StorageTool"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
DIRECTORY_ID = "JEXY6aqzQY-32P5TStzaFg"
OTHER_DIRECTORY_ID = "MvDxzVmcRsaTz33bUuRU6A"
CONTROLLERS = f"1@localhost:9093:{DIRECTORY_ID},2@localhost:9094:{OTHER_DIRECTORY_ID}"
ALICE = 'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]'
BOB = 'SCRAM-SHA-256=[name=bob,password=letmein,salt="N3E="]'
SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"

DYNAMIC = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
}
STATIC = DYNAMIC | {"controller.quorum.voters": "1@localhost:9093"}


def ours(*arguments: str | Path) -> ToolOutput:
    out, err = StringIO(), StringIO()
    status = run([str(argument) for argument in arguments], out, err)
    return ToolOutput(status, out.getvalue(), err.getvalue())


def write_settings(home: Path, settings: dict[str, str]) -> Path:
    """A server.properties with two log directories under `home`, where it does not name some itself."""
    home.mkdir(exist_ok=True)
    lines = {"log.dirs": f"{home}/a,{home}/b"} | settings
    path = home / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    return path


def both_formatted(
    tools: Tools, home: Path, settings: dict[str, str], *options: str
) -> tuple[tuple[Path, ToolOutput], tuple[Path, ToolOutput]]:
    """Two nodes of the same settings, one formatted by Apache and one by us."""
    apache = write_settings(home / "apache", settings)
    our = write_settings(home / "ours", settings)
    by_apache = tools.run(APACHE, "format", "-t", "abc", "-c", apache, *options)
    by_us = ours("format", "-t", "abc", "-c", our, *options)
    assert by_apache.status == by_us.status == 0, by_apache.err + by_us.err
    return (apache.parent, by_apache), (our.parent, by_us)


def free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


@pytest.mark.parametrize("quorum", ["static", "standalone", "initial controllers"])
def test_an_apache_node_serves_from_what_we_formatted(tools: Tools, tmp_path: Path, quorum: str) -> None:
    broker_port, controller_port = free_ports()
    controller = f"127.0.0.1:{controller_port}"
    settings = {
        "listeners": f"BROKER://127.0.0.1:{broker_port},CONTROLLER://{controller}",
        "advertised.listeners": f"BROKER://127.0.0.1:{broker_port}",
        "controller.quorum.voters": f"1@{controller}" if quorum == "static" else "",
        "controller.quorum.bootstrap.servers": controller,
    }
    options = {
        "static": [],
        "standalone": ["--standalone", "-S", BOB],
        "initial controllers": ["-I", f"1@{controller}:{DIRECTORY_ID}"],
    }[quorum]
    node = ApacheBroker(tmp_path / "node", settings)
    names = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "BROKER",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(node.log_directory),
    }
    formatted = ours("format", "-t", DIRECTORY_ID, "-c", write_settings(tmp_path / "ours", names | settings), *options)
    assert formatted.status == 0, formatted.err
    before = read_meta_properties(PosixDisk(), str(node.log_directory))
    at = ("--bootstrap-server", f"127.0.0.1:{broker_port}")
    with node:
        assert "Created topic made." in tools.run(TOPICS, *at, "--create", "--topic", "made", "--partitions", "2").out
        described = tools.run(TOPICS, *at, "--describe", "--topic", "made").out
        assert "PartitionCount: 2" in described
        if quorum == "standalone":
            users = tools.run(CONFIGS, *at, "--describe", "--entity-type", "users").out
            assert "SCRAM credential configs for user-principal 'bob' are SCRAM-SHA-256=iterations=4096" in users
        node.stop()
    assert read_meta_properties(PosixDisk(), str(node.log_directory)) == before


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (STATIC, ()),
        (STATIC, ("-r", "4.0")),
        (STATIC, ("-r", "3.9-IV0", "-f", "group.version=0")),
        (STATIC, ("-f", "metadata.version=26", "-f", "transaction.version=1")),
        (STATIC, ("-S", ALICE, "-S", BOB)),
        (DYNAMIC, ("-I", CONTROLLERS)),
        (DYNAMIC, ("--no-initial-controllers",)),
    ],
)
def test_both_format_the_same_files(
    tools: Tools, tmp_path: Path, settings: dict[str, str], options: tuple[str, ...]
) -> None:
    (apache, by_apache), (our, by_us) = both_formatted(tools, tmp_path, settings, *options)
    assert files(our) == files(apache)
    for name in files(apache):
        if name.suffix == ".checkpoint":
            assert dumped(tools, our / name) == dumped(tools, apache / name)
            assert (our / name).stat().st_size == (apache / name).stat().st_size
    if "-S" not in options:  # Apache prints the keys of a credential.
        assert text_lines(by_us.out, our) == text_lines(by_apache.out, apache)


def files(home: Path) -> set[Path]:
    return {path.relative_to(home) for path in home.rglob("*") if path.is_file()}


def text_lines(text: str, home: Path) -> list[str]:
    """Lines of which the order is left to chance in Apache's, without the place that they speak of."""
    return sorted(line.replace(str(home), "") for line in text.splitlines())


def dumped(tools: Tools, path: Path) -> str:
    """What Apache finds in a checkpoint, but for its name and its times."""
    dump = tools.dump_log("--cluster-metadata-decoder", "--files", path)
    assert dump.status == 0, dump.err
    assert "isvalid: false" not in dump.out
    text = dump.out.replace(str(path), "").replace("-1", "none")
    return re.sub(r"(CreateTime: |crc: |lastContainedLogTimestamp\":)[0-9]{5,}", r"\1", text)


def test_a_standalone_voter_is_in_the_directory_that_its_snapshot_names(tools: Tools, tmp_path: Path) -> None:
    (apache, _), (our, _) = both_formatted(tools, tmp_path, DYNAMIC, "--standalone")
    texts = []
    for home in (apache, our):
        meta = meta_properties(home / "a")
        texts.append(dumped(tools, home / "a" / SNAPSHOT).replace(str(meta.directory_id), "here"))
        assert '"voterDirectoryId":"here"' in texts[-1]
    assert texts[0] == texts[1]


def meta_properties(directory: Path) -> MetaProperties:
    meta = read_meta_properties(PosixDisk(), str(directory))
    assert meta is not None
    return meta


@pytest.mark.parametrize("state", ["nothing", "file", "unformatted", "formatted", "other cluster", "other node", "v0"])
def test_both_say_the_same_of_each_others_directories(tools: Tools, tmp_path: Path, state: str) -> None:
    for home, _ in both_formatted(tools, tmp_path, STATIC):
        spoil(home / "b", state)
        by_apache = tools.run(APACHE, "info", "-c", home / "server.properties")
        by_us = ours("info", "-c", home / "server.properties")
        assert (by_us.status, by_us.out) == (by_apache.status, by_apache.out)


def spoil(directory: Path, state: str) -> None:
    meta = directory / "meta.properties"
    if state in ("nothing", "file"):
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()
    if state == "file":
        directory.touch()
    elif state == "unformatted":
        meta.unlink()
    elif state == "other cluster":
        meta.write_text(meta.read_text().replace("cluster.id=abc", "cluster.id=xyz"))
    elif state == "other node":
        meta.write_text(meta.read_text().replace("node.id=1", "node.id=2"))
    elif state == "v0":
        for each in (meta, directory.parent / "a/meta.properties"):
            each.write_text(each.read_text().replace("version=1", "version=0").replace("node.id", "broker.id"))


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "nope",
        "info",
        "format",
        "format -t abc",
        "format -c {dynamic}",
        "format -t",
        "format -t abc -c {dynamic} --bogus",
        "format -t abc -c {dynamic} extra",
        "format -t abc -c {dynamic} --standalone --no-initial-controllers",
        "format -t abc -c {dynamic} --standalone --initial-controllers 1@h:1:x",
        "format -t abc -c {dynamic}",
        "format -t abc -c {static} --standalone",
        "format -t abc -c {broker} --standalone",
        "format -t abc -c {dynamic} -s -f foo=1",
        "format -t abc -c {dynamic} -s -f foo",
        "format -t abc -c {dynamic} -s -f foo=x",
        "format -t abc -c {dynamic} -s -f group.version=7",
        "format -t abc -c {dynamic} -s -f kraft.version=0",
        "format -t abc -c {static} -f kraft.version=1",
        "format -t abc -c {dynamic} -s -f eligible.leader.replicas.version=1 -r 3.9",
        "format -t abc -c {dynamic} -s -r 4.0 -f metadata.version=30",
        "format -t abc -c {dynamic} -s -S bad",
        "format -t abc -c {dynamic} -s -S X=[name=a]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=name=a",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[password=a]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a,saltedpassword=YCE=]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a,password=b,salt=%]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a,password=b,iterations=1]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-512=[name=a,password=b,iterations=16385]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-512=[name=a,password=b,iterations=x]",
        "format -t abc -c {dynamic} -s -S SCRAM-SHA-256=[name=a,password=b,foo=1]",
        "format -t abc -c {dynamic} -I 1@h:1:" + DIRECTORY_ID + ",1@h:2:" + DIRECTORY_ID,
        "format -t abc -c {formatted}",
        "format -t xyz -c {formatted}",
        "format -t abc -c {formatted} -g",
        "info -c {formatted}",
        "version-mapping",
        "version-mapping -r 4.0",
        "version-mapping --release-version 3.9-IV0",
        "version-mapping -r",
        "feature-dependencies",
        "feature-dependencies -f eligible.leader.replicas.version=1 -f metadata.version=25 --feature group.version=1",
        "feature-dependencies -f x",
        "feature-dependencies -f x=1",
        "feature-dependencies -f group.version=9",
        "feature-dependencies -f group.version=x",
        "feature-dependencies -f metadata.version=99",
    ],
)
def test_both_answer_alike(tools: Tools, nodes: dict[str, Path], arguments: str) -> None:
    words = arguments.format(**nodes).split()
    by_apache, by_us = tools.run(APACHE, *words), ours(*words)
    assert (by_us.status, by_us.out) == (by_apache.status, by_apache.out)
    assert complaint(by_us.err) == complaint(by_apache.err)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("nodes")
    broker = DYNAMIC | {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
    made = {
        name: write_settings(home / name, settings)
        for name, settings in {"static": STATIC, "dynamic": DYNAMIC, "broker": broker}.items()
    }
    # Of several directories Apache names any.
    made["formatted"] = write_settings(home / "formatted", STATIC | {"log.dirs": f"{home}/formatted/a"})
    assert ours("format", "-t", "abc", "-c", made["formatted"]).status == 0
    return made


def complaint(err: str) -> str:
    """What is wrong: without the usage, which Apache wraps in another way, and without Java's stack trace."""
    _, error, text = err.partition("kafka-storage: ")
    if error or "error:" in err:
        return " ".join((text or err).split())
    first = err.splitlines()[0] if err else ""
    return re.sub(r"^java\.lang\.\w+: ", "", first)


# Where the answers differ, both refuse.
@pytest.mark.parametrize(
    ("arguments", "ours_says"),
    [
        # Ours knows the levels from 3.9 on.
        ("format -t abc -c {dynamic} -s -r 3.4", "Unknown metadata.version '3.4'"),
        ("format -t abc -c {dynamic} -s -r 9", "Unknown metadata.version '9'"),
        # Where Java prints a stack trace under half a sentence, ours says what the option looks like.
        ("format -t abc -c {dynamic} -I 1@h", "not of the form id@hostname:port:directory"),
        ("format -t abc -c {dynamic} -I 1@h:1:short", "in --initial-controllers"),
        ("format -t abc -c {dynamic} -I ,", "names no voters"),
        ("format -t abc -c /nonexistent", "No such file or directory"),
        ("info -c /nonexistent", "No such file or directory"),
    ],
)
def test_where_ours_has_other_words(tools: Tools, nodes: dict[str, Path], arguments: str, ours_says: str) -> None:
    words = arguments.format(**nodes).split()
    by_us = ours(*words)
    assert by_us.status == 1
    assert ours_says in by_us.err
    if "-r 3.4" not in arguments:
        assert tools.run(APACHE, *words).status == 1


@pytest.mark.parametrize("command", ["", "info", "format", "version-mapping", "feature-dependencies", "random-uuid"])
def test_help_pages_name_the_same_options(tools: Tools, command: str) -> None:
    words = [*command.split(), "--help"]
    by_apache, by_us = tools.run(APACHE, *words), ours(*words)
    assert by_us.status == by_apache.status == 0
    assert named(by_us.out) == named(by_apache.out)


def named(help_page: str) -> set[str]:
    """The long options and commands; Apache's page breaks words in two."""
    flags = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?=[ ,\]\n])", help_page))
    commands = re.search(r"\{([a-z,-]+)\}", help_page)
    return flags - {"--release-version"} | set(commands[1].split(",") if commands else ())

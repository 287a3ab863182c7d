"""Apache Kafka judges kafka-consumer-groups and kafka-groups: on one cluster both sides' tools print the same.

The groups are of both protocols, with members by Apache's consumer. What changes a group is done by each side to one of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from interop.admin_tools import LOG_LINE, SIDES, Bootstrap, run_ours, run_theirs, without_sides
from interop.apache_broker import ApacheBroker
from interop.java_members import JavaMembers
from interop.our_broker import OurBroker
from interop.referee import Tools
from interop.test_consumer_groups import NEWER, SETTINGS
from interop.test_groups import ALL, ASSIGNOR, PARTITIONS, RECORDS, fill, read_all

pytestmark = pytest.mark.referee

BROKERS: dict[str, type[ApacheBroker | OurBroker]] = {"apache": ApacheBroker, "ours": OurBroker}
LONG_TOPIC = "a-topic-with-a-name-of-more-than-twenty-four-letters"
ERROR_SENTENCE = re.compile(r"(errors\.\w+Exception: (?!Group |Timed )|due to (?=This )|\nError: (?=There? |The )).*")
IN_EACH = RECORDS // PARTITIONS


@pytest.fixture(scope="module", params=list(BROKERS))
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bootstrap]:
    home = tmp_path_factory.mktemp("groups")
    with BROKERS[request.param](home / "broker", SETTINGS) as broker:
        servers = broker.bootstrap_servers
        fill(servers)
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(LONG_TOPIC, 2, 1)])[LONG_TOPIC].result(30)
        for side in SIDES:
            for group in (side, f"executed-{side}", f"doomed-{side}", f"first-{side}", f"second-{side}"):
                commit(servers, group, {("t", 0): 1, ("t", 2): 3, (LONG_TOPIC, 1): 0})
        commit(servers, "simple", {("t", 0): 4, ("t", 3): IN_EACH})
        commit(servers, 'a group, with "signs" in its name', {("t", 1): 5})
        with closing(JavaMembers(servers)) as members:
            join(members)
            yield Bootstrap(servers, "", home)


def commit(servers: str, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
    """What a group without members has read."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    places = [TopicPartition(topic, index, offset) for (topic, index), offset in offsets.items()]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def join(members: JavaMembers) -> None:
    """Groups of each protocol, of both at once, with static members, and one whose members have left."""
    ranged = {"partition_assignment_strategy": f"{ASSIGNOR}RangeAssignor"}
    for group, settings in {"classic": ranged, "newer": NEWER}.items():
        names = [f"{group}-{number}" for number in range(3)]
        for name in names:
            members.join(name, group, ["t"], **settings)
        members.settle(names, ALL)
    members.join("alone", "static", ["t"], group_instance_id="the-one", **ranged)
    members.join("lonely", "static-newer", ["t"], group_instance_id="the-other", **NEWER)
    members.join("left", "left", ["t"], **NEWER)
    for name in ("alone", "lonely", "left"):
        members.settle([name], ALL)
        read_all(members, name)
        assert members.commit(name) == "done"
    members.leave("left")
    members.join("old", "mixed", ["t"], **ranged)
    members.settle(["old"], ALL)
    members.join("young", "mixed", ["t"], **NEWER)
    members.settle(["old", "young"], ALL)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("groups", "{server} --list"),
        ("groups", "{server} --list --group-type classic"),
        ("groups", "{server} --list --group-type CONSUMER --protocol consumer"),
        ("groups", "{server} --list --protocol consumer"),
        ("groups", "{server} --list --consumer"),
        ("groups", "{server} --list --share"),
        ("groups", "{server} --list --streams"),
        ("consumer-groups", "{server} --list"),
        ("consumer-groups", "{server} --list --state"),
        ("consumer-groups", "{server} --list --type"),
        ("consumer-groups", "{server} --list --state --type"),
        ("consumer-groups", "{server} --list --state stable,EMPTY --type"),
        ("consumer-groups", "{server} --list --state=dead"),
        ("consumer-groups", "{server} --list --type classic"),
        ("consumer-groups", "{server} --list --type Consumer --state Empty"),
        ("consumer-groups", "{server} --describe --group classic"),
        ("consumer-groups", "{server} --describe --group newer --offsets --verbose"),
        ("consumer-groups", "{server} --describe --group simple --group left"),
        ("consumer-groups", '{server} --describe --group a~group,~with~"signs"~in~its~name'),
        ("consumer-groups", "{server} --describe --all-groups"),
        ("consumer-groups", "{server} --describe --all-groups --verbose"),
        ("consumer-groups", "{server} --describe --all-groups --members"),
        ("consumer-groups", "{server} --describe --all-groups --members --verbose"),
        ("consumer-groups", "{server} --describe --all-groups --state"),
        ("consumer-groups", "{server} --describe --all-groups --state --verbose"),
        ("consumer-groups", "{server} --describe --group nobody"),
        ("consumer-groups", "{server} --describe --group nobody --members"),
        ("consumer-groups", "{server} --describe --group simple --timeout soon"),
        ("consumer-groups", "--describe --group simple {nobody} --timeout 300"),
        ("consumer-groups", "--list {nobody} --timeout 300"),
        ("consumer-groups", "--delete --group simple {nobody} --timeout 300"),
        ("consumer-groups", "{server} --delete --group classic"),
        ("consumer-groups", "{server} --delete --group newer --group nobody"),
        ("consumer-groups", "{server} --delete-offsets --group nobody --topic t"),
        ("consumer-groups", "{server} --delete-offsets --group classic --topic t"),
        ("consumer-groups", "{server} --delete-offsets --group newer --topic t:0,1 --topic nothing"),
        ("consumer-groups", "{server} --delete-offsets --group x --group y --topic t"),
        ("consumer-groups", "--validate-regex a|b.*"),
        ("consumer-groups", "--validate-regex (a"),
        ("consumer-groups", "--validate-regex [a"),
        ("consumer-groups", "--validate-regex a)"),
        ("consumer-groups", "--validate-regex *a"),
        ("consumer-groups", "--validate-regex a**"),
        ("consumer-groups", "--validate-regex a{{2000}}"),
        ("consumer-groups", "--validate-regex a\\"),
        ("consumer-groups", "--validate-regex [b-a]"),
        ("consumer-groups", "--validate-regex (?=a)"),
        ("consumer-groups", "--validate-regex (?P<n"),
        ("consumer-groups", "--validate-regex \\8"),
        ("consumer-groups", "--version"),
    ],
)
def test_both_tools_show_the_same(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    compare_output(tools, bootstrap, tool, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        "--group {side} --all-topics --to-earliest",
        "--group {side} --topic t --to-latest",
        "--group {side} --topic t:1,3 --topic t:0 --to-offset 6",
        "--group {side} --topic t --to-offset 100",
        "--group {side} --topic t --to-offset -3",
        "--group {side} --topic t:0,2 --shift-by 4",
        "--group {side} --topic t:0,2 --shift-by -100",
        "--group {side} --topic t --to-current",
        "--group {side} --all-topics --to-current --export",
        "--group {side} --group nobody --all-topics --to-current --export",
        "--group {side} --topic t --to-datetime 2001-01-01T00:00:00.000",
        "--group {side} --topic t --to-datetime 2099-12-31T23:59:59.999+09:00",
        "--group {side} --topic t --by-duration P10D",
        "--group {side} --topic t --by-duration PT0S",
        "--group {side} --from-file {home}/three.csv",
        "--group {side} --from-file {home}/four.csv",
        "--group {side} --from-file {home}/nothing.csv",
        "--group nobody --topic t --to-latest",
        "--group classic --topic t --to-latest",
        "--group newer --group left --topic t --to-earliest",
        '--group a~group,~with~"signs"~in~its~name --group left --all-topics --to-current --export',
        "--group {side} --topic nothing --to-latest",
        "--group {side} --topic t:9,0,8 --to-latest",
        "--group {side} --topic nothing:0 --to-latest",
        "--group {side} --topic t --to-datetime yesterday",
        "--group {side} --topic t --to-datetime 2001-13-01T00:00:00.000",
        "--group {side} --topic t --to-datetime 2001-01-01T00:00:00",
        "--group {side} --topic t --by-duration soon",
        "--group {side} --topic t --by-duration PT",
        "--group {side} --topic t --to-offset many",
        "--group {side} --topic t --by-duration P1D --by-duration P2D",
    ],
)
def test_both_tools_would_reset_the_same(tools: Tools, bootstrap: Bootstrap, arguments: str) -> None:
    bootstrap.write("three.csv", f"t,0,2\nt,1,999\n{LONG_TOPIC},1,0\n")
    bootstrap.write("four.csv", "".join(f"{side},t,{index},{index}\n" for side in SIDES for index in (3, 2)))
    compare_output(tools, bootstrap, "consumer-groups", f"{{server}} --reset-offsets --dry-run {arguments}")


def test_both_tools_would_reset_all_groups(tools: Tools, bootstrap: Bootstrap) -> None:
    """The order of groups whose hashes collide changes by the run in Java."""
    words = bootstrap.words("{server} --reset-offsets --dry-run --all-groups --topic t:0 --to-latest")
    theirs, ours = run_theirs(tools, "consumer-groups", words), run_ours("consumer-groups", words)
    assert sorted(ours.out.splitlines()) == sorted(theirs.out.splitlines())


def test_both_tools_change_offsets_alike(tools: Tools, bootstrap: Bootstrap) -> None:
    for arguments in (
        "--reset-offsets --group executed-{side} --topic t --to-offset 7 --execute",
        "--describe --group executed-{side}",
        "--reset-offsets --group fresh-{side} --topic t:1 --to-latest --execute --export",
        "--describe --group fresh-{side} --verbose",
        "--reset-offsets --group fresh-{side} --topic t:0 --shift-by 1 --execute",
        "--delete-offsets --group executed-{side} --topic t:0,1 --topic " + LONG_TOPIC,
        "--delete-offsets --group executed-{side} --topic nothing:0 --topic t:9",
        "--describe --group executed-{side}",
        "--delete --group doomed-{side}",
        "--delete --group doomed-{side} --group first-{side}",
        "--describe --group first-{side}",
        "--describe --group second-{side} --state",
    ):
        compare_output(tools, bootstrap, "consumer-groups", "{server} " + arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("groups", "{server}"),
        ("groups", "--list"),
        ("groups", "{server} --bogus"),
        ("groups", "{server} --list --group-type rotten"),
        ("groups", "{server} --list --consumer --share"),
        ("groups", "{server} --list --streams --protocol x"),
        ("consumer-groups", "--list"),
        ("consumer-groups", "{server}"),
        ("consumer-groups", "{server} --bogus"),
        ("consumer-groups", "{server} --list --delete --all-groups"),
        ("consumer-groups", "{server} --list --group x"),
        ("consumer-groups", "{server} --list --members"),
        ("consumer-groups", "{server} --list --members --verbose"),
        ("consumer-groups", "{server} --describe --all-groups --type classic"),
        ("consumer-groups", "{server} --list --state rotten"),
        ("consumer-groups", "{server} --list --type share"),
        ("consumer-groups", "{server} --describe"),
        ("consumer-groups", "{server} --describe --group x --all-groups"),
        ("consumer-groups", "{server} --describe --group x --members --state"),
        ("consumer-groups", "{server} --describe --group x --state stable"),
        ("consumer-groups", "{server} --describe --group x --topic t"),
        ("consumer-groups", "{server} --delete"),
        ("consumer-groups", "{server} --delete --group x --topic t"),
        ("consumer-groups", "{server} --delete-offsets --group x"),
        ("consumer-groups", "{server} --delete-offsets --group x --topic t:x"),
        ("consumer-groups", "{server} --delete-offsets --group x --topic t:0:1"),
        ("consumer-groups", "{server} --reset-offsets --dry-run"),
        ("consumer-groups", "{server} --reset-offsets --group x --dry-run --execute"),
        ("consumer-groups", "{server} --reset-offsets --group x --dry-run --to-latest --to-earliest"),
        ("consumer-groups", "{server} --reset-offsets --group x --dry-run --to-latest"),
        ("consumer-groups", "{server} --reset-offsets --group x --dry-run --topic t"),
        ("consumer-groups", "{server} --reset-offsets --group simple --dry-run --topic t --shift-by 1"),
        ("consumer-groups", "{server} --group"),
    ],
)
def test_both_tools_refuse_the_same(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    words = bootstrap.words(arguments)
    theirs, ours = run_theirs(tools, tool, words), run_ours(tool, words)
    assert (ours.out, ours.status) == (theirs.out, theirs.status), ours.err + theirs.err
    assert complaint_words(ours.err) == complaint_words(theirs.err)


def compare_output(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    """What is printed and the exit status; Apache's tools log to the error stream what ours print there."""
    theirs, ours = (bootstrap.words(arguments, side) for side in SIDES)
    their, our = run_theirs(tools, tool, theirs), run_ours(tool, ours)
    assert comparable(our.out) == comparable(their.out), our.err + their.err
    assert our.status == their.status, our.err + their.err


def comparable(out: str) -> str:
    """What is printed, without the sentences for error codes, of which each side has its own."""
    return without_sides(ERROR_SENTENCE.sub(r"\1", out))


def complaint_words(err: str) -> list[str]:
    """The first line, without the name of what Java threw; some list options in an order that changes by the run."""
    line = LOG_LINE.sub("", err).partition("\n")[0]
    return sorted(re.split(r"[ ,\[\]]+", re.sub(r"^(Exception in thread \S+ )?joptsimple\.\w+: ", "", line)))

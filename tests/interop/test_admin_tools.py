"""Apache Kafka judges our admin tools: on one cluster both sides' tools print the same and end with the same status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from interop.admin_tools import (
    SIDES,
    Bootstrap,
    compare,
    fill,
    run_ours,
    run_theirs,
    served_apis,
    start_apache,
    start_ours,
    wait_until_described,
    wait_until_listed,
    wait_until_moved,
)
from interop.referee import ToolOutput, Tools

pytestmark = pytest.mark.referee


@pytest.fixture(scope="module", params=["apache", "ours"])
def bootstrap(
    request: pytest.FixtureRequest, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bootstrap]:
    start = {"apache": start_apache, "ours": start_ours}[request.param]
    with ExitStack() as stack:
        found = start(tmp_path_factory.mktemp("cluster"), stack)
        fill(found, tools)
        yield found


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("topics", "{server} --list"),
        ("topics", "{server} --list --exclude-internal"),
        ("topics", "{server} --list --topic pl.*,tuned"),
        ("topics", "{server} --list --topic nothing"),
        ("topics", "{server} --describe"),
        ("topics", "{server} --describe --exclude-internal"),
        ("topics", "{server} --describe --topic plain"),
        ("topics", "{server} --describe --topic plain|tuned"),
        ("topics", "{server} --describe --topic tuned --if-exists"),
        ("topics", "{server} --describe --topic nothing --if-exists"),
        ("topics", "{server} --describe --topic wide --partition-size-limit-per-response 5"),
        ("topics", "{server} --describe --under-replicated-partitions"),
        ("topics", "{server} --describe --unavailable-partitions"),
        ("topics", "{server} --describe --under-min-isr-partitions"),
        ("topics", "{server} --describe --at-min-isr-partitions"),
        ("topics", "{server} --describe --topics-with-overrides"),
        ("topics", "{server} --describe --topic plain --at-min-isr-partitions --under-replicated-partitions"),
        ("configs", "{server} --describe --entity-type topics"),
        ("configs", "{server} --describe --entity-type topics --entity-name tuned"),
        ("configs", "{server} --describe --entity-type topics --entity-name tuned --all"),
        ("configs", "{server} --describe --topic tuned"),
        ("configs", "{server} --describe --entity-type topics --entity-name nothing"),
        ("configs", "{server} --describe --entity-type brokers"),
        ("configs", "{server} --describe --entity-type brokers --entity-name 1"),
        ("configs", "{server} --describe --entity-type brokers --entity-name 1 --all"),
        ("configs", "{server} --describe --entity-type brokers --entity-default"),
        ("configs", "{server} --describe --broker-defaults --all"),
        ("configs", "{server} --describe --broker 7"),
        ("configs", "{server} --describe --entity-type broker-loggers --entity-name 1"),
        ("configs", "{server} --describe --entity-type users"),
        ("configs", "{server} --describe --entity-type users --entity-name nobody"),
        ("configs", "{server} --describe --entity-type clients --entity-default"),
        ("configs", "{server} --describe --entity-type ips"),
        ("configs", "{server} --describe --entity-type client-metrics"),
        ("configs", "{server} --describe --entity-type client-metrics --entity-name nothing"),
        ("configs", "{controller} --describe --entity-type brokers --entity-name 1"),
        ("configs", "{controller} --describe --entity-type brokers --entity-default"),
        ("get-offsets", "{server}"),
        ("get-offsets", "{server} --topic plain"),
        ("get-offsets", "{server} --topic plain --time earliest"),
        ("get-offsets", "{server} --topic plain --time -3"),
        ("get-offsets", "{server} --topic plain --time 0"),
        ("get-offsets", "{server} --topic plain --time 9999999999999"),
        ("get-offsets", "{server} --topic plain --time earliest-local"),
        ("get-offsets", "{server} --topic wide --partitions 1,10,2"),
        ("get-offsets", "{server} --topic-partitions plain:1,wide:2-4,wide:10-,tu.*"),
        ("get-offsets", "{server} --topic-partitions :0 --exclude-internal-topics"),
        ("log-dirs", "{server} --describe"),
        ("log-dirs", "{server} --describe --broker-list 1 --topic-list plain,wide"),
        ("leader-election", "{server} --election-type preferred --topic plain --partition 1"),
        ("leader-election", "{server} --election-type PREFERRED --all-topic-partitions"),
        ("reassign", "{server} --list"),
        ("reassign", "{controller} --list"),
        ("api-versions", "{server}"),
    ],
)
def test_both_tools_print_the_same(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    said = compare(tools, bootstrap, tool, arguments)
    assert (said.status, said.err) == (0, "")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("topics", "--version"),
        ("topics", "--list"),
        ("topics", "{server}"),
        ("topics", "{server} --list --create"),
        ("topics", "{server} --bogus"),
        ("topics", "{server} --create"),
        ("topics", "{server} --create --topic"),
        ("topics", "{server} --create --topic plain"),
        ("topics", "{server} --create --topic plain --if-not-exists"),
        ("topics", "{server} --create --topic x --partitions 0"),
        ("topics", "{server} --create --topic x --partitions many"),
        ("topics", "{server} --create --topic x --replication-factor 0"),
        ("topics", "{server} --create --topic x --replication-factor 40000"),
        ("topics", "{server} --create --topic x --replication-factor 2"),
        ("topics", "{server} --create --topic x --topic y"),
        ("topics", "{server} --create --topic x~y"),
        ("topics", "{server} --create --topic x --config nothing"),
        ("topics", "{server} --create --topic x --config a=b=c"),
        ("topics", "{server} --create --topic x --replica-assignment 1:1"),
        ("topics", "{server} --create --topic x --replica-assignment 1,1:2"),
        ("topics", "{server} --create --topic x --replica-assignment one"),
        ("topics", "{server} --create --topic x --replica-assignment 9"),
        ("topics", "{server} --create --topic x --replica-assignment 1 --partitions 1"),
        ("topics", "{server} --create --topic x --if-exists"),
        ("topics", "{server} --list --if-not-exists"),
        ("topics", "{server} --list --partitions 3"),
        ("topics", "{server} --describe --topic nothing"),
        ("topics", "{server} --describe --topic ["),
        ("topics", "{server} --describe --if-exists"),
        ("topics", "{server} --describe --topic-id MvDxzVmcRsaTz33bUuRU6A"),
        ("topics", "{server} --describe --topic-id MvDxzVmcRsaTz33bUuRU6A --if-exists"),
        ("topics", "{server} --describe --topic plain --topic-id MvDxzVmcRsaTz33bUuRU6A --if-exists"),
        ("topics", "{server} --describe --topics-with-overrides --unavailable-partitions"),
        ("topics", "{server} --alter --topic plain"),
        ("topics", "{server} --alter --topic nothing --partitions 4"),
        ("topics", "{server} --alter --topic nothing --partitions 4 --if-exists"),
        ("topics", "{server} --alter --topic plain --partitions 2"),
        ("topics", "{server} --alter --topic plain --partitions 3"),
        ("topics", "{server} --delete --topic nothing"),
        ("topics", "{server} --delete --topic nothing --if-exists"),
        ("topics", "--bootstrap-server nowhere --list"),
        ("topics", "{nobody} --command-config {impatient} --list"),
        ("topics", "{nobody} --command-config {impatient} --create --topic x"),
        ("configs", "{server}"),
        ("configs", "{server} --describe --alter"),
        ("configs", "--describe --entity-type topics"),
        ("configs", "{server} --describe"),
        ("configs", "{server} --describe --entity-type planets"),
        ("configs", "{server} --describe --entity-type topics --entity-type topics"),
        ("configs", "{server} --describe --entity-type topics --entity-type users"),
        ("configs", "{server} --describe --entity-type topics --topic plain"),
        ("configs", "{server} {controller} --describe --entity-type topics"),
        ("configs", "{server} --describe --entity-type topics --entity-default"),
        ("configs", "{server} --describe --entity-type topics --entity-name x~y"),
        ("configs", "{server} --describe --entity-type broker-loggers"),
        ("configs", "{server} --describe --entity-type brokers --entity-name one"),
        ("configs", "{server} --describe --entity-type ips --entity-name no-such-host.invalid"),
        ("configs", "{server} --describe --topic plain --add-config a=b"),
        ("configs", "{server} --alter --entity-type topics --add-config a=b"),
        ("configs", "{server} --alter --entity-type users --add-config a=b"),
        ("configs", "{server} --alter --topic plain"),
        ("configs", "{server} --alter --topic plain --add-config a=b --add-config-file {impatient}"),
        ("configs", "{server} --alter --topic plain --add-config a"),
        ("configs", "{server} --alter --topic plain --add-config a~b=c"),
        ("configs", "{server} --alter --topic plain --add-config no.such.setting=1"),
        ("configs", "{server} --alter --topic plain --add-config retention.ms=soon"),
        ("configs", "{server} --alter --topic nothing --add-config retention.ms=1"),
        ("configs", "{server} --alter --topic plain --add-config-file /no/such/file"),
        ("configs", "{server} --alter --broker 1 --add-config node.id=4"),
        ("configs", "{server} --alter --broker-logger 1 --add-config no.such.logger=INFO"),
        ("configs", "{server} --alter --ip-defaults --add-config producer_byte_rate=1"),
        ("configs", "{server} --alter --user alice --delete-config producer_byte_rate"),
        ("configs", "{server} --alter --user alice --add-config producer_byte_rate=much"),
        ("configs", "{server} --alter --user alice --add-config SCRAM-SHA-256=[iterations=5,password=x]"),
        ("configs", "{server} --alter --user-defaults --add-config SCRAM-SHA-256=[password=x]"),
        ("configs", "{server} --alter --user alice --add-config SCRAM-SHA-256=[password=x],producer_byte_rate=1"),
        ("configs", "{server} --alter --user alice --delete-config SCRAM-SHA-512"),
        ("configs", "{server} --alter --entity-type users --entity-type clients --entity-name a --add-config x=1"),
        ("configs", "{controller} --describe --entity-type topics"),
        ("configs", "--bootstrap-server nowhere --describe --entity-type topics"),
        ("configs", "{nobody} --command-config {impatient} --describe --entity-type topics"),
        ("get-offsets", "--topic plain"),
        ("get-offsets", "--bootstrap-server nowhere"),
        ("get-offsets", "{server} --bogus"),
        ("get-offsets", "{server} --topic nothing"),
        ("get-offsets", "{server} --time soon"),
        ("get-offsets", "{server} --partitions one"),
        ("get-offsets", "{server} --topic plain --topic-partitions plain"),
        ("get-offsets", "{nobody} --command-config {impatient}"),
        ("delete-records", "{server}"),
        ("delete-records", "{nobody} --command-config {impatient} --offset-json-file {home}/repeated.json"),
        ("delete-records", "{nobody} --command-config {impatient} --offset-json-file {home}/empty.json"),
        ("delete-records", "{nobody} --command-config {impatient} --offset-json-file {home}/broken.json"),
        ("delete-records", "{nobody} --command-config {impatient} --offset-json-file {home}/version-2.json"),
        ("log-dirs", "{server}"),
        ("log-dirs", "{server} --describe --broker-list 9"),
        ("log-dirs", "{server} --describe --broker-list one"),
        ("log-dirs", "{nobody} --command-config {impatient} --describe"),
        ("leader-election", "{server}"),
        ("leader-election", "{server} --election-type best --all-topic-partitions"),
        ("leader-election", "{server} --election-type preferred"),
        ("leader-election", "{server} --election-type preferred --topic plain"),
        ("leader-election", "{server} --election-type preferred --all-topic-partitions --partition 1"),
        ("leader-election", "{server} --election-type preferred --all-topic-partitions --topic plain"),
        ("leader-election", "{server} --election-type preferred --path-to-json-file {home}/repeated.json"),
        ("leader-election", "{server} --election-type preferred --path-to-json-file {home}/empty.json"),
        ("leader-election", "{nobody} --command-config {impatient} --election-type unclean --all-topic-partitions"),
        ("leader-election", "{nobody} --admin.config {impatient} --election-type unclean --all-topic-partitions"),
        ("reassign", "{server}"),
        ("reassign", "--list"),
        ("reassign", "{server} {controller} --list"),
        ("reassign", "{server} --list --verify"),
        ("reassign", "{server} --list --additional"),
        ("reassign", "{controller} --verify --reassignment-json-file {home}/empty.json"),
        ("reassign", "{server} --verify"),
        ("reassign", "{server} --generate --topics-to-move-json-file {home}/empty.json"),
        ("api-versions", "--command-config {impatient}"),
    ],
)
def test_both_tools_complain_alike(tools: Tools, bootstrap: Bootstrap, tool: str, arguments: str) -> None:
    partition = {"topic": "plain", "partition": 1, "offset": 1}
    bootstrap.write("repeated.json", {"partitions": [partition, partition]})
    bootstrap.write("empty.json", {})
    bootstrap.write("broken.json", "{")
    bootstrap.write("version-2.json", {"version": 2, "partitions": []})
    compare(tools, bootstrap, tool, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        "{server} --execute --reassignment-json-file {home}/empty.json",
        "{server} --execute --reassignment-json-file {home}/repeated.json",
        "{server} --execute --reassignment-json-file {home}/doubled.json",
        "{server} --execute --reassignment-json-file {home}/unfit.json",
        "{server} --execute --reassignment-json-file {home}/elsewhere.json",
        "{server} --execute --reassignment-json-file {home}/unknown.json",
        "{server} --execute --reassignment-json-file {home}/beyond.json",
        "{server} --execute --reassignment-json-file {home}/version-2.json",
        "{server} --generate --broker-list 1,1 --topics-to-move-json-file {home}/topics.json",
        "{server} --generate --broker-list 1 --topics-to-move-json-file {home}/unknown-topics.json",
        "{nobody} --command-config {impatient} --list",
    ],
)
def test_both_reassignment_tools_refuse_the_same_plans(tools: Tools, bootstrap: Bootstrap, arguments: str) -> None:
    """Theirs prints a stack trace behind the line that counts."""

    def plan(name: str, *partitions: dict[str, object]) -> None:
        bootstrap.write(f"{name}.json", {"version": 1, "partitions": partitions})

    bootstrap.write("version-2.json", {"version": 2})
    bootstrap.write("topics.json", {"topics": [{"topic": "plain"}]})
    bootstrap.write("unknown-topics.json", {"topics": [{"topic": "nothing"}]})
    plan("empty")
    plan("repeated", *[{"topic": "plain", "partition": 0, "replicas": [1]}] * 2)
    plan("doubled", {"topic": "plain", "partition": 0, "replicas": [1, 1]})
    plan("unfit", {"topic": "plain", "partition": 0, "replicas": [1], "log_dirs": ["any", "any"]})
    plan("elsewhere", {"topic": "plain", "partition": 0, "replicas": [9]})
    plan("unknown", {"topic": "nothing", "partition": 0, "replicas": [1]})
    plan("beyond", {"topic": "plain", "partition": 7, "replicas": [1]})
    words = bootstrap.words(arguments)
    their, our = run_theirs(tools, "reassign", words), run_ours("reassign", words)
    assert our.out.splitlines()[0] == their.out.splitlines()[0]
    assert our.status == their.status == 1


def test_both_tools_create_alter_and_delete_topics(tools: Tools, bootstrap: Bootstrap) -> None:
    for arguments in (
        "--create --topic {side}",
        "--create --topic {side}",
        "--create --topic {side} --if-not-exists",
        "--create --topic {side}-a.b --partitions 2 --replication-factor 1 --config segment.ms=70000 --config "
        "retention.bytes~=~10240",
        "--create --topic {side}-c --replica-assignment 1,1,1",
        "--alter --topic {side}-c --partitions 5 --replica-assignment 1,1,1,1,1",
        "--alter --topic {side}-a.b --partitions 3",
        "--delete --topic {side}",
        "--delete --topic {side}-.*",
    ):
        compare(tools, bootstrap, "topics", "{server} " + arguments)
        if "--create" in arguments:
            wait_until_listed(bootstrap, arguments.split()[2])


def test_both_tools_describe_what_ours_made(tools: Tools, bootstrap: Bootstrap) -> None:
    made = (
        "{server} --create --topic made --partitions 2 --config segment.ms=70000 --config cleanup.policy=delete,compact"
    )
    assert run_ours("topics", bootstrap.words(made)) == (0, "Created topic made.\n", "")
    wait_until_listed(bootstrap, "made")
    said = compare(tools, bootstrap, "topics", "{server} --describe --topic made")
    found = re.match(
        r"Topic: made\tTopicId: (\S+)\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: (\S+)\n", said.out
    )
    assert found is not None, said.out
    assert {"segment.ms=70000", "cleanup.policy=delete,compact"} <= set(re.split(r",(?=[a-z.]+=)", found[2]))
    compare(tools, bootstrap, "topics", f"{{server}} --describe --topic-id {found[1]}")
    compare(tools, bootstrap, "topics", f"{{server}} --describe --topic plain --topic-id {found[1]} --if-exists")


@pytest.mark.parametrize(
    ("entity", "added", "deleted"),
    [
        ("--topic tuned", "segment.ms=60000,cleanup.policy=[delete,compact]", "segment.ms"),
        ("--entity-type brokers --entity-name 1", "log.cleaner.threads=2", "log.cleaner.threads"),
        ("--entity-type brokers --entity-default", "log.retention.ms=86400000", "log.retention.ms"),
        (
            "--entity-type users --entity-name alice",
            "producer_byte_rate=1024,consumer_byte_rate=2.5e9",
            "consumer_byte_rate",
        ),
        ("--user-defaults", "request_percentage=1000000.5,controller_mutation_rate=20000000", "request_percentage"),
        (
            "--entity-type users --entity-name bob --entity-type clients --entity-default",
            "producer_byte_rate=1,request_percentage=0.0001",
            "producer_byte_rate",
        ),
        ("--entity-type clients --entity-name shop", "consumer_byte_rate=10000000", "consumer_byte_rate"),
        ("--ip 10.9.8.7", "connection_creation_rate=10", "connection_creation_rate"),
        ("--ip-defaults", "connection_creation_rate=1000", "connection_creation_rate"),
        (
            "--user carol",
            "SCRAM-SHA-256=[iterations=8192,password=secret]",
            "SCRAM-SHA-256",
        ),
        ("--client-metrics some", "interval.ms=5000,metrics=[a.b,c.d],match=[client_id=x.*]", "match"),
    ],
)
def test_both_tools_change_settings_alike(
    tools: Tools, bootstrap: Bootstrap, entity: str, added: str, deleted: str
) -> None:
    """Each side does and undoes it by itself; both look at what each did."""
    for change in (run_ours, lambda tool, words: run_theirs(tools, tool, words)):
        done = change("configs", bootstrap.words(f"{{server}} --alter {entity} --add-config {added}"))
        assert done.status == 0, done.err
        wait_until_described(bootstrap, entity, deleted, is_there=True)
        compare(tools, bootstrap, "configs", f"{{server}} --describe {entity}")
        undone = change("configs", bootstrap.words(f"{{server}} --alter {entity} --delete-config {deleted}"))
        assert (undone.status, undone.out) == (0, done.out), undone.err
        wait_until_described(bootstrap, entity, deleted, is_there=False)
        compare(tools, bootstrap, "configs", f"{{server}} --describe {entity}")
    compare(tools, bootstrap, "configs", f"{{server}} --alter {entity} --add-config {added}")


def test_both_tools_describe_groups(tools: Tools, bootstrap: Bootstrap) -> None:
    """Or fail alike, on a broker that has no groups yet."""
    is_served = "ListGroups(16): UNSUPPORTED" not in served_apis(bootstrap)
    for arguments in ("--entity-type groups", "--group nothing"):
        said = compare(tools, bootstrap, "configs", "{server} --describe " + arguments)
        assert said.status == (0 if is_served else 1)


def test_both_tools_change_the_settings_of_groups(tools: Tools, bootstrap: Bootstrap) -> None:
    """All settings of a group can be shown where groups cannot be listed."""
    setting = "consumer.session.timeout.ms"
    compare(tools, bootstrap, "configs", f"{{server}} --alter --group {{side}} --add-config {setting}=46000")
    for side in SIDES:
        entity = f"--all --group {side}"
        wait_until_described(bootstrap, entity, f"DYNAMIC_GROUP_CONFIG:{setting}", is_there=True)
        compare(tools, bootstrap, "configs", f"{{server}} --describe {entity}")
    compare(tools, bootstrap, "configs", f"{{server}} --alter --group {{side}} --delete-config {setting}")


@pytest.mark.parametrize("setting", ["no.such.setting=1", "retention.ms=soon"])
def test_both_tools_refuse_settings_that_no_topic_has(tools: Tools, bootstrap: Bootstrap, setting: str) -> None:
    """Theirs by itself, ours in the words of the cluster."""
    words = bootstrap.words(f"{{server}} --create --topic x --config {setting}")
    their, our = run_theirs(tools, "topics", words), run_ours("topics", words)
    assert our.status == their.status == 1
    for said in (our.out, their.out):
        assert said.startswith("Error while executing topic command : ")
        assert setting.partition("=")[0] in said


def test_both_tools_list_the_quotas_of_several_entities(tools: Tools, bootstrap: Bootstrap) -> None:
    for name in ("a", "b", "c", "longer-name"):
        words = f"{{server}} --alter --client {name} --add-config request_percentage=100000,producer_byte_rate=2"
        assert run_ours("configs", bootstrap.words(words)).status == 0
    wait_until_described(bootstrap, "--client longer-name", "producer_byte_rate", is_there=True)
    said = compare(tools, bootstrap, "configs", "{server} --describe --entity-type clients")
    assert len(said.out.splitlines()) >= 4


def test_both_tools_change_settings_through_controllers(tools: Tools, bootstrap: Bootstrap) -> None:
    compare(
        tools, bootstrap, "configs", "{controller} --alter --broker-defaults --add-config message.max.bytes=1000001"
    )
    compare(tools, bootstrap, "configs", "{controller} --alter --broker 1 --add-config num.io.threads=3")
    wait_until_described(bootstrap, "--broker 1", "num.io.threads", is_there=True)
    compare(tools, bootstrap, "configs", "{server} --describe --broker 1")
    compare(tools, bootstrap, "configs", "{server} --describe --broker-defaults")


def test_both_tools_take_settings_from_a_file(tools: Tools, bootstrap: Bootstrap) -> None:
    bootstrap.write("settings.properties", "max.message.bytes = 70000\nsegment.jitter.ms: 3000\n")
    compare(tools, bootstrap, "configs", "{server} --alter --topic tuned --add-config-file {home}/settings.properties")
    wait_until_described(bootstrap, "--topic tuned", "segment.jitter.ms", is_there=True)
    compare(tools, bootstrap, "configs", "{server} --describe --topic tuned")


def test_both_tools_delete_records(tools: Tools, bootstrap: Bootstrap) -> None:
    ends = run_ours("get-offsets", bootstrap.words("{server} --topic plain")).out.split()
    assert sum(int(line.rpartition(":")[2]) for line in ends) == 100
    offsets = [{"topic": "plain", "partition": partition, "offset": -1} for partition in (0, 1, 2)]
    bootstrap.write("offsets.json", {"partitions": offsets})
    words = bootstrap.words("{server} --offset-json-file {home}/offsets.json")
    their, our = run_theirs(tools, "delete-records", words), run_ours("delete-records", words)
    # Theirs lists the partitions in another order each time.
    assert sorted(our.out.splitlines()) == sorted(their.out.splitlines())
    assert our.status == their.status == 0
    starts = compare(tools, bootstrap, "get-offsets", "{server} --topic plain --time -2")
    assert starts.out.split() == ends
    beyond = [{"topic": "plain", "partition": 0, "offset": 1000}]
    bootstrap.write("beyond.json", {"partitions": beyond})
    words = bootstrap.words("{server} --offset-json-file {home}/beyond.json")
    their, our = run_theirs(tools, "delete-records", words), run_ours("delete-records", words)
    # The sentence behind the name of the exception is each side's own.
    assert our.out.rpartition(": ")[0] == their.out.rpartition(": ")[0]
    assert our.status == their.status == 0


def test_both_tools_elect_leaders_from_a_file(tools: Tools, bootstrap: Bootstrap) -> None:
    bootstrap.write("partitions.json", {"partitions": [{"topic": "wide", "partition": part} for part in range(12)]})
    at = "{server} --election-type preferred --path-to-json-file {home}/partitions.json"
    compare(tools, bootstrap, "leader-election", at)
    unknown = compare(tools, bootstrap, "leader-election", "{server} --election-type unclean --topic no --partition 1")
    assert unknown.status == 1


def test_both_tools_reassign_partitions(tools: Tools, bootstrap: Bootstrap) -> None:
    """With one broker there is no other place than the other directory of the same broker, if it can move replicas."""

    def reassign(arguments: str) -> ToolOutput:
        said = compare(tools, bootstrap, "reassign", "{server} " + arguments)
        assert (said.status, said.err) == (0, "")
        return said

    def plan(directory: str) -> None:
        partition: dict[str, object] = {"topic": "wide", "partition": 3, "replicas": [1]}
        if serves_moves:
            partition["log_dirs"] = [str(bootstrap.home / "1" / directory)]
        resting = {"topic": "plain", "partition": 0, "replicas": [1]}
        bootstrap.write("plan.json", {"version": 1, "partitions": [partition, resting]})

    serves_moves = "AlterReplicaLogDirs(34): UNSUPPORTED" not in served_apis(bootstrap)
    bootstrap.write("topics.json", {"version": 1, "topics": [{"topic": "wide"}, {"topic": "plain"}]})
    reassign("--generate --broker-list 1 --topics-to-move-json-file {home}/topics.json")
    reassign("--generate --broker-list 1 --topics-to-move-json-file {home}/topics.json --disable-rack-aware")
    for directory in ("logs", "more"):
        plan(directory)
        for throttles in ("", " --throttle 1000000 --replica-alter-log-dirs-throttle 2000000"):
            run_ours(
                "reassign", bootstrap.words("{server} --execute --reassignment-json-file {home}/plan.json" + throttles)
            )
            wait_until_moved(bootstrap)
            reassign("--execute --reassignment-json-file {home}/plan.json" + throttles)
            has_throttles = bool(throttles)
            wait_until_described(bootstrap, "--broker 1", "leader.replication.throttled.rate", is_there=has_throttles)
            compare(tools, bootstrap, "configs", "{server} --describe --topic wide")
            compare(tools, bootstrap, "configs", "{server} --describe --broker 1")
            reassign("--verify --reassignment-json-file {home}/plan.json --preserve-throttles")
            reassign("--verify --reassignment-json-file {home}/plan.json")
            reassign("--cancel --reassignment-json-file {home}/plan.json --preserve-throttles")
            reassign("--cancel --reassignment-json-file {home}/plan.json")
    bootstrap.write("plan.json", {"partitions": [{"topic": "wide", "partition": 3, "replicas": [1, 2]}]})
    reassign("--verify --reassignment-json-file {home}/plan.json --preserve-throttles")
    bootstrap.write("plan.json", {"partitions": [{"topic": "no-such-topic", "partition": 3, "replicas": [1, 2]}]})
    reassign("--verify --reassignment-json-file {home}/plan.json --preserve-throttles")
    compare(
        tools,
        bootstrap,
        "reassign",
        "{controller} --cancel --preserve-throttles --reassignment-json-file {home}/plan.json",
    )

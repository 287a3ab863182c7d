"""`kafka-consumer-groups`: which requests its options come to, and what it prints of the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.consumer_groups import run
from barnabas.log.checkpoint import TopicPartition
from barnabas.protocol.api import ApiKey
from barnabas.protocol.messages.offset_commit import OffsetCommitRequest
from unit.cli.tool_runs import Said, call
from unit.client.group_node import GroupNode


def ask(arguments: str, node: GroupNode | None = None) -> Said:
    with node or GroupNode() as serving:
        return call(run, f"--bootstrap-server {serving.address} {arguments}")


def cells(said: Said) -> list[list[str]]:
    return [line.split() for line in said.out.splitlines() if line]


@pytest.mark.parametrize(
    ("arguments", "listed"),
    [
        ("", [["old"], ["idle"], ["young"]]),
        ("--state empty", [["GROUP", "STATE"], ["idle", "Empty"]]),
        ("--type Consumer", [["GROUP", "TYPE"], ["young", "Consumer"]]),
        ("--type classic --state stable", [["GROUP", "TYPE", "STATE"], ["old", "Classic", "Stable"]]),
    ],
)
def test_groups_of_consumers_are_listed_by_state_and_type(arguments: str, listed: list[list[str]]) -> None:
    said = ask(f"--list {arguments}")
    assert (said.status, said.err) == (0, "")
    assert sorted(cells(said)) == sorted(listed)


def test_offsets_are_shown_with_lags_and_the_members_that_own_the_partitions() -> None:
    said = ask("--describe --group old --verbose")
    assert (said.status, said.err) == (0, "")
    head, *rows = cells(said)
    assert head[3:7] == ["LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    assert rows == [
        ["old", "t", "0", "3", "4", "10", "6", "old-id", "/127.0.0.1", "old-client"],
        ["old", "t", "1", "-", "-", "10", "-", "old-id", "/127.0.0.1", "old-client"],
        ["old", "t", "2", "3", "9", "10", "1", "-", "-", "-"],
    ]


def test_the_member_with_most_partitions_is_shown_first() -> None:
    rows = cells(ask("--describe --group young"))[1:]
    assert [(row[2], row[-1]) for row in rows] == [("0", "second"), ("2", "second"), ("1", "first")]


def test_members_are_shown_with_epochs_and_whether_they_are_upgraded() -> None:
    said = ask("--describe --group young --members --verbose")
    assert said.err == "\nWarning: Consumer group 'young' is rebalancing.\n"
    assert cells(said) == [
        [
            *("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "CURRENT-EPOCH", "CURRENT-ASSIGNMENT"),
            *("TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"),
        ],
        ["young", "first-id", "/127.0.0.1", "first", "1", "6", "t:1", "6", "t:0,1", "false"],
        ["young", "second-id", "/127.0.0.1", "second", "2", "6", "t:0,2", "6", "t:0,2", "true"],
    ]


def test_static_members_are_shown_with_their_instances() -> None:
    assert cells(ask("--describe --group old --members")) == [
        ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"],
        ["old", "old-id", "instance", "/127.0.0.1", "old-client", "2"],
    ]


def test_states_are_shown_with_the_coordinator() -> None:
    node = GroupNode()
    said = ask("--describe --group idle --group young --state --verbose", node)
    assert "\nConsumer group 'idle' has no active members.\n" in said.err
    _, idle, _, young = cells(said)
    assert idle == ["idle", str(node.address), "(1)", "-", "Empty", "-", "-", "0"]
    assert young == ["young", str(node.address), "(1)", "uniform", "Reconciling", "7", "6", "2"]


@pytest.mark.parametrize(
    ("group", "why"),
    [
        ("gone", "org.apache.kafka.common.errors.GroupIdNotFoundException: Group gone not found."),
        ("connectors", "java.lang.IllegalArgumentException: GroupId connectors is not a consumer group (connect)."),
    ],
)
def test_a_group_that_cannot_be_described_is_told_on_the_output_and_the_tool_ends_well(group: str, why: str) -> None:
    said = ask(f"--describe --group {group}")
    assert said == (0, f"\nError: Executing consumer group command failed due to {why}\n", "")


@pytest.mark.parametrize(
    ("arguments", "offsets"),
    [
        ("--topic t --to-earliest", {0: 2, 1: 2, 2: 2}),
        ("--topic t:1 --to-latest", {1: 10}),
        ("--topic t:1,2 --to-offset 5", {1: 5, 2: 5}),
        ("--topic t:1 --to-offset 1", {1: 2}),
        ("--topic t:1 --to-offset 11", {1: 10}),
        ("--all-topics --shift-by -1", {0: 3, 2: 8}),
        ("--topic t --to-current", {0: 4, 1: 10, 2: 9}),
        ("--topic t:0 --to-datetime 1970-01-01T00:00:00.007", {0: 7}),
        ("--topic t:0 --to-datetime 1970-01-01T00:00:00.010", {0: 10}),
        ("--topic t:0 --by-duration PT1S", {0: 10}),
    ],
)
def test_offsets_are_reset(arguments: str, offsets: dict[int, int]) -> None:
    node = GroupNode()
    said = ask(f"--reset-offsets --group idle {arguments} --execute", node)
    head, *rows = cells(said)[-len(offsets) - 1 :]
    assert head == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
    assert sorted(rows) == [["idle", "t", str(index), str(offset)] for index, offset in offsets.items()]
    assert {index: node.committed[TopicPartition("t", index)] for index in offsets} == offsets


def test_commits_name_their_topics_as_the_newest_version_could_not() -> None:
    node = GroupNode()
    ask("--reset-offsets --group idle --topic t:1 --to-latest --execute", node)
    assert [
        header.request_api_version for header, _ in node.requests if header.request_api_key == ApiKey.OFFSET_COMMIT
    ] == [9]


def test_a_dry_run_commits_nothing_and_is_the_default_with_a_warning() -> None:
    node = GroupNode()
    said = ask("--reset-offsets --group idle --topic t --to-latest", node)
    assert said.complaint.startswith("WARN: No action will be performed as the --execute option is missing.")
    assert not node.asked(OffsetCommitRequest)


def test_what_is_exported_can_be_read_again(tmp_path: Path) -> None:
    exported = ask("--reset-offsets --dry-run --group idle --all-topics --to-current --export")
    assert sorted(exported.out.split()) == ["t,0,4", "t,2,9"]
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.out)
    node = GroupNode()
    node.committed.clear()
    assert ask(f"--reset-offsets --execute --group idle --from-file {plan}", node).status == 0
    assert node.committed == {TopicPartition("t", 0): 4, TopicPartition("t", 2): 9}


def test_a_plan_of_several_groups_names_them(tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text('idle,t,0,5\n"other, quoted",t,0,6\n')
    said = ask(f"--reset-offsets --dry-run --group idle --group other,~quoted --group none --from-file {plan}")
    assert "\nError: No reset plan for group none found\n" in said.out
    assert [row[-3:] for row in cells(said)[-2:]] in (
        [["t", "0", "5"], ["t", "0", "6"]],
        [["t", "0", "6"], ["t", "0", "5"]],
    )


def test_a_plan_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text("t,0,5\nt,zero,6\n")
    said = ask(f"--reset-offsets --execute --group idle --from-file {plan}")
    assert f"line 2 of {plan} is not topic,partition,offset: t,zero,6" in said.out


def test_a_group_with_members_is_not_reset() -> None:
    node = GroupNode()
    said = ask("--reset-offsets --group old --topic t --to-latest --execute", node)
    assert said.out.startswith(
        "\nError: Assignments can only be reset if the group 'old' is inactive, but the current state is Stable.\n"
    )
    assert not node.asked(OffsetCommitRequest)


def test_partitions_that_are_not_there_are_not_reset() -> None:
    said = ask("--reset-offsets --dry-run --group idle --topic t:0,7,9 --to-latest")
    assert said.out.endswith('failed due to The partitions "t-7,t-9" do not exist\n')


def test_groups_are_deleted_and_those_that_could_not_be_are_told() -> None:
    assert ask("--delete --group idle").out == "Deletion of requested consumer groups ('idle') was successful.\n"
    said = ask("--delete --group idle --group old")
    assert said.status == 0
    assert said.out.startswith(
        "\nError: Deletion of some consumer groups failed:\n"
        "* Group 'old' could not be deleted due to: org.apache.kafka.common.errors.GroupNotEmptyException: "
    )
    assert said.out.endswith("\nThese consumer groups were deleted successfully: 'idle'\n")


def test_offsets_are_deleted_partition_by_partition() -> None:
    said = ask("--delete-offsets --group idle --topic t:0,2")
    assert said.out.startswith("Request succeeded for deleting offsets from group idle.\n")
    said = ask("--delete-offsets --group idle --topic t --topic gone")
    assert said.out.startswith("\nError: Encountered some partition-level error, see the follow-up details.\n")
    rows = {(row[0], row[1]): row[2] for row in cells(said)[2:]}
    assert rows == {("gone", "-"): "Error:", ("t", "0"): "Successful", ("t", "1"): "Error:", ("t", "2"): "Successful"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--list --members", "Option(s) [members] are unavailable given other options on the command line"),
        ("--list --state rotten", "Invalid state list 'rotten'. Valid states are: PreparingRebalance, "),
        ("--list --group x", 'Option "[group]" can\'t be used with option "[list]"'),
        ("--describe", "Option [describe] takes one of these options: [group], [all-groups]"),
        ("--describe --group x --state Stable", "Option [describe] does not take a value for [state]"),
        ("--describe --group x --state --members", "Option [describe] takes at most one of these options: "),
        ("--delete --all-groups --topic t", "The consumer does not support topic-specific offset deletion from"),
        ("--delete-offsets --group x", "Option [delete-offsets] takes the following options: [group], [topic]"),
        ("--delete-offsets --group x --topic t:x", "Invalid partition 'x' specified in topic arg 't:x''"),
        ("--delete-offsets --group x --topic t:1:2", "Invalid topic arg 't:1:2', expected topic name and partitions"),
        ("--reset-offsets --group x --dry-run --execute", "Option [reset-offsets] only accepts one of [execute] and"),
        ("--reset-offsets --dry-run --group x --to-latest", "One of the reset scopes should be defined: --all-topics"),
        ("--reset-offsets --dry-run --group x --topic t", "Option '[reset-offsets]' requires one of the following"),
        ("--reset-offsets --dry-run --group x --topic t --shift-by 1", "Cannot shift offset for partition t-1 since"),
        ("--list --delete --all-groups", "Command must include exactly one action: --list, --describe, --delete, "),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments: str, complaint: str) -> None:
    said = ask(arguments)
    assert (said.status, said.out) == (1, "")
    assert said.complaint.startswith(complaint)


def test_patterns_are_checked_without_a_cluster() -> None:
    assert call(run, "--validate-regex a.*").out == "The regular expression `a.*` is valid.\n"
    assert call(run, "--validate-regex a(").out == "The regular expression `a(` is invalid: missing closing ).\n"


def test_the_timeout_bounds_what_the_file_of_settings_says(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("request.timeout.ms=90000\n")
    assert sorted(ask(f"--list --timeout 20000 --command-config {file}").out.split()) == ["idle", "old", "young"]
    file.write_text("request.timeout.ms=soon\n")
    said = ask(f"--list --command-config {file}")
    assert said.out.startswith("\nError: Executing consumer group command failed due to ")
    assert "request.timeout.ms" in said.out

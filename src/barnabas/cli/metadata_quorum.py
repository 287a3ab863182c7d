"""`kafka-metadata-quorum`: shows the metadata quorum and its replicas, and adds and removes controllers."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from barnabas.cli.added_controller import read_controller
from barnabas.cli.cluster_access import (
    LEADING_OPTIONS,
    ToolError,
    add_bootstrap_options,
    open_cluster,
    read_properties,
    report_errors,
)
from barnabas.cli.commands import CommandParser, integer
from barnabas.cli.table import print_table
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.quorum import QuorumInfo, add_raft_voter, describe_quorum, remove_raft_voter
from barnabas.client.cluster import Cluster
from barnabas.protocol.messages.describe_quorum import ReplicaState
from barnabas.protocol.uuid import ZERO_UUID, Uuid
from barnabas.runtime.clock import SystemClock

TOOL = "kafka-metadata-quorum"
PURPOSE = "Shows and changes the quorum of controllers that keeps a cluster's metadata."
COMMANDS = {
    "describe": "Show the quorum, or how far its replicas have read.",
    "add-controller": "Let a controller vote.",
    "remove-controller": "Take a controller's vote away.",
}
COLUMNS = ("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status")
_NEVER = -1


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work() -> int:
        options = _parser().read(arguments, out)
        if options is not None:
            _run_command(options, out)
        return 0

    return report_errors(work, out, err)


def _parser() -> CommandParser:
    parser = CommandParser(TOOL, description=PURPOSE)
    add_bootstrap_options(parser, is_required=True)
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="A file of settings for the client; for add-controller, the server.properties of the new controller.",
    )
    commands = parser.add_commands(COMMANDS, LEADING_OPTIONS)
    describe = commands["describe"]
    describe.add_argument("--status", action="store_true", help="Show leader, epoch, high watermark and members.")
    describe.add_argument("--replication", action="store_true", help="Show how far each replica has read.")
    describe.add_argument("--human-readable", action="store_true", help="Show for how long, not since when.")
    remove = commands["remove-controller"]
    remove.add_argument("--controller-id", "-i", type=integer, required=True, metavar="ID", help="Its node id.")
    remove.add_argument(
        "--controller-directory-id", "-d", required=True, metavar="ID", help="The id of its metadata directory."
    )
    for name in ("add-controller", "remove-controller"):
        commands[name].add_argument("--dry-run", action="store_true", help="Only say what would be done.")
    return parser


def _run_command(options: argparse.Namespace, out: TextIO) -> None:
    path = options.command_config
    if path is not None and not os.path.exists(path):
        raise ToolError(f"Properties file {path} does not exists!")
    properties = read_properties(path) if path is not None else {}
    with open_cluster(options, properties) as cluster:
        if options.command == "describe":
            _describe(options, cluster, out)
        elif options.command == "remove-controller":
            _remove_controller(options, cluster, out)
        elif path is None:
            raise ToolError(
                "You must supply the configuration file of the controller you are adding when using add-controller."
            )
        else:
            _add_controller(properties, options.dry_run, cluster, out)


def _describe(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    if options.status and options.replication:
        raise ToolError("Only one of --status or --replication should be specified with describe sub-command")
    if not (options.status or options.replication):
        raise ToolError("One of --status or --replication must be specified with describe sub-command")
    if options.replication:
        _print_replication(describe_quorum(cluster), options.human_readable, out)
    elif options.human_readable:
        raise ToolError("The option --human-readable is only supported along with --replication")
    else:
        cluster_id = describe_cluster(cluster).cluster_id
        _print_status(cluster_id, describe_quorum(cluster), out)


def _print_status(cluster_id: str, quorum: QuorumInfo, out: TextIO) -> None:
    leader = _find_leader(quorum)
    slowest = min(quorum.voters, key=lambda voter: voter.log_end_offset)
    if slowest is leader:
        lag_ms = 0
    elif _NEVER in (leader.last_caught_up_timestamp, slowest.last_caught_up_timestamp):
        lag_ms = -1
    else:
        lag_ms = leader.last_caught_up_timestamp - slowest.last_caught_up_timestamp
    facts = {
        "ClusterId": cluster_id,
        "LeaderId": quorum.leader_id,
        "LeaderEpoch": quorum.leader_epoch,
        "HighWatermark": quorum.high_watermark,
        "MaxFollowerLag": leader.log_end_offset - slowest.log_end_offset,
        "MaxFollowerLagTimeMs": lag_ms,
        "CurrentVoters": _show_replicas(quorum.voters, quorum),
        "CurrentObservers": _show_replicas(quorum.observers, quorum),
    }
    for name, value in facts.items():
        print(f"{name + ':':24}{value}", file=out)


def _show_replicas(replicas: Iterable[ReplicaState], quorum: QuorumInfo) -> str:
    shown = []
    for replica in replicas:
        fields: dict[str, object] = {"id": replica.replica_id}
        if replica.replica_directory_id != ZERO_UUID:
            fields["directoryId"] = str(replica.replica_directory_id)
        endpoints = quorum.endpoints.get(replica.replica_id)
        if endpoints:
            fields["endpoints"] = [str(endpoint) for endpoint in endpoints]
        shown.append(fields)
    return json.dumps(shown)


def _print_replication(quorum: QuorumInfo, is_human_readable: bool, out: TextIO) -> None:
    leader = _find_leader(quorum)
    now_ms = SystemClock().now_ms()

    def show_time(timestamp_ms: int, what: str) -> str:
        if timestamp_ms == _NEVER or not is_human_readable:
            return str(timestamp_ms)
        if not 0 < timestamp_ms <= now_ms:
            raise ToolError(
                "Error while computing relative time, possible drift in system clock.\n"
                f"Current timestamp is {now_ms}, {what} timestamp is {timestamp_ms}"
            )
        return f"{now_ms - timestamp_ms} ms ago"

    followers = [voter for voter in quorum.voters if voter is not leader]
    members = [("Leader", [leader]), ("Follower", followers), ("Observer", quorum.observers)]
    rows = [
        (
            str(replica.replica_id),
            str(replica.replica_directory_id),
            str(replica.log_end_offset),
            str(leader.log_end_offset - replica.log_end_offset),
            show_time(replica.last_fetch_timestamp, "last fetch"),
            show_time(replica.last_caught_up_timestamp, "last caught up"),
            role,
        )
        for role, replicas in members
        for replica in replicas
    ]
    print_table(COLUMNS, rows, out)


def _find_leader(quorum: QuorumInfo) -> ReplicaState:
    for voter in quorum.voters:
        if voter.replica_id == quorum.leader_id:
            return voter
    raise ToolError(f"The quorum's leader {quorum.leader_id} is not among its voters; ask again when they have settled")


def _add_controller(properties: dict[str, str], is_dry_run: bool, cluster: Cluster, out: TextIO) -> None:
    controller = read_controller(properties)
    if not is_dry_run:
        add_raft_voter(cluster, controller.node_id, controller.directory_id, controller.endpoints)
    print(
        f"{'DRY RUN of adding' if is_dry_run else 'Added'} controller {controller.node_id} with directory id "
        f"{controller.directory_id} and endpoints: {', '.join(map(str, controller.endpoints))}",
        file=out,
    )


def _remove_controller(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    node_id: int = options.controller_id
    if node_id < 0:
        raise ToolError(f"Invalid negative --controller-id: {node_id}")
    try:
        directory_id = Uuid.parse(options.controller_directory_id)
    except ValueError as error:
        raise ToolError(f"Failed to parse --controller-directory-id: {error}") from None
    if not options.dry_run:
        remove_raft_voter(cluster, node_id, directory_id)
    # The two blanks are Kafka's.
    done = "DRY RUN of removing " if options.dry_run else "Removed "
    print(f"{done} KRaft controller {node_id} with directory id {directory_id}", file=out)

"""`kafka-cluster`: the id of a cluster, where its nodes listen, and the unregistration of a broker."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from barnabas.cli.cluster_access import ToolError, add_bootstrap_options, open_cluster, read_properties, report_errors
from barnabas.cli.commands import CommandParser, integer
from barnabas.client.admin.cluster import describe_cluster, unregister_broker
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.protocol.errors import ErrorCode

TOOL = "kafka-cluster"
PURPOSE = "Asks a cluster for its id and its nodes, and lets it forget a broker."
COMMANDS = {
    "cluster-id": "Print the id of the cluster.",
    "unregister": "Let the cluster forget a broker that is gone for good.",
    "list-endpoints": "List the nodes and where they can be reached.",
}
DEPRECATION = (
    "Option --config has been deprecated and will be removed in a future version. Use --command-config instead."
)


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status, which for a help page is 1, as it is Kafka's."""

    def work() -> int:
        options = _parser().read(arguments, out)
        if options is None:
            return 1
        _run_command(options, out)
        return 0

    return report_errors(work, out, err)


def _parser() -> CommandParser:
    parser = CommandParser(TOOL, description=PURPOSE)
    commands = parser.add_commands(COMMANDS)
    for command in commands.values():
        add_bootstrap_options(command, is_required=True, has_letters=True)
        command.add_argument("--config", metavar="FILE", help="The old name of --command-config.")
        command.add_argument("--command-config", "-c", metavar="FILE", help="A file of settings for the client.")
    commands["unregister"].add_argument("--id", "-i", type=integer, required=True, help="The id of the broker.")
    commands["list-endpoints"].add_argument(
        "--include-fenced-brokers", action="store_true", help="List brokers that are fenced, too."
    )
    return parser


def _run_command(options: argparse.Namespace, out: TextIO) -> None:
    path = options.command_config
    if options.config is not None:
        if path is not None:
            raise ToolError("--config and --command-config cannot be specified together.")
        print(DEPRECATION, file=out)
        path = options.config
    properties = read_properties(path) if path is not None else {}
    with open_cluster(options, properties) as cluster:
        if options.command == "cluster-id":
            print(f"Cluster ID: {describe_cluster(cluster).cluster_id}", file=out)
        elif options.command == "unregister":
            _unregister(cluster, options.id, out)
        else:
            _list_endpoints(cluster, options.include_fenced_brokers, out)


def _unregister(cluster: Cluster, broker_id: int, out: TextIO) -> None:
    try:
        unregister_broker(cluster, broker_id)
    except ClientError as error:
        if error.code != ErrorCode.UNSUPPORTED_VERSION:
            raise
        print("The target cluster does not support the broker unregistration API.", file=out)
    else:
        print(f"Broker {broker_id} is no longer registered.", file=out)


def _list_endpoints(cluster: Cluster, includes_fenced: bool, out: TextIO) -> None:
    if includes_fenced and cluster.asks_controllers:
        raise ToolError("The option --include-fenced-brokers is only supported with --bootstrap-server option")
    try:
        nodes = sorted(
            describe_cluster(cluster, includes_fenced=includes_fenced).brokers, key=lambda node: node.broker_id
        )
    except ClientError as error:
        if error.code != ErrorCode.UNSUPPORTED_VERSION:
            raise
        print(error, file=out)
        return
    states = not cluster.asks_controllers
    widths = (
        10,
        max((len(node.host) for node in nodes), default=100),
        10,
        max((len(node.rack) for node in nodes if node.rack is not None), default=10),
        *([10] if states else []),
        15,
    )
    rows = [("ID", "HOST", "PORT", "RACK", *(["STATE"] if states else []), "ENDPOINT_TYPE")]
    for node in nodes:
        # A node without a rack shows what Java makes of nothing.
        place = (str(node.broker_id), node.host, str(node.port), "null" if node.rack is None else node.rack)
        rows.append(
            (*place, "fenced" if node.is_fenced else "unfenced", "broker") if states else (*place, "controller")
        )
    for row in rows:
        print(*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), file=out)

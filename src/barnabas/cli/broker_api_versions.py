"""`kafka-broker-api-versions`: shows which APIs each broker serves, in which versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, connect_as_told, report_errors
from barnabas.cli.entry import start
from barnabas.cli.options import ParsedOptions, Tool
from barnabas.client.admin.cluster import describe_api_versions, describe_cluster
from barnabas.client.errors import ClientError
from barnabas.protocol.api import APIS, Api, ApiKey, Listener

TOOL = Tool(
    "kafka-broker-api-versions",
    "Shows which APIs each broker serves, in which versions.",
    (COMMAND_CONFIG, BOOTSTRAP_SERVER),
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        options.require(BOOTSTRAP_SERVER)
        return report_errors(lambda: _show(options, out), out, err)

    return TOOL.run(arguments, work, out=out, err=err)


def _show(options: ParsedOptions, out: TextIO) -> int:
    with connect_as_told(options) as cluster:
        for broker in sorted(describe_cluster(cluster).brokers, key=lambda broker: broker.broker_id):
            rack = "null" if broker.rack is None else broker.rack
            print(
                f"{broker.host}:{broker.port} (id: {broker.broker_id} rack: {rack} isFenced: false)", end="", file=out
            )
            try:
                versions = describe_api_versions(cluster, broker.broker_id)
            except ClientError as error:
                print(f" -> ERROR: {error}", file=out)
                continue
            print(" -> (\n\t" + ",\n\t".join(_api_lines(versions)) + "\n)", file=out)
    return 0


def _api_lines(served: Mapping[int, range]) -> list[str]:
    """A line for each API that the broker serves or that this client knows brokers to serve."""
    known = {int(key): api for key, api in APIS.items()}
    missing = {key for key, api in known.items() if Listener.BROKER in api.listeners} - set(served)
    lines = {key: _served_line(key, versions, known.get(key)) for key, versions in served.items()}
    lines |= {key: f"{known[key].name}({key}): UNSUPPORTED" for key in missing}
    return [lines[key] for key in sorted(lines)]


def _served_line(key: int, versions: range, api: Api | None) -> str:
    oldest, newest = versions[0], versions[-1]
    shown = str(oldest) if oldest == newest else f"{oldest} to {newest}"
    if api is None:
        return f"UNKNOWN({key}): {shown}"
    if api.versions[-1] < oldest:
        use = "unusable: node too new"
    elif newest < api.versions[0]:
        use = "unusable: node too old"
    else:
        use = f"usable: {min(newest, api.versions[-1])}"
    return f"{api.name}({ApiKey(key).value}): {shown} [{use}]"

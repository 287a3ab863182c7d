"""`kafka-groups`: lists the groups of all types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, connect_as_told, report_errors
from barnabas.cli.entry import start
from barnabas.cli.java_order import in_hash_order, string_hash
from barnabas.cli.options import ParsedOptions, Tool, UsageError, flag, text
from barnabas.client.admin.groups import list_groups
from barnabas.client.errors import ClientError
from barnabas.protocol.messages.list_groups import ListedGroup

LIST = flag("list", "List the groups.")
GROUP_TYPE = text("group-type", "Only groups of this type: classic, consumer, share or streams.", argument="type")
PROTOCOL = text("protocol", "Only groups of this protocol.", argument="protocol")
CONSUMER = flag("consumer", "Only groups of consumers: of type consumer, or classic ones of consumers or nobody.")
SHARE = flag("share", "Only share groups.")
STREAMS = flag("streams", "Only groups of streams.")
TOOL = Tool(
    "kafka-groups",
    "Lists the groups of all types.",
    (BOOTSTRAP_SERVER, COMMAND_CONFIG, LIST, GROUP_TYPE, PROTOCOL, CONSUMER, SHARE, STREAMS),
)
_TYPES: Final = ("consumer", "classic", "share", "streams")
_WIDTH_MIN: Final = 20


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        _check(options)
        return report_errors(lambda: _list(options, out), out, err)

    return TOOL.run(arguments, work, out=out, err=err)


def _check(options: ParsedOptions) -> None:
    if not options.has(BOOTSTRAP_SERVER):
        raise UsageError("Missing required option(s) [bootstrap-server]", shows_help=True)
    if not options.has(LIST):
        raise UsageError("Command must include exactly one action: --list.", shows_help=True)
    if options.has(GROUP_TYPE) and options.value(GROUP_TYPE).lower() not in _TYPES:
        raise UsageError("--group-type must be a valid group type.")
    options.forbid(CONSUMER, GROUP_TYPE, PROTOCOL, SHARE, STREAMS)
    options.forbid(SHARE, CONSUMER, GROUP_TYPE, PROTOCOL, STREAMS)
    options.forbid(STREAMS, CONSUMER, GROUP_TYPE, PROTOCOL, SHARE)


def _list(options: ParsedOptions, out: TextIO) -> int:
    with connect_as_told(options) as cluster:
        try:
            groups = {group.group_id: group for group in list_groups(cluster)}
        except ClientError as error:
            print(f"Error while executing groups command : {error}", file=out)
            return 1
    rows = [
        (group_id, groups[group_id].group_type.capitalize(), groups[group_id].protocol_type)
        for group_id in in_hash_order(groups, string_hash)
        if _is_wanted(options, groups[group_id])
    ]
    width = max([_WIDTH_MIN, *(len(cell) for row in rows for cell in row)])
    print(" ".join(f"{title:{width}}" for title in ("GROUP", "TYPE", "PROTOCOL")), file=out)
    for row in rows:
        print("".join(f"{cell:{width}} " for cell in row), file=out)
    return 0


def _is_wanted(options: ParsedOptions, group: ListedGroup) -> bool:
    group_type, protocol = group.group_type.lower(), group.protocol_type
    if options.has(CONSUMER):
        return protocol in ("consumer", "") or group_type == "consumer"
    if options.has(SHARE):
        return group_type == "share"
    if options.has(STREAMS):
        return group_type == "streams"
    has_type = not options.has(GROUP_TYPE) or group_type == options.value(GROUP_TYPE).lower()
    return has_type and (not options.has(PROTOCOL) or protocol == options.value(PROTOCOL))

"""`kafka-consumer-groups`: lists, describes and deletes groups of consumers, and resets or deletes their offsets.

What a cluster refuses is told on the output, and the tool still ends well, as Kafka's does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TextIO

from barnabas.cli.cluster_access import BOOTSTRAP_SERVER, COMMAND_CONFIG, connect, read_properties
from barnabas.cli.entry import start
from barnabas.cli.grouping.deletion import delete_and_tell, delete_offsets_and_tell
from barnabas.cli.grouping.description import Streams, describe_groups, print_members, print_offsets, print_states
from barnabas.cli.grouping.failures import GroupCommandError, told_by_name
from barnabas.cli.grouping.reset_plan import plan_lines, read_plan
from barnabas.cli.grouping.resetting import Scope, print_plan, reset_groups
from barnabas.cli.grouping.selection import find_consumer_group_ids, find_consumer_groups, parse_states, parse_types
from barnabas.cli.grouping.target_offsets import TargetOffsets, Way
from barnabas.cli.options import Option, ParsedOptions, Tool, UsageError, flag, long_integer, text
from barnabas.client.admin.offsets import OffsetTime
from barnabas.client.cluster import Cluster
from barnabas.client.settings import DEFAULT_API_TIMEOUT_MS, REQUEST_TIMEOUT_MS
from barnabas.config.setting import ConfigError

LIST = flag("list", "List the groups of consumers.")
DESCRIBE = flag("describe", "Show how far groups have read and how far they lag, or their members or states.")
DELETE = flag("delete", "Delete groups that have no members.")
RESET_OFFSETS = flag(
    "reset-offsets",
    "Give groups without members new offsets, for --topic or --all-topics; --execute does it, --dry-run only shows "
    "what would be done, and --export shows it in the form that --from-file takes.",
)
DELETE_OFFSETS = flag("delete-offsets", "Forget the offsets of a group in topics that it is not subscribed to.")
VALIDATE_REGEX = text("validate-regex", "Say whether a regular expression is one of RE2's.", argument="regex")
GROUP = text("group", "A group; can be repeated to describe, delete or reset several.", argument="group")
ALL_GROUPS = flag("all-groups", "All groups of consumers.")
TOPIC = text(
    "topic", "A topic whose offsets are reset or deleted, or some of its partitions; can be repeated.", argument="t:0,1"
)
ALL_TOPICS = flag("all-topics", "Reset the offsets of all partitions that have one.")
TIMEOUT = long_integer("timeout", "How long one step may take, in ms.", argument="ms", default=30_000)
DRY_RUN = flag("dry-run", "Only show the new offsets.")
EXECUTE = flag("execute", "Commit the new offsets.")
EXPORT = flag("export", "Show the new offsets as comma-separated values.")
TO_OFFSET = long_integer("to-offset", "Reset to this offset.", argument="offset")
FROM_FILE = text("from-file", "Reset to the offsets in a file of comma-separated values.", argument="file")
TO_DATETIME = text("to-datetime", "Reset to the first offset from a time on.", argument="YYYY-MM-DDThh:mm:ss.sss")
BY_DURATION = text("by-duration", "Reset to the first offset since so long ago.", argument="PnDTnHnMnS")
TO_EARLIEST = flag("to-earliest", "Reset to the first offset.")
TO_LATEST = flag("to-latest", "Reset to the end.")
TO_CURRENT = flag("to-current", "Reset to the committed offset.")
SHIFT_BY = long_integer("shift-by", "Reset by so many from the committed offset, forward or back.", argument="number")
MEMBERS = flag("members", "Describe the members of groups.")
VERBOSE = flag("verbose", "Describe with epochs and assignments.")
OFFSETS = flag("offsets", "Describe the offsets of groups; this is the default.")
STATE = Option(
    "state", "Describe the states of groups, or list groups with their states.", "states", str, has_optional_value=True
)
TYPE = Option("type", "List groups with their types.", "types", str, has_optional_value=True)
ACTIONS = (LIST, DESCRIBE, DELETE, RESET_OFFSETS, DELETE_OFFSETS, VALIDATE_REGEX)
WAYS: Final[tuple[Option[Any], ...]] = (
    *(TO_OFFSET, TO_DATETIME, BY_DURATION, TO_EARLIEST, TO_LATEST, TO_CURRENT, SHIFT_BY, FROM_FILE),
)
TOOL = Tool(
    "kafka-consumer-groups",
    "Lists, describes and deletes groups of consumers, and resets or deletes their offsets.",
    (
        *(BOOTSTRAP_SERVER, COMMAND_CONFIG, *ACTIONS, GROUP, ALL_GROUPS, TOPIC, ALL_TOPICS, TIMEOUT),
        *(DRY_RUN, EXECUTE, EXPORT, *WAYS, MEMBERS, VERBOSE, OFFSETS, STATE, TYPE),
    ),
)
_ONLY_WITH: Final[dict[Option[Any], tuple[Option[Any], ...]]] = {
    MEMBERS: (DESCRIBE,),
    VERBOSE: (DESCRIBE,),
    OFFSETS: (DESCRIBE,),
    STATE: (DESCRIBE, LIST),
    TYPE: (LIST,),
}
_NO_ACTION_WARNING: Final = (
    "WARN: No action will be performed as the --execute option is missing. Say --dry-run where that is meant: "
    "Kafka 5.0 will want one of the two."
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work(options: ParsedOptions) -> int:
        _check(options, err)
        if options.has(VALIDATE_REGEX):
            from barnabas.cli.grouping.patterns import tell_whether_valid

            tell_whether_valid(options.value(VALIDATE_REGEX), out)
            return 0
        try:
            _run_action(options, Streams(out, err))
        except UsageError as error:
            if error.shows_help:
                raise
            _tell_failure(error, out)
        except (GroupCommandError, ConfigError, OSError) as error:
            _tell_failure(error, out)
        return 0

    return TOOL.run(arguments, work, out=out, err=err)


def _tell_failure(error: Exception, out: TextIO) -> None:
    print(f"\nError: Executing consumer group command failed due to {error}", file=out)


def _check(options: ParsedOptions, err: TextIO) -> None:
    unavailable = [each.name for each, actions in _ONLY_WITH.items() if options.has(each) and not options.has(*actions)]
    if unavailable:
        names = ", ".join(unavailable)
        raise UsageError(f"Option(s) [{names}] are unavailable given other options on the command line")
    if not options.has(VALIDATE_REGEX):
        options.require(BOOTSTRAP_SERVER)
    if options.has(DESCRIBE):
        _check_description(options)
    if options.has(DELETE):
        _require_groups(options, DELETE)
        if options.has(TOPIC):
            raise UsageError(
                "The consumer does not support topic-specific offset deletion from a consumer group.", shows_help=True
            )
    if options.has(DELETE_OFFSETS) and not (options.has(GROUP) and options.has(TOPIC)):
        raise UsageError("Option [delete-offsets] takes the following options: [group], [topic]", shows_help=True)
    if options.has(RESET_OFFSETS):
        _check_reset(options, err)
    options.forbid(GROUP, ALL_GROUPS, LIST)
    options.forbid(TOPIC, LIST, DESCRIBE)
    if sum(options.has(action) for action in ACTIONS) != 1:
        names = ", ".join(f"--{action.name}" for action in ACTIONS)
        raise UsageError(f"Command must include exactly one action: {names}", shows_help=True)


def _require_groups(options: ParsedOptions, action: Option[Any]) -> None:
    if not options.has(GROUP, ALL_GROUPS):
        raise UsageError(f"Option [{action.name}] takes one of these options: [group], [all-groups]", shows_help=True)


def _check_description(options: ParsedOptions) -> None:
    _require_groups(options, DESCRIBE)
    if sum(options.has(view) for view in (MEMBERS, OFFSETS, STATE)) > 1:
        raise UsageError(
            "Option [describe] takes at most one of these options: [members], [offsets], [state]", shows_help=True
        )
    if options.values(STATE):
        raise UsageError("Option [describe] does not take a value for [state]", shows_help=True)


def _check_reset(options: ParsedOptions, err: TextIO) -> None:
    if options.has(DRY_RUN) and options.has(EXECUTE):
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]", shows_help=True)
    if not options.has(DRY_RUN, EXECUTE):
        print(_NO_ACTION_WARNING, file=err)
    _require_groups(options, RESET_OFFSETS)
    for way in WAYS:
        options.forbid(way, *(other for other in WAYS if other is not way))


def _run_action(options: ParsedOptions, streams: Streams) -> None:
    with _connect(options) as cluster:
        if options.has(LIST):
            _list(options, cluster, streams.out)
        elif options.has(DESCRIBE):
            _describe(options, cluster, streams)
        elif options.has(DELETE):
            delete_and_tell(cluster, _group_ids(options, cluster), streams.out)
        elif options.has(RESET_OFFSETS):
            _reset(options, cluster, streams)
        else:
            delete_offsets_and_tell(cluster, options.value(GROUP), options.values(TOPIC), streams.out)


def _connect(options: ParsedOptions) -> Cluster:
    path = options.find(COMMAND_CONFIG)
    properties = read_properties(path) if path is not None else {}
    timeout_ms = options.value(TIMEOUT)
    limits = {DEFAULT_API_TIMEOUT_MS: str(timeout_ms)}
    request_timeout = properties.get(REQUEST_TIMEOUT_MS)
    # One request cannot take longer than a whole step; what is no number is refused with the other settings.
    if request_timeout is None or (request_timeout.isdecimal() and int(request_timeout) > timeout_ms):
        limits[REQUEST_TIMEOUT_MS] = str(timeout_ms)
    return connect({**properties, **limits}, servers=options.value(BOOTSTRAP_SERVER))


def _group_ids(options: ParsedOptions, cluster: Cluster) -> list[str]:
    return find_consumer_group_ids(cluster) if options.has(ALL_GROUPS) else options.values(GROUP)


def _list(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:
    if not options.has(TYPE, STATE):
        for group_id in find_consumer_group_ids(cluster):
            print(group_id, file=out)
        return
    states, types = options.values(STATE), options.values(TYPE)
    with told_by_name():
        groups = find_consumer_groups(
            cluster,
            states=parse_states(states[0]) if states else (),
            types=parse_types(types[0]) if types else (),
        )
    width = max([15, *(len(group.group_id) for group in groups)]) + 10
    rows = [("GROUP", "TYPE", "STATE")]
    rows += [(group.group_id, _capitalized(group.group_type), group.group_state or "Unknown") for group in groups]
    for group_id, group_type, state in rows:
        shown = f"{group_id:{width}}"
        shown += f" {group_type:20}" if options.has(TYPE) else ""
        shown += f" {state:20}" if options.has(STATE) else ""
        print(shown, file=out)


def _capitalized(group_type: str) -> str:
    """The type of a group, of which brokers write some in small letters."""
    return group_type.capitalize() or "Unknown"


def _describe(options: ParsedOptions, cluster: Cluster, streams: Streams) -> None:
    groups = describe_groups(cluster, _group_ids(options, cluster))
    is_verbose = options.has(VERBOSE)
    if options.has(MEMBERS):
        print_members(groups, streams, is_verbose=is_verbose)
    elif options.has(STATE):
        print_states(groups, streams, is_verbose=is_verbose)
    else:
        print_offsets(cluster, groups, streams, is_verbose=is_verbose)


def _reset(options: ParsedOptions, cluster: Cluster, streams: Streams) -> None:
    scope = Scope(topics=options.values(TOPIC), has_all=options.has(ALL_TOPICS), has_plan=options.has(FROM_FILE))
    group_ids = _group_ids(options, cluster)
    way = _way(options, TargetOffsets(cluster, streams.out, streams.err))
    plan = reset_groups(cluster, group_ids, scope, way, streams.out, is_executed=options.has(EXECUTE))
    if options.has(EXPORT):
        names_groups = len(options.values(GROUP)) != 1
        print(*plan_lines(plan, names_groups=names_groups), "", sep="\n", file=streams.out)
    else:
        print_plan(plan, streams.out)


def _way(options: ParsedOptions, offsets: TargetOffsets) -> Way:
    if options.has(TO_OFFSET):
        return offsets.at_number(options.values(TO_OFFSET)[0])
    if options.has(TO_EARLIEST):
        return offsets.at(OffsetTime.EARLIEST)
    if options.has(TO_LATEST):
        return offsets.at(OffsetTime.LATEST)
    if options.has(SHIFT_BY):
        return offsets.shifted_by(options.value(SHIFT_BY))
    if options.has(TO_DATETIME):
        return offsets.at_date_time(options.values(TO_DATETIME)[0])
    if options.has(BY_DURATION):
        return offsets.before_now_by(options.value(BY_DURATION))
    if options.has(FROM_FILE):
        return offsets.planned(lambda: read_plan(options.values(FROM_FILE)[0], options.values(GROUP)))
    if options.has(TO_CURRENT):
        return offsets.at_committed()
    names = ", ".join(f"[{way.name}]" for way in WAYS)
    raise UsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]", shows_help=True)

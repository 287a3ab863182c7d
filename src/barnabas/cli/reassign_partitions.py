"""`kafka-reassign-partitions`: moves partitions to other brokers, and replicas to other directories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TextIO

from barnabas.cli.cluster_access import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ToolError,
    connect_as_told,
)
from barnabas.cli.entry import start
from barnabas.cli.error_lines import error_line
from barnabas.cli.options import Option, ParsedOptions, Tool, UsageError, flag, long_integer, text
from barnabas.cli.reassigning.actions import Throttle, cancel, execute, generate, list_reassignments, verify
from barnabas.cli.reassigning.errors import TerseError
from barnabas.cli.reassigning.plan import read_plan, read_topics
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.config.setting import ConfigError
from barnabas.runtime.clock import SystemClock

VERIFY = flag("verify", "See how far a plan is, and take the throttles away when it is done.")
GENERATE = flag("generate", "Make a plan that spreads topics over brokers, without carrying it out.")
EXECUTE = flag("execute", "Carry out a plan.")
CANCEL = flag("cancel", "End the moves of a plan.")
LIST = flag("list", "List the partitions that move.")
PLAN_FILE = text(
    "reassignment-json-file",
    'A plan: {"partitions": [{"topic": "foo", "partition": 1, "replicas": [1,2], "log_dirs": ["dir1","any"]}], '
    '"version": 1}. log_dirs may be left out.',
    argument="file",
)
TOPICS_FILE = text(
    "topics-to-move-json-file",
    'The topics to make a plan for: {"topics": [{"topic": "foo"}], "version": 1}.',
    argument="file",
)
BROKER_LIST = text("broker-list", "The brokers to spread them over, with commas between their ids.", argument="ids")
DISABLE_RACK_AWARE = flag("disable-rack-aware", "Do not mind in which racks brokers are.")
THROTTLE = long_integer(
    "throttle",
    "Bytes per second that brokers copy at most; with --additional, a new limit for what moves already.",
    argument="bytes",
    default=-1,
)
LOG_DIRS_THROTTLE = long_integer(
    "replica-alter-log-dirs-throttle",
    "Bytes per second that a broker copies at most between its own directories.",
    argument="bytes",
    default=-1,
)
TIMEOUT = long_integer(
    "timeout", "Milliseconds in which moves between directories must have begun.", argument="ms", default=10_000
)
ADDITIONAL = flag("additional", "Carry out the plan although other partitions move already.")
PRESERVE_THROTTLES = flag("preserve-throttles", "Leave the throttles as they are.")
FIXED_REPLICATION_FACTOR = flag(
    "disallow-replication-factor-change", "Refuse a plan that has more or fewer replicas of a partition than there are."
)
ACTIONS: Final = (GENERATE, EXECUTE, VERIFY, CANCEL, LIST)
# What each action needs, and what else it takes.
REQUIRED: Final[dict[Option[str], tuple[Option[Any], ...]]] = {
    VERIFY: (PLAN_FILE,),
    GENERATE: (TOPICS_FILE, BROKER_LIST),
    EXECUTE: (PLAN_FILE,),
    CANCEL: (PLAN_FILE,),
    LIST: (),
}
PERMITTED: Final[dict[Option[str], tuple[Option[Any], ...]]] = {
    VERIFY: (PRESERVE_THROTTLES,),
    GENERATE: (DISABLE_RACK_AWARE,),
    EXECUTE: (ADDITIONAL, THROTTLE, LOG_DIRS_THROTTLE, TIMEOUT, FIXED_REPLICATION_FACTOR),
    CANCEL: (BOOTSTRAP_CONTROLLER, PRESERVE_THROTTLES, TIMEOUT),
    LIST: (BOOTSTRAP_CONTROLLER,),
}
TOOL = Tool(
    "kafka-reassign-partitions",
    "Moves partitions to other brokers, and replicas to other directories.",
    (
        *ACTIONS,
        *(BOOTSTRAP_SERVER, BOOTSTRAP_CONTROLLER, COMMAND_CONFIG, PLAN_FILE, TOPICS_FILE, BROKER_LIST),
        *(DISABLE_RACK_AWARE, THROTTLE, LOG_DIRS_THROTTLE, TIMEOUT, ADDITIONAL, PRESERVE_THROTTLES),
        FIXED_REPLICATION_FACTOR,
    ),
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status; complaints go to the output, as Kafka's do."""

    def work(options: ParsedOptions) -> int:
        _check(options)
        try:
            with connect_as_told(options, {"client.id": "reassign-partitions-tool"}) as cluster:
                _act(options, cluster, out)
        except TerseError as error:
            print(error, file=out)
        except ClientError as error:
            print(f"Error: {error_line(error)}", file=out)
        except (ToolError, UsageError, ConfigError, OSError) as error:
            print(f"Error: {error}", file=out)
        else:
            return 0
        return 1

    return TOOL.run(arguments, work, out=out, err=err)


def _check(options: ParsedOptions) -> None:
    actions = [action for action in ACTIONS if options.has(action)]
    if len(actions) != 1:
        names = ", ".join(f"--{action.name}" for action in ACTIONS)
        raise UsageError(f"Command must include exactly one action: {names}", shows_help=True)
    if options.has(BOOTSTRAP_SERVER) and options.has(BOOTSTRAP_CONTROLLER):
        raise UsageError("Please don't specify both --bootstrap-server and --bootstrap-controller", shows_help=True)
    if not options.has(BOOTSTRAP_SERVER, BOOTSTRAP_CONTROLLER):
        raise UsageError("Please specify either --bootstrap-server or --bootstrap-controller", shows_help=True)
    (action,) = actions
    options.require(*REQUIRED[action])
    allowed = {action, BOOTSTRAP_SERVER, COMMAND_CONFIG, *REQUIRED[action], *PERMITTED[action]}
    allowed_names = {option.name for option in allowed}
    for name in options.names():
        if name not in allowed_names:
            raise UsageError(f'Option "[{name}]" can\'t be used with action "[{action.name}]"', shows_help=True)


def _act(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:
    clock = SystemClock()
    if options.has(LIST):
        list_reassignments(cluster, out)
    elif options.has(GENERATE):
        topics = read_topics(options.value(TOPICS_FILE))
        minds_racks = not options.has(DISABLE_RACK_AWARE)
        generate(cluster, topics, options.value(BROKER_LIST), minds_racks=minds_racks, out=out)
    elif options.has(VERIFY):
        plan = read_plan(options.value(PLAN_FILE))
        verify(cluster, plan, preserves_throttles=options.has(PRESERVE_THROTTLES), out=out)
    elif options.has(CANCEL):
        cancel(
            cluster,
            read_plan(options.value(PLAN_FILE)),
            preserves_throttles=options.has(PRESERVE_THROTTLES),
            timeout_ms=options.value(TIMEOUT),
            clock=clock,
            out=out,
        )
    else:
        execute(
            cluster,
            read_plan(options.value(PLAN_FILE)),
            Throttle(options.value(THROTTLE), options.value(LOG_DIRS_THROTTLE)),
            is_additional=options.has(ADDITIONAL),
            allows_replication_factor_change=not options.has(FIXED_REPLICATION_FACTOR),
            timeout_ms=options.value(TIMEOUT),
            clock=clock,
            out=out,
        )

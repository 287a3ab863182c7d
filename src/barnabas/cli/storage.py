"""`kafka-storage`: formats the directories of a node, says what is in them, and looks up the levels of features."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from barnabas.cli.commands import CommandLineError, CommandParser
from barnabas.cli.feature_levels import is_metadata_level, print_needs, print_release_levels
from barnabas.cli.formatting.controllers import new_id, parse_controllers, standalone
from barnabas.cli.formatting.credentials import parse_credential
from barnabas.cli.formatting.directories import StorageFormat, format_directories
from barnabas.cli.formatting.errors import FormatError
from barnabas.cli.formatting.levels import choose_levels, choose_metadata_version, parse_features, parse_level
from barnabas.cli.storage_info import print_info
from barnabas.config.java_properties import load_properties
from barnabas.config.node import NodeConfig
from barnabas.config.node_rules import parse_node
from barnabas.config.setting import ConfigError
from barnabas.metadata.bootstrap import BootstrapMetadata
from barnabas.metadata.features import FEATURES, KRAFT_VERSION, FeatureError
from barnabas.metadata.versions import (
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    OLDEST_METADATA_VERSION,
)
from barnabas.raft.voters import VoterSet
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.disk import PosixDisk

TOOL = "kafka-storage"
PURPOSE = "Prepares and inspects the directories that a node keeps its data in."
COMMANDS = {
    "info": "Say what is in the directories of a node.",
    "format": "Format the directories of a node.",
    "version-mapping": "Print the levels of all features that a release starts with.",
    "feature-dependencies": "Print what a level of a feature depends on.",
    "random-uuid": "Print a random id.",
}
VOTERS = "controller.quorum.voters"
RELEASES = f"from {OLDEST_METADATA_VERSION} on; the default is {LATEST_METADATA_VERSION}"


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    try:
        options = _parser().read(arguments, out)
        return 0 if options is None else _run_command(options, out)
    except (CommandLineError, FormatError, ConfigError, OSError) as error:
        out.flush()
        print(error, file=err)
        return 1


def _parser() -> CommandParser:
    parser = CommandParser(TOOL, description=PURPOSE)
    commands = parser.add_commands(COMMANDS)
    for name in ("info", "format"):
        commands[name].add_argument("--config", "-c", required=True, help="The server.properties file of the node.")
    _add_format_options(commands["format"])
    commands["version-mapping"].add_argument("--release-version", "-r", help=f"The release, {RELEASES}.")
    feature_help = "A feature and its level, as feature=level. Can be repeated."
    commands["feature-dependencies"].add_argument("--feature", "-f", action="append", required=True, help=feature_help)
    return parser


def _add_format_options(parser: CommandParser) -> None:
    parser.add_argument("--cluster-id", "-t", required=True, help="The id of the cluster, such as random-uuid prints.")
    parser.add_argument(
        "--add-scram",
        "-S",
        action="append",
        help="A user that exists from the start, such as SCRAM-SHA-256=[name=alice,password=secret] or "
        'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]. Can be repeated.',
    )
    parser.add_argument(
        "--ignore-formatted", "-g", action="store_true", help="Pass over directories that are formatted already."
    )
    parser.add_argument("--release-version", "-r", help=f"The release whose features the cluster has, {RELEASES}.")
    parser.add_argument(
        "--feature", "-f", action="append", help="Another level of a feature, as feature=level. Can be repeated."
    )
    quorum = parser.add_mutually_exclusive_group()
    quorum.add_argument(
        "--standalone",
        "-s",
        action="store_true",
        help=f"Make this controller the only voter. {VOTERS} must not be set.",
    )
    quorum.add_argument(
        "--no-initial-controllers",
        "-N",
        action="store_true",
        help=f"Name no voters; the node joins a quorum that exists. {VOTERS} must not be set.",
    )
    quorum.add_argument(
        "--initial-controllers",
        "-I",
        help="The voters, with commas between them, as id@hostname:port:directory, the same for all of them. "
        f"{VOTERS} must not be set.",
    )


def _run_command(options: argparse.Namespace, out: TextIO) -> int:
    command = options.command
    if command == "info":
        node = _read_node(options.config)
        return print_info(PosixDisk(), node.storage_dirs, out)
    if command == "format":
        _format(options, out)
    elif command == "version-mapping":
        release = options.release_version or str(LATEST_METADATA_VERSION)
        print_release_levels(release, choose_metadata_version(release, {}), out)
    elif command == "feature-dependencies":
        for argument in options.feature:
            _print_dependencies(argument, out)
    else:
        print(new_id(), file=out)
    return 0


def _read_node(path: str) -> NodeConfig:
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse_node(load_properties(data))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _format(options: argparse.Namespace, out: TextIO) -> None:
    node = _read_node(options.config)
    named = parse_features(options.feature or ())
    version = choose_metadata_version(options.release_version, named)
    voters = _first_voters(options, node)
    levels = choose_levels(version, named, is_dynamic=not node.voters)
    credentials = [parse_credential(argument) for argument in options.add_scram or ()]
    wanted = StorageFormat(
        cluster_id=options.cluster_id,
        node_id=node.node_id,
        directories=node.storage_dirs,
        metadata_directory=node.metadata_log_dir,
        bootstrap=BootstrapMetadata.of_features(version, levels, credentials),
        kraft_version=levels[KRAFT_VERSION],
        voters=voters,
        ignores_formatted=options.ignore_formatted,
    )
    format_directories(PosixDisk(), wanted, SystemClock().now_ms(), out)


def _first_voters(options: argparse.Namespace, node: NodeConfig) -> VoterSet | None:
    is_named = options.standalone or options.initial_controllers is not None
    if node.voters and is_named:
        raise FormatError(
            f"You cannot specify {VOTERS} and format the node with --initial-controllers or --standalone. If you want "
            f"to use dynamic quorum, please remove {VOTERS} and specify controller.quorum.bootstrap.servers instead."
        )
    if options.standalone:
        return standalone(node)
    if options.initial_controllers is not None:
        return parse_controllers(options.initial_controllers, node.controller_listener_names[0])
    if node.is_controller and not node.voters and not options.no_initial_controllers:
        raise FormatError(
            f"Because {VOTERS} is not set on this controller, you must specify one of the following: --standalone, "
            "--initial-controllers, or --no-initial-controllers."
        )
    return None


def _print_dependencies(argument: str, out: TextIO) -> None:
    name, equals, text = (part.strip() for part in argument.partition("="))
    if not equals:
        raise FormatError(
            f"Invalid feature format: {argument}. Expected format: 'feature=version' (e.g. 'group.version=1')"
        )
    level = parse_level(text)
    if level is None:
        raise FormatError(f"Invalid version format: {text} for feature {name}")
    if name == METADATA_VERSION:
        if not is_metadata_level(level):
            raise FormatError(f"Unknown {METADATA_VERSION} {level}")
        print_needs(name, level, {}, out)
        return
    if name not in FEATURES:
        raise FormatError(f"Unknown feature: {name}")
    try:
        needs = FEATURES[name].needs(level)
    except FeatureError:
        raise FormatError(f"Feature level {level} is not supported for feature {name}") from None
    print_needs(name, level, needs, out)

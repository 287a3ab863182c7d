"""`kafka-features`: shows the features of a cluster, changes their levels, and looks up what a release starts with."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from barnabas.cli.cluster_access import (
    LEADING_OPTIONS,
    ToolError,
    add_bootstrap_options,
    open_cluster,
    read_properties,
    report_errors,
)
from barnabas.cli.commands import CommandLineError, CommandParser, integer
from barnabas.cli.feature_levels import is_metadata_level, print_needs, print_release_levels, show_level
from barnabas.cli.formatting.levels import parse_level
from barnabas.client.admin.features import UpgradeType, describe_features, update_features
from barnabas.client.cluster import Cluster
from barnabas.metadata.features import FEATURES, FeatureError, default_levels
from barnabas.metadata.versions import LATEST_METADATA_VERSION, METADATA_VERSION, MetadataVersion

TOOL = "kafka-features"
PURPOSE = "Shows and changes the features of a cluster."
COMMANDS = {
    "describe": "Show the features, the levels that are supported and the one that is finalized.",
    "upgrade": "Raise the level of features.",
    "downgrade": "Lower the level of features.",
    "disable": "Lower features to level zero.",
    "version-mapping": "Print the levels of all features that a release starts with; without one, the latest.",
    "feature-dependencies": "Print what a level of a feature depends on.",
}
_REPEATED = "Can be repeated."


def main() -> None:
    sys.exit(run(sys.argv[1:], sys.stdout, sys.stderr))


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""

    def work() -> int:
        try:
            options = _parser().read(arguments, out)
            if options is not None:
                _run_command(options, out)
        except CommandLineError as error:
            raise ToolError(f"Command line error: {error.complaint}. Type --help for help.") from error
        return 0

    return report_errors(work, out, err)


def _parser() -> CommandParser:
    parser = CommandParser(TOOL, description=PURPOSE)
    add_bootstrap_options(parser, is_required=False)
    parser.add_argument("--command-config", metavar="FILE", help="A file of settings for the client.")
    commands = parser.add_commands(COMMANDS, LEADING_OPTIONS)
    commands["describe"].add_argument("--node-id", type=integer, help="The node to ask; without one, any.")
    for name in ("upgrade", "downgrade"):
        command = commands[name]
        command.add_argument("--metadata", metavar="RELEASE", help="The old way to set metadata.version, by a release.")
        command.add_argument(
            "--release-version", metavar="RELEASE", help="Set all features to the levels of a release."
        )
        command.add_argument(
            "--feature", action="append", help=f"A feature and its level, as feature=level. {_REPEATED}"
        )
    commands["disable"].add_argument("--feature", action="append", help=f"A feature. {_REPEATED}")
    for name in ("downgrade", "disable"):
        commands[name].add_argument(
            "--unsafe", action="store_true", help="Do it even if metadata may be lost for good."
        )
    for name in ("upgrade", "downgrade", "disable"):
        commands[name].add_argument("--dry-run", action="store_true", help="Only say whether it could be done.")
    commands["version-mapping"].add_argument("--release-version", metavar="RELEASE", help="The release.")
    commands["feature-dependencies"].add_argument(
        "--feature", action="append", required=True, help=f"A feature and its level, as feature=level. {_REPEATED}"
    )
    return parser


def _run_command(options: argparse.Namespace, out: TextIO) -> None:
    if options.command == "version-mapping":
        release = options.release_version or str(LATEST_METADATA_VERSION)
        print_release_levels(release, _parse_release(release), out)
    elif options.command == "feature-dependencies":
        for argument in options.feature:
            _print_dependencies(*_parse_feature(argument), out)
    else:
        properties = read_properties(options.command_config) if options.command_config is not None else {}
        if options.bootstrap_server is None and options.bootstrap_controller is None:
            raise CommandLineError("", TOOL, "You must specify either --bootstrap-controller or --bootstrap-server.")
        with open_cluster(options, properties) as cluster:
            _CLUSTER_COMMANDS[options.command](options, cluster, out)


def _parse_release(text: str) -> MetadataVersion:
    try:
        return MetadataVersion.parse(text)
    except ValueError as error:
        raise ToolError(str(error)) from None


def _parse_feature(argument: str) -> tuple[str, int]:
    """The name and the level of `feature=level`."""
    name, equals, text = (part.strip() for part in argument.partition("="))
    if not equals:
        raise ToolError(f"Can't parse feature=level string {argument}: equals sign not found.")
    level = parse_level(text)
    if level is None:
        raise ToolError(f"Can't parse feature=level string {argument}: unable to parse {text} as a short.")
    return name, level


def _print_dependencies(name: str, level: int, out: TextIO) -> None:
    if name == METADATA_VERSION:
        if not is_metadata_level(level):
            raise ToolError(f"Unknown {METADATA_VERSION} {level}")
        print_needs(name, level, {}, out)
        return
    if name not in FEATURES:
        raise ToolError(f"Unknown feature: {name}")
    try:
        needs = FEATURES[name].needs(level)
    except FeatureError as error:
        raise ToolError(str(error)) from None
    print_needs(name, level, needs, out)


def _describe(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    if options.node_id is not None and options.node_id < 0:
        raise ToolError(f"Invalid node id {options.node_id}: must be non-negative.")
    features = describe_features(cluster, options.node_id)
    epoch = "-" if features.epoch is None else features.epoch
    for name, (least, most) in sorted(features.supported.items()):
        finalized = features.finalized.get(name, 0)
        print(
            f"Feature: {name:40}",
            f"SupportedMinVersion: {show_level(name, least):15}",
            f"SupportedMaxVersion: {show_level(name, most):15}",
            f"FinalizedVersionLevel: {show_level(name, finalized):15}",
            f"Epoch: {epoch}",
            sep="  ",
            file=out,
        )


def _upgrade(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    levels = _wanted_levels(options, out)
    if options.release_version is not None:
        # What a release starts without is not raised to zero.
        levels = {name: level for name, level in levels.items() if level > 0}
    _update(options, cluster, levels, UpgradeType.UPGRADE, out)


def _downgrade(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    _update(options, cluster, _wanted_levels(options, out), _downgrade_type(options), out)


def _disable(options: argparse.Namespace, cluster: Cluster, out: TextIO) -> None:
    levels: dict[str, int] = {}
    for name in options.feature or ():
        _add_level(levels, name, 0)
    _update(options, cluster, levels, _downgrade_type(options), out)


_CLUSTER_COMMANDS: Mapping[str, Callable[[argparse.Namespace, Cluster, TextIO], None]] = {
    "describe": _describe,
    "upgrade": _upgrade,
    "downgrade": _downgrade,
    "disable": _disable,
}


def _downgrade_type(options: argparse.Namespace) -> UpgradeType:
    return UpgradeType.UNSAFE_DOWNGRADE if options.unsafe else UpgradeType.SAFE_DOWNGRADE


def _wanted_levels(options: argparse.Namespace, out: TextIO) -> dict[str, int]:
    if options.release_version is not None:
        if options.metadata is not None or options.feature is not None:
            raise ToolError("Can not specify `release-version` with other feature flags.")
        version = _parse_release(options.release_version)
        return {METADATA_VERSION: int(version), **default_levels(version)}
    levels: dict[str, int] = {}
    if options.metadata is not None:
        print(" `metadata` flag is deprecated and may be removed in a future release.", file=out)
        levels[METADATA_VERSION] = int(_parse_release(options.metadata))
    for argument in options.feature or ():
        _add_level(levels, *_parse_feature(argument))
    return levels


def _add_level(levels: dict[str, int], name: str, level: int) -> None:
    if name in levels:
        raise ToolError(f"Feature {name} was specified more than once.")
    levels[name] = level


def _update(
    options: argparse.Namespace, cluster: Cluster, levels: Mapping[str, int], upgrade_type: UpgradeType, out: TextIO
) -> None:
    command = options.command
    if not levels:
        raise ToolError(f"You must specify at least one feature to {command}")
    if not all(name.strip() for name in levels):
        raise ToolError("Provided feature can not be empty.")
    outcomes = update_features(cluster, levels, upgrade_type, validates_only=options.dry_run)
    for name in sorted(levels):
        error = outcomes[name]
        if error is None:
            done = "disabled" if command == "disable" else f"{command}d to {levels[name]}"
            print(f"{name} {'can be' if options.dry_run else 'was'} {done}.", file=out)
        else:
            undone = f"disable {name}" if command == "disable" else f"{command} {name} to {levels[name]}"
            print(f"{'Can' if options.dry_run else 'Could'} not {undone}. {error}", file=out)
    failed = sum(outcomes[name] is not None for name in levels)
    if failed:
        raise ToolError(f"{failed} out of {len(levels)} operation(s) failed.")

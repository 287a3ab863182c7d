"""How tools reach a cluster: the options that say where it is, the client, and what is said when it does not work."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping
from typing import TextIO

from barnabas.cli.commands import CommandLineError, CommandParser
from barnabas.cli.error_lines import error_lines
from barnabas.cli.options import Option, ParsedOptions, parse_integer, text
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.settings import BOOTSTRAP_CONTROLLERS, BOOTSTRAP_SERVERS, UnusableConfigError, parse_client
from barnabas.config.java_properties import load_properties
from barnabas.config.setting import ConfigError
from barnabas.runtime.clock import SystemClock

BOOTSTRAP_SERVER = text(
    "bootstrap-server", "Brokers to start from, a list of host:port with commas between them.", argument="hosts"
)
BOOTSTRAP_CONTROLLER = text(
    "bootstrap-controller", "Controllers to start from, a list of host:port with commas between them.", argument="hosts"
)
COMMAND_CONFIG = text("command-config", "A file of settings for the client.", argument="file")
LEADING_OPTIONS = "(--bootstrap-server HOSTS | --bootstrap-controller HOSTS)"


class ToolError(Exception):
    """A line for the person at the keyboard, after which the tool gives up."""


def parse_number(word: str) -> int:
    """A number that stands among others in one word; of what is none, Kafka's tools complain as Java does."""
    try:
        return parse_integer(word)
    except ValueError:
        raise ToolError(f'For input string: "{word}"') from None


def report_errors(work: Callable[[], int], out: TextIO, err: TextIO) -> int:
    """The exit status of the work; 1 where it fails, after what was wrong is printed."""
    try:
        return work()
    except ClientError as error:
        complaint = error_lines(error)
    except (CommandLineError, ToolError, ConfigError, OSError) as error:
        complaint = str(error)
    out.flush()
    print(complaint, file=err)
    return 1


def add_bootstrap_options(parser: CommandParser, *, is_required: bool, has_letters: bool = False) -> None:
    """Brokers or controllers to start from; `has_letters` gives the options their one-letter names."""
    group = parser.add_mutually_exclusive_group(required=is_required)
    form = "a list of host:port with commas between them"
    group.add_argument(
        "--bootstrap-server", *(["-b"] if has_letters else []), metavar="HOSTS", help=f"Brokers to start from, {form}."
    )
    group.add_argument(
        "--bootstrap-controller",
        *(["-C"] if has_letters else []),
        metavar="HOSTS",
        help=f"Controllers to start from, {form}.",
    )


def read_properties(path: str) -> dict[str, str]:
    """OSError where there is no such file, ConfigError where it cannot be understood."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return load_properties(data)
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def open_cluster(options: argparse.Namespace, properties: Mapping[str, str]) -> Cluster:
    """The cluster that the options of a tool with commands name."""
    return connect(properties, servers=options.bootstrap_server, controllers=options.bootstrap_controller)


def connect(properties: Mapping[str, str], *, servers: str | None = None, controllers: str | None = None) -> Cluster:
    """The cluster that is named here, by its brokers or else its controllers, whatever the properties say of that."""
    settings = {
        name: value for name, value in properties.items() if name not in (BOOTSTRAP_SERVERS, BOOTSTRAP_CONTROLLERS)
    }
    if servers is not None:
        settings[BOOTSTRAP_SERVERS] = servers
    elif controllers is not None:
        settings[BOOTSTRAP_CONTROLLERS] = controllers
    try:
        return Cluster(parse_client(settings), SystemClock(), random.Random())
    except UnusableConfigError as error:
        raise ConfigError(f"Failed to create new KafkaAdminClient\n{error}") from error


def connect_as_told(
    options: ParsedOptions, defaults: Mapping[str, str] | None = None, *, config: Option[str] = COMMAND_CONFIG
) -> Cluster:
    """The cluster that the options of a tool without commands name.

    `config` is the option of the file with the client's settings, and `defaults` are what that file may leave open.
    """
    path = options.find(config)
    properties = read_properties(path) if path is not None else {}
    return connect(
        {**(defaults or {}), **properties},
        servers=options.find(BOOTSTRAP_SERVER),
        controllers=options.find(BOOTSTRAP_CONTROLLER),
    )

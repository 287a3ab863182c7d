"""Tools of Kafka's that take a command: the command line as such a tool reads it, its errors and its help.

Kafka's use argparse4j, which follows Python's argparse, and so does this. Where the two differ, in exit statuses, in
what an error says and in which comes first, it is Kafka's tool that is followed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TextIO

_INTEGER = re.compile(r"[+-]?[0-9]+")


class CommandLineError(Exception):
    """A command line that cannot be followed; its text is the usage and, under it, the complaint."""

    def __init__(self, usage: str, tool: str, complaint: str) -> None:
        super().__init__(f"{usage}{tool}: error: {complaint}")
        self.complaint = complaint


class _ComplaintError(Exception):
    """What is wrong with a command line, still without the usage."""


class _HelpAskedError(Exception):
    """Ends the reading of a command line that asks for help."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


class _ShowHelp(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise _HelpAskedError(parser)


def integer(text: str) -> int:
    """A number of 32 bits, as the type of an option."""
    if not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"could not convert '{text}' to Integer (For input string: \"{text}\")")
    return int(text)


class CommandParser(argparse.ArgumentParser):
    """The options of a tool, which stand before the command, or those of one command, which stand behind it.

    Long names come first, as usage lines show the first.
    """

    def __init__(self, prog: str, *, description: str, **others: Any) -> None:
        super().__init__(prog, description=description, add_help=False, **others)
        self._tool = prog.partition(" ")[0]
        self.add_argument("-h", "--help", action=_ShowHelp, nargs=0, dest=argparse.SUPPRESS, help="Show this page.")

    def add_commands(self, commands: Mapping[str, str], leading: str = "") -> dict[str, CommandParser]:
        """A parser for each command, of which `commands` says what it is for.

        `leading` are the options without which no command works; the usage of a command shows them.
        """
        prog = f"{self._tool} {leading}".rstrip()
        added = self.add_subparsers(title="commands", dest="command", required=True, prog=prog)
        return {name: added.add_parser(name, help=use, description=use) for name, use in commands.items()}

    def read(self, arguments: Sequence[str], out: TextIO) -> argparse.Namespace | None:
        """The options that were given, or None where a help page was asked for, which is printed then."""
        given: argparse.Namespace
        try:
            given, _ = self.parse_known_args(list(arguments))
        except _HelpAskedError as asked:
            asked.parser.print_help(out)
            return None
        return given

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """That something is missing is the last thing that Kafka's tools complain about."""
        actions = [action for action in self._actions if action.required]
        groups = [group for group in self._mutually_exclusive_groups if group.required]
        _set_required([*actions, *groups], False)
        try:
            given, others = super().parse_known_args(args, namespace)
            complaint = f"unrecognized arguments: '{others[0]}'" if others else _find_missing(given, actions, groups)
        except _ComplaintError as error:
            complaint = str(error)
        finally:
            _set_required([*actions, *groups], True)
        if complaint is not None:
            raise CommandLineError(self.format_usage(), self._tool, complaint)
        return given, []

    def error(self, message: str) -> NoReturn:
        raise _ComplaintError(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = ", ".join(f"'{choice}'" for choice in action.choices)
            raise argparse.ArgumentError(None, f"invalid choice: '{value}' (choose from {choices})")


def _set_required(needed: Sequence[argparse.Action | argparse._MutuallyExclusiveGroup], is_required: bool) -> None:
    for each in needed:
        each.required = is_required


def _find_missing(
    given: argparse.Namespace,
    actions: Sequence[argparse.Action],
    groups: Sequence[argparse._MutuallyExclusiveGroup],
) -> str | None:
    for action in reversed(actions):
        if getattr(given, action.dest) is None:
            return f"argument {_names(action)} is required" if action.option_strings else "too few arguments"
    for group in groups:
        if all(getattr(given, action.dest) is None for action in group._group_actions):
            return f"one of the arguments {' '.join(map(_names, group._group_actions))} is required"
    return None


def _names(action: argparse.Action) -> str:
    return "/".join(action.option_strings)

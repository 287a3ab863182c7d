"""Tools of Kafka's whose first word is a command: the command line as such a tool reads it, its errors and its help.

Kafka's use argparse4j, which follows Python's argparse, and so does this. Where the two differ, in exit statuses and
in what an error says, it is Kafka's tool that is followed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import NoReturn, TextIO


class CommandLineError(Exception):
    """A command line that cannot be followed; its text is the usage and what is wrong."""


class _ComplaintError(Exception):
    """What is wrong with a command line, still without the usage."""


class CommandParser(argparse.ArgumentParser):
    """The options of one command. Long names come first, as usage lines show the first."""

    def __init__(self, tool: str, command: str, purpose: str) -> None:
        super().__init__(f"{tool} {command}", description=purpose, add_help=False)
        self._tool = tool
        self.add_argument("-h", "--help", action="store_true", help="Show this page.")

    def read(self, arguments: Sequence[str], out: TextIO) -> argparse.Namespace | None:
        """The options that were given, or None where a help page was asked for, which is printed then."""
        if {"-h", "--help"} & set(arguments):
            self.print_help(out)
            return None
        needed = [action for action in self._actions if action.required]
        usage = self.format_usage()
        # An option that is missing is the last thing that Kafka's tool complains about.
        for action in needed:
            action.required = False
        try:
            namespace, others = self.parse_known_args(list(arguments))
            if others:
                self.error(f"unrecognized arguments: '{others[0]}'")
            for action in reversed(needed):
                if getattr(namespace, action.dest) is None:
                    self.error(f"argument {'/'.join(action.option_strings)} is required")
        except _ComplaintError as complaint:
            raise CommandLineError(f"{usage}{self._tool}: error: {complaint}") from None
        return namespace

    def error(self, message: str) -> NoReturn:
        raise _ComplaintError(message)


def read_command(
    tool: str, purpose: str, commands: Mapping[str, str], arguments: Sequence[str], out: TextIO
) -> str | None:
    """The command that the first word names, or None where the tool's help page was asked for, which is printed then.

    `commands` says of each command what it is for.
    """
    usage = f"usage: {tool} [-h] {{{','.join(commands)}}} ...\n"
    word = arguments[0] if arguments else None
    if word in commands:
        return word
    if word in ("-h", "--help"):
        width = max(map(len, commands)) + 2
        rows = "".join(f"  {name:{width}}{use}\n" for name, use in commands.items())
        options = f"  {'-h, --help':{width}}Show this page; behind a command, the options of that.\n"
        out.write(f"{usage}\n{purpose}\n\ncommands:\n{rows}\noptions:\n{options}")
        return None
    if word is None:
        complaint = "too few arguments"
    elif word.startswith("-"):
        complaint = f"unrecognized arguments: '{word}'"
    else:
        choices = ", ".join(f"'{name}'" for name in commands)
        complaint = f"invalid choice: '{word}' (choose from {choices})"
    raise CommandLineError(f"{usage}{tool}: error: {complaint}")

"""The command line as Kafka's tools read it: the option grammar, its errors and the help page.

An option has a long name, written with one dash or two. Its value follows after a space or an equals sign; the word
behind an option that needs one is its value, even if it starts with a dash. Names are never abbreviated. Values are
converted when they are asked for, so a tool complains about those that it reads.
"""

from __future__ import annotations

import re
import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TextIO, TypeVar

KAFKA_VERSION = "4.3.1"  # The release whose files, messages and tools these are.

_HELP_WIDTH = 100
_INTEGER = re.compile(r"[+-]?[0-9]+")

T = TypeVar("T")


class UsageError(Exception):
    """A command line that cannot be followed: the line to print, and whether the help page belongs under it."""

    def __init__(self, line: str, *, shows_help: bool = False) -> None:
        super().__init__(line)
        self.shows_help = shows_help


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option of a tool; `argument` names its value on the help page and is None for one that takes none.

    An option whose value is optional takes the next word for it, unless that looks like an option itself.
    """

    name: str
    help: str
    argument: str | None
    convert: Callable[[str], T]
    default: T | None = None
    has_optional_value: bool = False


def flag(name: str, help: str) -> Option[str]:
    return Option(name, help, None, str)


def text(name: str, help: str, *, argument: str, default: str | None = None) -> Option[str]:
    return Option(name, help, argument, str, default)


def integer(name: str, help: str, *, argument: str, default: int | None = None) -> Option[int]:
    """A 32-bit number."""
    return Option(name, help, argument, partial(parse_integer, bits=32), default)


def long_integer(name: str, help: str, *, argument: str, default: int | None = None) -> Option[int]:
    """A 64-bit number."""
    return Option(name, help, argument, partial(parse_integer, bits=64), default)


def parse_integer(value: str, *, bits: int = 32) -> int:
    """A number as Java reads it; ValueError for any other text."""
    if not _INTEGER.fullmatch(value) or not -(2 ** (bits - 1)) <= int(value) < 2 ** (bits - 1):
        raise ValueError(value)
    return int(value)


HELP = flag("help", "Print this page.")
VERSION = flag("version", "Print the release of Apache Kafka that this tool is like.")


class ParsedOptions:
    """The options that a command line named, each with the values it was given."""

    def __init__(self, given: Sequence[tuple[str, str | None]]) -> None:
        self._given = given

    def has(self, *options: Option[Any]) -> bool:
        """Whether any of these was named."""
        return any(self._texts(option) for option in options)

    def value(self, option: Option[T]) -> T:
        """The one value of an option that was given or has a default."""
        given = self.values(option)
        if len(given) > 1:
            raise UsageError(f"Found multiple arguments for option {option.name}, but you asked for only one")
        if given:
            return given[0]
        if option.default is None:
            raise UsageError(f'Missing required argument "[{option.name}]"', shows_help=True)
        return option.default

    def find(self, option: Option[T]) -> T | None:
        """The one value of an option that may be left out."""
        return self.value(option) if self.has(option) else option.default

    def renamed(self, pairs: Iterable[tuple[Option[Any], Option[Any]]]) -> ParsedOptions:
        """The same, with what was given to the first of each pair now given to the second."""
        names = {old.name: present.name for old, present in pairs}
        return ParsedOptions([(names.get(name, name), text) for name, text in self._given])

    def values(self, option: Option[T]) -> list[T]:
        """Every value that an option was given."""
        return [_converted(option, text) for text in self._texts(option) if text is not None]

    def in_order(self, *options: Option[str]) -> list[str | None]:
        """The values of several options in the order of the command line, None for one that takes none."""
        names = {option.name for option in options}
        return [text for name, text in self._given if name in names]

    def require(self, *options: Option[Any]) -> None:
        for option in options:
            if not self.has(option):
                raise UsageError(f'Missing required argument "[{option.name}]"', shows_help=True)

    def forbid(self, used: Option[Any], *others: Option[Any]) -> None:
        """Refuse a command line that names `used` and any of the others."""
        for other in others:
            if self.has(used) and self.has(other):
                raise UsageError(f'Option "[{used.name}]" can\'t be used with option "[{other.name}]"', shows_help=True)

    def names(self) -> list[str]:
        """The names of all options that were given, each once."""
        return list(dict.fromkeys(name for name, _ in self._given))

    def _texts(self, option: Option[Any]) -> list[str | None]:
        return [text for name, text in self._given if name == option.name]


def _converted(option: Option[T], value: str) -> T:
    try:
        return option.convert(value)
    except ValueError:
        raise UsageError(f"Cannot parse argument '{value}' of option {option.name}") from None


@dataclass(frozen=True)
class Tool:
    """A tool: its name, what it is for, its options besides help and version, and what its complaints start with."""

    name: str
    purpose: str
    options: tuple[Option[Any], ...]
    complaint: str = ""

    def run(self, arguments: Sequence[str], work: Callable[[ParsedOptions], int], *, out: TextIO, err: TextIO) -> int:
        """Read the command line, do the work, and give the exit status.

        Asked for help, a tool of Kafka's writes to the error stream and fails; scripts find the same here.
        """
        try:
            options = self.parse(arguments)
            if not arguments or options.has(HELP):
                raise UsageError(self.purpose, shows_help=True)
            if options.has(VERSION):
                print(KAFKA_VERSION, file=out)
                return 0
            return work(options)
        except UsageError as error:
            out.flush()
            if error.shows_help:
                print(error, file=err)
                self.print_help(err)
            else:
                print(f"{self.complaint}{error}", file=err)
                print(f"`{self.name} --help` lists the options.", file=err)
            return 1

    def parse(self, arguments: Sequence[str]) -> ParsedOptions:
        """Words that belong to no option are passed over."""
        known = {option.name: option for option in (HELP, VERSION, *self.options)}
        given: list[tuple[str, str | None]] = []
        words = deque(arguments)
        while words and (word := words.popleft()) != "--":
            if not word.startswith("-") or word == "-":
                continue
            is_long = word.startswith("--")
            name, equals, value = word[2 if is_long else 1 :].partition("=")
            option = known.get(name)
            if option is None:
                # One dash before an unknown name opens a cluster of one-letter options, of which there are none.
                raise UsageError(f"{name if is_long else name[:1]} is not a recognized option")
            is_followed_by_value = bool(words) and not (option.has_optional_value and words[0].startswith("-"))
            if option.argument is None:
                given.append((name, None))
            elif equals:
                given.append((name, value))
            elif is_followed_by_value:
                given.append((name, words.popleft()))
            elif option.has_optional_value:
                given.append((name, None))
            else:
                raise UsageError(f"Option {name} requires an argument")
        return ParsedOptions(given)

    def print_help(self, to: TextIO) -> None:
        rows = [
            (
                f"--{option.name}" + _argument_shown(option),
                option.help + (f" Default: {option.default}." if option.default is not None else ""),
            )
            for option in sorted((HELP, VERSION, *self.options), key=lambda option: option.name)
        ]
        width = max(len(head) for head, _ in rows) + 2
        for head, body in rows:
            lines = textwrap.wrap(body, _HELP_WIDTH - width)
            for left, line in zip([head] + [""] * len(lines), lines, strict=False):
                print(f"{left:{width}}{line}", file=to)


def _argument_shown(option: Option[Any]) -> str:
    if option.argument is None:
        return ""
    return f" [{option.argument}]" if option.has_optional_value else f" <{option.argument}>"

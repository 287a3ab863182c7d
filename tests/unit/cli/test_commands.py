"""A tool with commands reads its command line as argparse4j does: what is missing comes last among the complaints."""

from __future__ import annotations

from io import StringIO

import pytest

from barnabas.cli.commands import CommandLineError, CommandParser, integer

COMMANDS = {"eat": "Eat something.", "sleep": "Sleep."}
AT = ["--home", "here"]


def parser() -> CommandParser:
    made = CommandParser("tool", description="Lives.")
    where = made.add_mutually_exclusive_group(required=True)
    where.add_argument("--home", help="At home.")
    where.add_argument("--inn", help="At an inn.")
    made.add_argument("--loudly", action="store_true")
    eat = made.add_commands(COMMANDS, "(--home HOME | --inn INN)")["eat"]
    eat.add_argument("--with", "-w", required=True, help="What with.")
    eat.add_argument("--what", "-t", required=True, help="What.")
    eat.add_argument("--course", "-c", action="append", type=integer)
    return made


def complaint(*arguments: str) -> tuple[str, str]:
    """What a command line is refused with: the usage on one line, and the line under it."""
    with pytest.raises(CommandLineError) as caught:
        parser().read(arguments, StringIO())
    *usage, line = str(caught.value).splitlines()
    assert line == f"tool: error: {caught.value.complaint}"
    return " ".join(" ".join(usage).split()), caught.value.complaint


def test_options_are_read_before_and_behind_the_command_by_either_name() -> None:
    words = ["--inn=there", "eat", "--what=soup", "-w", "spoon", "-c", "1", "--course", "-2"]
    options = parser().read(words, StringIO())
    assert options is not None
    assert vars(options) == {
        "home": None,
        "inn": "there",
        "loudly": False,
        "command": "eat",
        "with": "spoon",
        "what": "soup",
        "course": [1, -2],
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["eat"], "argument --what/-t is required"),
        (["eat", "-t", "soup"], "argument --with/-w is required"),
        ([*AT, "eat", "--bogus"], "unrecognized arguments: '--bogus'"),
        ([*AT, "eat", "-t", "soup", "-w", "spoon", "more"], "unrecognized arguments: 'more'"),
        ([*AT, "eat", "-t"], "argument --what/-t: expected one argument"),
        ([*AT, "eat", "-t", "soup", "-w", "spoon", "--home", "there"], "unrecognized arguments: '--home'"),
        (
            [*AT, "eat", "-c", "two"],
            "argument --course/-c: could not convert 'two' to Integer (For input string: \"two\")",
        ),
    ],
)
def test_a_complaint_about_a_command_stands_under_its_usage(arguments: list[str], expected: str) -> None:
    usage = "usage: tool (--home HOME | --inn INN) eat [-h] --with WITH --what WHAT [--course COURSE]"
    assert complaint(*arguments) == (usage, expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "too few arguments"),
        (AT, "too few arguments"),
        (["fly"], "invalid choice: 'fly' (choose from 'eat', 'sleep')"),
        (["--fly"], "unrecognized arguments: '--fly'"),
        ([*AT, "--fly", "sleep"], "unrecognized arguments: '--fly'"),
        (["sleep"], "one of the arguments --home --inn is required"),
        ([*AT, "--inn", "there", "sleep"], "argument --inn: not allowed with argument --home"),
    ],
)
def test_a_complaint_about_the_rest_stands_under_the_usage_of_the_tool(arguments: list[str], expected: str) -> None:
    usage = "usage: tool [-h] (--home HOME | --inn INN) [--loudly] {eat,sleep} ..."
    assert complaint(*arguments) == (usage, expected)


@pytest.mark.parametrize("text", ["", "1.0", "2147483648", "-2147483649", "0x1", "1_000"])
def test_a_number_has_32_bits(text: str) -> None:
    assert "could not convert" in complaint(*AT, "eat", f"--course={text}")[1]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_needs_no_other_option(flag: str) -> None:
    out = StringIO()
    assert parser().read(["eat", flag], out) is None
    assert "eat [-h] --with WITH" in out.getvalue()
    assert "What with." in out.getvalue()


def test_the_help_page_of_the_tool_lists_options_and_commands() -> None:
    out = StringIO()
    assert parser().read(["-h", "eat"], out) is None
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["eat", "Eat", "something."] in lines
    assert ["sleep", "Sleep."] in lines
    assert ["--inn", "INN", "At", "an", "inn."] in lines

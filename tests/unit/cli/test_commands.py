"""A tool with commands reads its command line as argparse4j does: what is missing comes last among the complaints."""

from __future__ import annotations

from io import StringIO

import pytest

from barnabas.cli.commands import CommandLineError, CommandParser, read_command

COMMANDS = {"eat": "Eat something.", "sleep": "Sleep."}


def parser() -> CommandParser:
    made = CommandParser("tool", "eat", "Eat something.")
    made.add_argument("--with", "-w", required=True, help="What with.")
    made.add_argument("--what", "-t", required=True, help="What.")
    made.add_argument("--course", "-c", action="append")
    return made


def test_options_are_read_by_either_name() -> None:
    options = parser().read(["--what=soup", "-w", "spoon", "-c", "1", "--course", "2"], StringIO())
    assert options is not None
    assert (options.what, getattr(options, "with"), options.course) == ("soup", "spoon", ["1", "2"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "argument --what/-t is required"),
        (["-t", "soup"], "argument --with/-w is required"),
        (["--bogus"], "unrecognized arguments: '--bogus'"),
        (["-t", "soup", "-w", "spoon", "more"], "unrecognized arguments: 'more'"),
        (["-t"], "argument --what/-t: expected one argument"),
    ],
)
def test_a_complaint_stands_under_the_usage(arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        parser().read(arguments, StringIO())
    usage, line = str(caught.value).splitlines()
    assert usage == "usage: tool eat [-h] --with WITH --what WHAT [--course COURSE]"
    assert line == f"tool: error: {complaint}"


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_needs_no_other_option(flag: str) -> None:
    out = StringIO()
    assert parser().read([flag], out) is None
    assert "usage: tool eat [-h] --with WITH" in out.getvalue()
    assert "What with." in out.getvalue()


def test_the_first_word_is_the_command() -> None:
    assert read_command("tool", "Lives.", COMMANDS, ["sleep", "-h"], StringIO()) == "sleep"


def test_the_help_page_lists_the_commands() -> None:
    out = StringIO()
    assert read_command("tool", "Lives.", COMMANDS, ["--help"], out) is None
    assert "  eat    Eat something.\n  sleep  Sleep.\n" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "too few arguments"),
        (["fly"], "invalid choice: 'fly' (choose from 'eat', 'sleep')"),
        (["--fly"], "unrecognized arguments: '--fly'"),
    ],
)
def test_another_first_word_is_refused(arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandLineError, match=r"^usage: tool \[-h\] \{eat,sleep\}") as caught:
        read_command("tool", "Lives.", COMMANDS, arguments, StringIO())
    assert str(caught.value).splitlines()[-1] == f"tool: error: {complaint}"

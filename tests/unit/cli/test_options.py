"""The option grammar of Kafka's tools, as joptsimple has it."""

from __future__ import annotations

import io

import pytest

from barnabas.cli.options import (
    KAFKA_VERSION,
    Option,
    ParsedOptions,
    Tool,
    UsageError,
    flag,
    integer,
    long_integer,
    text,
)

LOUD = flag("loud", "Say more.")
FILES = text("files", "The files.", argument="file, ...")
COUNT = integer("count", "How many.", argument="number", default=5)
TOOL = Tool("kafka-sample", "Shows how options are read.", (LOUD, FILES, COUNT))


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()

    def work(options: ParsedOptions) -> int:
        print(options.value(FILES), options.value(COUNT), options.has(LOUD), file=out)
        return 0

    status = TOOL.run(arguments, work, out=out, err=err)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["--files", "a,b"], "a,b"),
        (["--files=a,b"], "a,b"),
        (["-files", "a,b"], "a,b"),
        (["-files=a=b"], "a=b"),
        (["--files="], ""),
        (["--files", "--loud"], "--loud"),
        (["a word", "--files", "a", "-", "more"], "a"),
        (["--files", "a", "--", "--files", "b", "--unknown"], "a"),
    ],
)
def test_a_value_follows_a_space_or_an_equals_sign(arguments: list[str], files: str) -> None:
    options = TOOL.parse(arguments)
    assert options.value(FILES) == files
    assert not options.has(LOUD)


def test_a_flag_drops_the_value_it_is_given() -> None:
    assert TOOL.parse(["--loud=no"]).has(LOUD)


def test_any_of_several_options_counts_as_named() -> None:
    options = TOOL.parse(["--loud"])
    assert options.has(FILES, LOUD)
    assert not options.has(FILES, COUNT)


def test_an_option_with_a_default_need_not_be_given() -> None:
    assert TOOL.parse([]).value(COUNT) == 5
    assert TOOL.parse(["--count", "+7"]).value(COUNT) == 7
    assert TOOL.parse(["--count", "-2147483648"]).value(COUNT) == -(2**31)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--file", "a"], "file is not a recognized option"),
        (["---files", "a"], "-files is not a recognized option"),
        (["-xyz"], "x is not a recognized option"),
        (["--files"], "Option files requires an argument"),
        (["--files", "a", "--files", "b"], "Found multiple arguments for option files, but you asked for only one"),
        (["--files", "a", "--count", "many"], "Cannot parse argument 'many' of option count"),
        (["--files", "a", "--count", "1_0"], "Cannot parse argument '1_0' of option count"),
        (["--files", "a", "--count", "2147483648"], "Cannot parse argument '2147483648' of option count"),
    ],
)
def test_a_wrong_line_is_answered_by_one_line_and_status_one(arguments: list[str], line: str) -> None:
    assert run(*arguments) == (1, "", f"{line}\n`kafka-sample --help` lists the options.\n")


def test_a_missing_option_is_named_above_the_help_page() -> None:
    status, out, err = run("--loud")
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == 'Missing required argument "[files]"'
    assert "--count <number>" in err


def test_help_and_an_empty_line_print_the_page_to_the_error_stream_and_fail() -> None:
    page = """\
Shows how options are read.
--count <number>     How many. Default: 5.
--files <file, ...>  The files.
--help               Print this page.
--loud               Say more.
--version            Print the release of Apache Kafka that this tool is like.
"""
    assert run() == (1, "", page)
    assert run("--files", "a", "--help") == (1, "", page)


def test_long_descriptions_are_wrapped_beside_their_option() -> None:
    err = io.StringIO()
    Tool("t", "T.", (flag("wordy", "word " * 30),)).print_help(err)
    lines = err.getvalue().splitlines()
    assert len(lines) == 4
    assert all(len(line) <= 100 for line in lines)
    assert lines[-1].startswith(" " * len("--version  ") + "word")


def test_the_version_is_that_of_the_kafka_release() -> None:
    assert run("--version") == (0, f"{KAFKA_VERSION}\n", "")


def test_values_are_read_when_they_are_asked_for() -> None:
    options = TOOL.parse(["--count", "many"])
    with pytest.raises(UsageError):
        options.value(COUNT)


def test_an_option_that_may_stand_often_gives_all_its_values_in_their_order() -> None:
    tool = Tool("kafka-sample", "Collects.", (LOUD, FILES, COUNT))
    assert tool.parse(["--files", "b", "--loud", "--files=a"]).values(FILES) == ["b", "a"]
    assert tool.parse([]).values(COUNT) == []
    with pytest.raises(UsageError, match="Cannot parse argument 'x' of option count"):
        tool.parse(["--count", "1", "--count", "x"]).values(COUNT)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (["--codec"], []),
        (["--codec", "lz4"], ["lz4"]),
        (["--codec=lz4"], ["lz4"]),
        (["--codec", "--loud"], []),
    ],
)
def test_an_optional_value_is_the_next_word_that_is_no_option(arguments: list[str], values: list[str]) -> None:
    codec = Option("codec", "The codec.", "codec", str, has_optional_value=True)
    options = Tool("kafka-sample", "Compresses.", (codec, LOUD)).parse(arguments)
    assert options.has(codec)
    assert options.values(codec) == values
    assert options.has(LOUD) == ("--loud" in arguments)


def test_a_long_number_has_64_bits() -> None:
    limit = long_integer("limit", "The most.", argument="ms")
    tool = Tool("kafka-sample", "Counts.", (limit,))
    assert tool.parse(["--limit", "9223372036854775807"]).value(limit) == 2**63 - 1
    with pytest.raises(UsageError, match="Cannot parse argument"):
        tool.parse(["--limit", "9223372036854775808"]).value(limit)


def test_options_keep_the_order_of_the_command_line() -> None:
    options = TOOL.parse(["--files", "a", "--loud", "--count", "1", "--files=b"])
    assert options.in_order(FILES, LOUD) == ["a", None, "b"]
    assert options.names() == ["files", "loud", "count"]


def test_an_option_that_may_be_left_out_has_no_value_then() -> None:
    assert TOOL.parse(["--files", "a"]).find(FILES) == "a"
    assert TOOL.parse([]).find(FILES) is None
    assert TOOL.parse([]).find(COUNT) == 5


def test_options_can_be_required_and_can_exclude_each_other() -> None:
    options = TOOL.parse(["--files", "a", "--loud"])
    options.require(FILES, LOUD)
    options.forbid(COUNT, FILES, LOUD)
    with pytest.raises(UsageError, match=r'Missing required argument "\[count\]"'):
        options.require(FILES, COUNT)
    with pytest.raises(UsageError, match=r'Option "\[loud\]" can\'t be used with option "\[files\]"') as refused:
        options.forbid(LOUD, COUNT, FILES)
    assert refused.value.shows_help


def test_a_tool_may_start_its_complaints_in_a_way_of_its_own() -> None:
    err = io.StringIO()
    tool = Tool("kafka-sample", "Shows how options are read.", (FILES,), complaint="Error occurred: ")
    assert tool.run(["--loud"], lambda _: 0, out=io.StringIO(), err=err) == 1
    assert err.getvalue().startswith("Error occurred: loud is not a recognized option\n")

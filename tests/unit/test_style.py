"""The rules of style that a program can see, checked over the whole tree."""

from __future__ import annotations

import re
import tokenize
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path for folder in ("src", "tests", "tools", "bench", "examples") for path in (ROOT / folder).rglob("*.py")
)
PACKAGE = ROOT / "src/barnabas"

FORBIDDEN_WORDS = {"utils", "util", "helpers", "helper", "common", "manager", "impl", "v2"}
FORBIDDEN_FILES = FORBIDDEN_WORDS | {"new", "misc", "base"}
# The wire names of Kafka's own fields and messages are kept whatever they are.
GENERATED = re.compile(r"src/barnabas/protocol/(messages|\w+_records)/")
FOLDERS = (".ci", "bench", "docs", "examples", "requirements", "script", "src", "tests", "tools")
WRITTEN_BY_HAND = {"", ".in", ".java", ".md", ".pxd", ".py", ".toml", ".txt", ".xml"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home)/\w")
# What a file opens with: the first paragraph of its docstring.
HEAD = re.compile(r'(?:#[^\n]*\n)*"""(.+?)(?:\n\n|""")', re.DOTALL)
DEFINITION = re.compile(r"^\s*(?:class|def|async def) (\w+)", re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)
OPEN_WORK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

# Decisions are pure: what reads a clock, draws a number, talks or waits belongs to runtime/, sim/ or the tools.
PURE_PACKAGES = (
    *("ports", "config", "protocol", "records", "log", "raft", "metadata", "security", "controller"),
    *("replication", "coordinator", "broker"),
)
IMPURE_MODULES = {"asyncio", "os", "random", "select", "selectors", "socket", "subprocess", "threading", "time"}

LINES_MAX = 500


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def words(name: str) -> set[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return set(spaced.lower().split("_"))


def test_a_file_opens_with_a_sentence() -> None:
    heads = {relative(path): HEAD.match(path.read_text()) for path in SOURCES}
    assert not [path for path, head in heads.items() if head is None or not head[1].rstrip().endswith((".", ":"))]


def test_a_file_s_name_says_what_is_in_it() -> None:
    assert not [relative(path) for path in SOURCES if words(path.stem) & FORBIDDEN_FILES]


def test_no_name_says_nothing() -> None:
    said = {
        f"{relative(path)}: {name}"
        for path in SOURCES
        if not GENERATED.search(relative(path))
        for name in DEFINITION.findall(path.read_text())
        if not name.startswith("test_") and words(name) & FORBIDDEN_WORDS
    }
    assert not said, "these names say nothing about what they stand for"


def test_work_left_open_is_an_issue_and_not_a_comment() -> None:
    left_open = []
    for path in SOURCES:
        if OPEN_WORK.search(path.read_text()):
            with path.open("rb") as source:
                comments = [each.string for each in tokenize.tokenize(source.readline) if each.type == tokenize.COMMENT]
            left_open += [f"{relative(path)}: {comment}" for comment in comments if OPEN_WORK.search(comment)]
    assert not left_open


def test_decisions_import_no_effects() -> None:
    impure = {
        f"{relative(path)}: {module}"
        for name in PURE_PACKAGES
        for path in (PACKAGE / name).rglob("*.py")
        for module in IMPORT.findall(path.read_text())
        if module in IMPURE_MODULES
    }
    assert not impure


def test_long_files_are_pointed_out() -> None:
    for path in SOURCES:
        lines = len(path.read_text().splitlines())
        if lines > LINES_MAX:
            warnings.warn(f"{relative(path)} is long: {lines} lines, where is the seam?", stacklevel=1)


def test_no_file_holds_a_path_of_a_machine() -> None:
    everything = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    written = [path for path in everything if path.is_file() and path.suffix in WRITTEN_BY_HAND]
    assert len(written) > len(SOURCES)
    assert not [relative(path) for path in written if MACHINE_PATH.search(path.read_text())]

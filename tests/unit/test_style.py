"""The rules of style that a program can see, checked over the whole tree."""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from pathlib import Path

import pytest

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
OPEN_WORK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

# Decisions are pure: what reads a clock, draws a number, talks or waits belongs to runtime/, sim/ or the tools.
PURE_PACKAGES = ("ports", "config", "protocol", "records", "log", "raft", "metadata", "security", "controller")
IMPURE_MODULES = {"asyncio", "os", "random", "select", "selectors", "socket", "subprocess", "threading", "time"}

LINES_MAX = 500


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def words(name: str) -> set[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return set(spaced.lower().split("_"))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_file_opens_with_a_sentence(path: Path) -> None:
    head = ast.get_docstring(ast.parse(path.read_text()))
    assert head, "a file opens with a sentence that says what it is for"
    assert head.split("\n\n")[0].rstrip().endswith((".", ":")), "the head of a file is a sentence"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_name_says_nothing(path: Path) -> None:
    assert not words(path.stem) & FORBIDDEN_FILES, "a file's name says what is in it"
    if GENERATED.search(relative(path)):
        return
    definitions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    named = {definition.name for definition in definitions if not definition.name.startswith("test_")}
    said = {name for name in named if words(name) & FORBIDDEN_WORDS}
    assert not said, f"these names say nothing about what they stand for: {sorted(said)}"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_work_left_open_is_an_issue_and_not_a_comment(path: Path) -> None:
    with path.open("rb") as source:
        comments = [token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT]
    assert not [comment for comment in comments if OPEN_WORK.search(comment)]


@pytest.mark.parametrize(
    "path", [path for name in PURE_PACKAGES for path in sorted((PACKAGE / name).rglob("*.py"))], ids=relative
)
def test_decisions_import_no_effects(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add((node.module or "").split(".")[0])
    assert not imported & IMPURE_MODULES


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

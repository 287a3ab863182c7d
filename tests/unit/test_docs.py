"""The documentation says what the code does: pages that are written from it are current, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tools.generate_reference import PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# These run on their own: the tests are what is running, and the benchmark takes minutes.
RUN_ELSEWHERE = re.compile(r"^(HYPOTHESIS_PROFILE=\w+ )?script/(test|bench|fuzz|server)\b")


def shell_blocks() -> list[tuple[str, str]]:
    found = []
    for document in DOCUMENTS:
        for block in re.findall(r"^```sh\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
            commands = [line for line in block.splitlines() if not RUN_ELSEWHERE.match(line)]
            if commands:
                found.append((document.relative_to(ROOT).as_posix(), "\n".join(commands)))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs/reference" / name).read_text()
    assert written == PAGES[name](), "run tools/generate_reference.py"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (document.parent / t).exists()]
    assert not missing


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text()
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    assert pages == set(re.findall(r"\]\(([^)#]+)\)", index))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_python_shown_is_python_that_runs(document: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, document.name, "exec"), {})


@pytest.mark.parametrize(("document", "commands"), shell_blocks())
def test_commands_shown_are_commands_that_run(document: str, commands: str, tmp_path: Path) -> None:
    run = subprocess.run(
        ["sh", "-e", "-c", commands.replace("/tmp/", f"{tmp_path}/")], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{document}: {run.stderr}"
    assert run.stdout or run.stderr == ""


def test_the_server_script_sets_up_and_hands_its_words_to_barnabas_up() -> None:
    """Asked for help, for otherwise it would run until it is stopped."""
    run = subprocess.run(["script/server", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Usage: barnabas up" in run.stdout

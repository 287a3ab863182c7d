"""The documentation says what the code does: pages are current, links lead somewhere, and commands run as pasted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from free_ports import free_pair
from tools.generate_reference import PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# These run on their own: the tests are what is running, and the benchmark takes minutes.
RUN_ELSEWHERE = re.compile(r"^(HYPOTHESIS_PROFILE=\w+ )?script/(test|bench|fuzz|server)\b")

# Where script/server is, as readers are told; a test cannot count on that port.
SERVER = "127.0.0.1:9092"


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


@contextmanager
def script_server(home: Path) -> Iterator[str]:
    """What readers start before they paste, but at a port that is free; where it listens."""
    running = subprocess.Popen(
        ["script/server", "--port", str(free_pair())],
        cwd=ROOT,
        env=os.environ | {"XDG_STATE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        (listening,) = [line for line in iter(running.stdout.readline, "\n") if "listens at" in line]
        yield listening.split()[-1]
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 0


@pytest.mark.parametrize(("document", "commands"), shell_blocks())
def test_commands_shown_are_commands_that_run(document: str, commands: str, tmp_path: Path) -> None:
    with script_server(tmp_path) if SERVER in commands else nullcontext(SERVER) as server:
        pasted = commands.replace("/tmp/", f"{tmp_path}/").replace(SERVER, server)
        run = subprocess.run(["sh", "-e", "-c", pasted], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, f"{document}: {run.stderr}"
    assert run.stdout or run.stderr == ""


def test_the_server_script_sets_up_and_hands_its_words_to_barnabas_up() -> None:
    """Asked for help, for otherwise it would run until it is stopped."""
    run = subprocess.run(["script/server", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Usage: barnabas up" in run.stdout

"""The documentation says what the code does: pages that are written from it are current, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.generate_reference import PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


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

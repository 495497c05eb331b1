"""The site of the docs is built without a warning, and needs nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_parts import ROOT

import guardgraph
from guardgraph import grammar, testing

pytestmark = pytest.mark.process

LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)\"|<link\b[^>]*\bhref=\"([^\"]+)\"")
IMPORTED = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does: a warning is an error."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "-q", str(ROOT / "docs"), str(target)]
    environment = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    return target


def test_nothing_is_loaded_from_elsewhere(site):
    """No page and no style sheet names a script, a picture, a font or a sheet of another host."""
    pages = [(page, LOADED.findall(page.read_text(encoding="utf-8"))) for page in site.rglob("*.html")]
    sheets = [(sheet, IMPORTED.findall(sheet.read_text(encoding="utf-8"))) for sheet in site.rglob("*.css")]
    assert len(pages) > 30
    for file, found in pages + sheets:
        for name in (name for names in found for name in names if name):
            assert not re.match(r"(?:https?:)?//", name), (file, name)


def test_contents_and_reference_have_every_page_and_public_name(site):
    contents = (site / "index.html").read_text(encoding="utf-8")
    for page in Path(ROOT, "docs").glob("*.md"):
        assert page.stem == "index" or f'href="{page.stem}.html"' in contents, page.name
    reference = (site / "api.html").read_text(encoding="utf-8")
    for front in (guardgraph, grammar, testing):
        assert [each for each in front.__all__ if f'id="{front.__name__}.{each}"' not in reference] == []


def test_keyboards_and_screen_readers_find_their_way(site):
    """Each page has one first heading; keys scroll code and tables; sidebars have names, and their captions a level."""
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"<h1\b", text)) == 1, page.name
        assert '<div class="highlight"><pre>' not in text, page.name
        assert '<div class="table-wrapper' not in text, page.name
        assert all("aria-label=" in aside for aside in re.findall(r"<aside\b[^>]*>", text)), page.name
        assert all("aria-level=" in tag for tag in re.findall(r"<p class=\"caption\"[^>]*>", text)), page.name

"""The operating guide: every row names a reason of the catalogues and a test that there is."""

from __future__ import annotations

import ast
import re

from docs_parts import ROOT

from guardgraph.graphs.catalogues import CATALOGUES

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
FAILING = [row for row in ROWS if len(row) == 4 and row[0] not in ("what fails", "---")]
NEEDED = [row for row in ROWS if len(row) == 3 and row[0] not in ("what", "---")]


def list_tests(file):
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (item for item in tree.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
    return {item.name for item in functions if item.name.startswith("test_")}


def test_what_a_caller_sees_is_of_the_catalogue_and_shown_by_a_test():
    """A stop reason of the table is one of a catalogue, and the test of the row exists."""
    reasons = {item.reason for catalogue in CATALOGUES.values() for item in catalogue}
    known = {reason.partition(":")[0] for reason in reasons}
    assert len(FAILING) >= 20
    for row in FAILING:
        named = re.findall(r"`([a-z_]+(?::<[a-z]+>)?)`", row[1])
        assert [name for name in named if name.partition(":")[0] not in known] == [], row[0]
        assert all(name in reasons or ":" in name for name in named), row[0]
        [(file, name)] = re.findall(r"^`(tests/[\w/]+\.py)::(test_\w+)`$", row[3])
        assert name in list_tests(file), row[0]


def test_what_production_needs_is_shown_by_tests_that_exist():
    """The command of a row names files of tests."""
    assert len(NEEDED) >= 14
    for row in NEEDED:
        command = re.fullmatch(r"`pytest((?: tests/[\w/]+\.py)+)`", row[2])
        assert command, row[0]
        assert all(list_tests(file) for file in command[1].split()), row[0]


def test_every_link_leads_to_a_page_and_a_heading():
    """A link of the guide names a page that there is, and behind # a heading of it."""
    links = re.findall(r"\]\(([\w/]+\.md)(?:#([\w-]+))?\)", PAGE)
    assert len(links) > 20
    for page, anchor in links:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        headings = {
            re.sub(r"[^\w -]", "", line.strip("# ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert not anchor or anchor in headings, (page, anchor)

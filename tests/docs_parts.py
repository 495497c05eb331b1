"""The parts of the documentation that are made from the code, and how a page is taken apart.

A made part stands between ``<!-- made: NAME -->`` and ``<!-- end -->``. All are renewed by
``.venv/bin/python tests/docs_parts.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import getdoc
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

import guardgraph
from guardgraph.state.catalogues import catalogue_markdown

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

EVERYWHERE = {"guard_error", "budget"}
"""Families that the diagrams leave out, since (nearly) every guard has them."""

SHAPES = {"propose": "([{}])", "act": "[{}]", "guard": "{{{{{}}}}}", "terminal": "[[{}]]"}

MADE_PART = re.compile(r"(?<=<!-- made: )(?P<name>[\w ]+) -->\n(?P<text>.*?)(?=<!-- end -->)", re.DOTALL)


class Fence(NamedTuple):
    """A block of code in a page."""

    info: str
    code: str
    line: int
    output: str | None
    """The block of text that follows it with nothing between."""


def fences(page: Path) -> Iterator[Fence]:
    """Yield the blocks of code of a page."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "fence" and token.map:
            output = following.content if following and following.info == "text" else None
            yield Fence(token.info, token.content, token.map[0] + 1, output)


def links(page: Path) -> Iterator[str]:
    """Yield where the links of a page lead to."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrGet("href"))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: Path, heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head, code marks taken off."""
    _, _, rest = page.read_text(encoding="utf-8").partition(f"# {heading}\n")
    lines = re.search(r"(?:^\|.*\n)+", rest, re.MULTILINE)
    assert lines is not None, f"{page.name}: no table under {heading!r}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in lines[0].splitlines()[2:]]


def rules_table() -> str:
    """Return the grammar's rules as a table."""
    rows = [f"| `{name}` | {getdoc(rule)} |" for name, rule in guardgraph.RULES.items()]
    return "\n".join(["| rule | what must hold |", "| --- | --- |", *rows, ""])


def diagram(create: Callable[[], guardgraph.GuardedGraph]) -> str:
    """Return a graph as a small diagram: every node and way on, the stop families of a guard in one box."""
    builder = create().builder
    lines = ["```mermaid", "flowchart TD"]
    kinds = {name: spec.metadata["kind"] for name, spec in builder.nodes.items() if "family" not in spec.metadata}
    lines += [f"  {name}{SHAPES[kind].format(name)}" for name, kind in kinds.items()]
    for name in kinds:
        branches = [way for branch in builder.branches[name].values() for way in branch.ends.values()]
        plain = [end for start, end in builder.edges if start == name]
        lines += [f"  {name} --> {way}" for way in [*branches, *plain] if way in kinds]
        families = [way for way in branches if way not in kinds and way.removeprefix("stop_") not in EVERYWHERE]
        if families:
            lines.append(f'  {name} -.-> {name}_stops[/"{"<br>".join(families)}"/]')
    return "\n".join([*lines, "```", ""])


MADE: dict[str, Callable[[], str]] = {
    "rag diagram": lambda: diagram(guardgraph.create_rag_agent),
    "research diagram": lambda: diagram(guardgraph.create_research_agent),
    "self_critique diagram": lambda: diagram(guardgraph.create_self_critique_agent),
    "rules": rules_table,
    "reasons": catalogue_markdown,
}


def renewed(text: str) -> str:
    """Return a page's text with its made parts as the code has them now."""
    return MADE_PART.sub(lambda part: f"{part['name']} -->\n\n{MADE[part['name']]()}\n", text)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")

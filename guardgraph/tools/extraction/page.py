"""HTML: what a page shows of its content, with its title and dates."""

from __future__ import annotations

from typing import Any

from guardgraph.tools.extraction.blocks import one_line, parts_of, text_of_parts
from guardgraph.tools.extraction.dates import declared_in, guessed_from, shown_in
from guardgraph.tools.extraction.extracted import Extracted
from guardgraph.tools.extraction.limits import within
from guardgraph.tools.extraction.tree import tree_of
from guardgraph.tools.extraction.visible import remove_unseen

__all__ = ["read_page"]


def read_page(page: str, url: str, max_chars: int) -> Extracted:
    """Return what a page shows: its content as trafilatura finds it, in what is left when the unseen is removed.

    Args:
        page: its text.
        url: where it is from.
        max_chars: how many characters its text may have.

    Raises:
        ExtractionFailed: `broken`, or `too_large`.
    """
    from trafilatura import bare_extraction

    tree = tree_of(page)
    if tree is None:
        return Extracted("", "", (), "", "")
    declared = declared_in(tree)
    remove_unseen(tree)
    declared = declared or shown_in(tree)
    title = one_line(tree.findtext(".//title") or tree.findtext(".//h1") or "")
    guessed = "" if declared else guessed_from(tree, url)
    found: Any = bare_extraction(tree, url=url or None, include_comments=False)
    parts = parts_of(found.body) if found is not None else []
    text = within(text_of_parts(parts), max_chars)
    return Extracted(title, text, tuple(parts), declared, guessed)

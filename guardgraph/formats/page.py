"""A page for a base or of the web: the title, the text and the days of what it shows."""

from __future__ import annotations

from guardgraph.formats.article import assembled
from guardgraph.formats.dates import declared_in, guessed_from, shown_in
from guardgraph.formats.extraction import Extracted
from guardgraph.formats.html import Block, BlockReader, parts_of
from guardgraph.formats.main_part import chosen_text, main_part, markup_of
from guardgraph.formats.page_tree import title_in, tree_of, visible_pieces
from guardgraph.formats.text import within
from guardgraph.formats.visibility import one_line


def read_page(page: str, url: str, max_chars: int) -> Extracted:
    """Return what a page shows: its main part, as trafilatura chooses it of what is left when the unseen is removed.

    Args:
        page: its text.
        url: where it is from.
        max_chars: how many characters its text may have.

    Raises:
        ExtractionFailed: `broken`, or `too_large`.
    """
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    root = tree_of(page)
    reader, markup = BlockReader(), list[str]()
    for piece in visible_pieces(root):
        reader.take(piece)
        markup.append(markup_of(piece))
    shown, title, declared = reader.page(), title_in(root), declared_in(root)
    if not shown.blocks:
        return Extracted(title, "", (), declared, "")
    # Without huge_tree, whatever is below the 255th level is lost.
    parser = HTMLParser(encoding="utf-8", huge_tree=True)
    tree = document_fromstring("".join(markup).encode(), parser=parser)
    declared = declared or shown_in(tree)
    guessed = "" if declared else guessed_from(tree, url)
    parts = parts_of(main_part(shown, chosen_text(tree, url)))
    text = within(assembled(parts).text, max_chars)
    return Extracted(title or _first_heading(shown.blocks), text, tuple(parts), declared, guessed)


def _first_heading(blocks: list[Block]) -> str:
    return next((one_line(block.text) for block in blocks if block.level == 1 and one_line(block.text)), "")

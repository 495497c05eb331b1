"""A page for a base or of the web: the title, the main part and the days of what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape
from itertools import accumulate, chain
from typing import Any, Final
from urllib.parse import urljoin

from guardgraph.formats import html, page_tree
from guardgraph.formats.article import join_article_parts
from guardgraph.formats.extraction import Extracted
from guardgraph.formats.text import clean_plain_text, cut_to_chars, put_on_one_line
from guardgraph.formats.visibility import Gap
from guardgraph.plain.urls import parse_url_target

_INLINE: Final = frozenset(
    {
        "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "data", "dfn", "em", "font", "i", "ins", "kbd",
        "label", "mark", "nobr", "q", "rb", "rt", "ruby", "samp", "small", "span", "strong", "sub", "sup", "tt", "u",
        "var", "wbr",
    }
)  # fmt: skip
"""Elements within a line, of which trafilatura gets the text alone: it parts words by a blank around some of them."""
_GIVEN: Final = ("class", "colspan", "datetime", "href", "id", "itemprop", "rel", "role", "rowspan")
"""Attributes by which trafilatura tells content from what is around it. In no other could a text be of use."""
_NO_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # what lxml refuses
_MARKED: Final = re.compile("[&<>\"'\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # that, and what has to be escaped
_LEAST: Final = 250  # Characters. Where trafilatura finds less, the whole page is its main part.
_MOST_OF_IT: Final = 0.9
"""The main part is the smallest element with so much of what trafilatura found: a line of a footer makes no page."""
_PHRASE: Final = 4  # words by which a text is known again
_ASCII_WORD: Final = re.compile(r"\w+", re.ASCII)
_UNSPACED: Final = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")  # A word; in scripts without blanks a letter
_UNREAD: Final = frozenset({"aside", "details", "dl", "fieldset", "form", "table"})
"""Elements that trafilatura may leave out whatever they say."""
_SIDES: Final = re.compile(r"(?:^|[\s_-])sidebar", re.IGNORECASE)
_AROUND_TAGS: Final = frozenset({"footer", "menu"})
_AROUND_ROLES: Final = frozenset({"alertdialog", "banner", "contentinfo", "dialog", "menu", "menubar", "search"})
_AROUND_NAMES: Final = re.compile(
    r"(?:^|[\s_-])(?:ad|ads|advert\w*|breadcrumbs?|comments?|consent|cookies?|disqus|footer|gdpr|menu|nav|navbar"
    r"|navigation|newsletter|pager|pagination|promo\w*|recommend\w*|related|share|sharing|social|sponsor\w*|subscribe"
    r"|subscription|teasers?|toc)(?=$|[\s_-])",
    re.IGNORECASE,
)
"""Of classes and ids of what stands around the main part."""


def write_page_markup(piece: page_tree.Piece) -> str:
    """Return a piece of what a page shows as trafilatura is given it."""
    if isinstance(piece, str):
        return _escape_markup(piece)
    if isinstance(piece, Gap):
        return " "
    if piece.name in _INLINE or (piece.is_end and piece.name in page_tree.VOID):
        return ""
    if piece.is_end:
        return f"</{piece.name}>"
    given = piece.attributes
    if not given:
        return f"<{piece.name}>"
    named = (f' {name}="{_escape_markup(given[name])}"' for name in _GIVEN if name in given)
    return f"<{piece.name}{''.join(named)}>"


def _escape_markup(text: str) -> str:
    return escape(_NO_XML.sub("", text)) if _MARKED.search(text) else text


def choose_main_text(tree: Any, url: str) -> list[str]:
    """Return the texts that trafilatura takes for the content of a page."""
    from trafilatura import bare_extraction

    try:
        found: Any = bare_extraction(tree, url=url or None, include_comments=False)
    except RecursionError:  # of a page that is nested without end
        return []
    return [] if found is None else [clean_plain_text(str(text)) for text in found.body.itertext()]


def find_main_part(page: html.ShownPage, chosen: Iterable[str]) -> list[html.Block]:
    """Return the blocks of a page's main part: all of them where little was chosen."""
    main = page.main_blocks()
    scope = main or list(range(len(page.blocks)))
    flags = _flag_blocks(page, scope, list(chosen))
    if sum(len(page.blocks[at].text) for at in scope if flags[at]) < _LEAST:
        return [page.blocks[at] for at in scope]
    inside = set(main or _smallest_element(page, flags)) - _blocks_around(page, flags)
    taken = [False] * len(page.blocks)
    for at in reversed(scope):
        above = page.blocks[at].level > 0 and at + 1 < len(taken) and taken[at + 1]
        taken[at] = flags[at] or at in inside or above  # the heading of what is taken
    return [block for block, is_taken in zip(page.blocks, taken, strict=True) if is_taken]


def _flag_blocks(page: html.ShownPage, scope: list[int], chosen: list[str]) -> list[bool]:
    """Return of each block whether it was chosen, or stands in an element that trafilatura does not read."""
    found = [_split_page_words(text) for text in chosen]
    phrases = set(_list_phrases([*chain.from_iterable(found)]))
    lines = {tuple(words) for words in found if len(words) < _PHRASE}
    flags = [False] * len(page.blocks)
    for at in scope:
        words = _split_page_words(page.blocks[at].text)
        if len(words) >= _PHRASE:
            flags[at] = sum(map(phrases.__contains__, _list_phrases(words))) * 2 > len(words) - _PHRASE
        else:
            flags[at] = bool(words) and tuple(words) in lines
    most = sum(len(block.text) for block, flag in zip(page.blocks, flags, strict=True) if flag)
    around = _blocks_around(page, flags)
    for element in _elements_unread(page, flags, most, around):
        for at in range(element.first, element.end):
            flags[at] = at not in around
    return flags


def _split_page_words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def _list_phrases(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_PHRASE)), strict=False)


def _elements_unread(page: html.ShownPage, flags: list[bool], most: int, around: set[int]) -> Iterator[html.Element]:
    """Yield elements that trafilatura left out for what they are, and that have sections and a text of their own."""
    said = _accumulate_sums(len(block.text) - block.linked for block in page.blocks)
    headings = _accumulate_sums(int(block.level > 0) for block in page.blocks)
    chosen, behind = _accumulate_sums(map(int, flags)), 0
    for element in page.elements:
        first, end = element.first, element.end
        is_aside = element.tag == "aside" or _SIDES.search(element.attributes.get("class", "")) is not None
        if first < behind or not (is_aside or element.tag in _UNREAD) or chosen[end] > chosen[first]:
            continue
        least = max(most, _LEAST) if is_aside else _LEAST
        if headings[end] > headings[first] and said[end] - said[first] >= least and first not in around:
            behind = end
            yield element


def _smallest_element(page: html.ShownPage, flags: list[bool]) -> range:
    """Return the blocks of the smallest element that has nearly all that was chosen."""
    weights = _accumulate_sums(len(block.text) if flag else 0 for block, flag in zip(page.blocks, flags, strict=True))
    least = weights[-1] * _MOST_OF_IT
    # Those with more than half of it stand in each other, and an inner one behind its outer one.
    smallest = [element for element in page.elements if weights[element.end] - weights[element.first] >= least][-1]
    return range(smallest.first, smallest.end)


def _blocks_around(page: html.ShownPage, flags: list[bool]) -> set[int]:
    """Return the blocks of elements of which nothing was chosen, and that look like what stands around a text."""
    chosen = _accumulate_sums(map(int, flags))
    letters = _accumulate_sums(len(block.text) for block in page.blocks)
    linked = _accumulate_sums(block.linked for block in page.blocks)
    titles = _accumulate_sums(int(block.level > 0) for block in page.blocks)
    teasers = _accumulate_sums(int(block.level > 0 and block.linked * 2 > len(block.text)) for block in page.blocks)
    around, behind = set[int](), 0
    for element in page.elements:
        first, end = element.first, element.end
        if end <= max(first, behind) or chosen[end] > chosen[first]:
            continue
        links = (linked[end] - linked[first]) * 2 > letters[end] - letters[first]
        lists = (teasers[end] - teasers[first]) * 2 > titles[end] - titles[first]
        given = element.attributes
        is_around = element.tag in _AROUND_TAGS or given.get("role", "").strip().lower() in _AROUND_ROLES
        named = f"{given.get('class', '')} {given.get('id', '')}"
        if links or lists or is_around or _AROUND_NAMES.search(named):
            around.update(range(first, end))
            behind = end
    return around


def _accumulate_sums(numbers: Iterable[int]) -> list[int]:
    """Return the sums of the first numbers, from none of them to all."""
    return [0, *accumulate(numbers)]


def read_page(page: str, url: str, max_chars: int) -> Extracted:
    """Return what a page shows: its main part, as trafilatura chooses it of what is left when the unseen is removed."""
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    root = page_tree.parse_page_tree(page)
    reader, markup = html.BlockReader(), list[str]()
    for piece in page_tree.read_visible_pieces(root):
        reader.take(piece)
        markup.append(write_page_markup(piece))
    shown, title, declared = reader.page(), page_tree.read_tree_title(root), html.find_declared_day(root)
    linked = list_linked_hosts(root, url)
    if not shown.blocks:
        return Extracted(title, "", (), declared, "", linked_hosts=linked)
    # Without huge_tree, whatever is below the 255th level is lost.
    parser = HTMLParser(encoding="utf-8", huge_tree=True)
    tree = document_fromstring("".join(markup).encode(), parser=parser)
    declared = declared or html.find_shown_day(tree)
    guessed = "" if declared else html.guess_page_day(tree, url)
    parts = html.list_page_parts(find_main_part(shown, choose_main_text(tree, url)))
    text = cut_to_chars(join_article_parts(parts).text, max_chars)
    headings = (put_on_one_line(block.text) for block in shown.blocks if block.level == 1)
    title = title or next(filter(None, headings), "")
    return Extracted(title, text, tuple(parts), declared, guessed, linked_hosts=linked)


_MOST_LINKS: Final = 10_000
_MOST_LINKED_HOSTS: Final = 1_000  # links and hosts of a page that are told; of one that has more nobody knows
_LINKS: Final = "a[href], area[href], link[rel~=canonical][href], link[rel~=amphtml][href]"


def list_linked_hosts(root: Any, url: str) -> tuple[str, ...] | None:
    """Return the hosts that a page links to, seen or not, without its own; None where there are too many to tell."""
    base = next(iter(page_tree.list_elements(root, "base[href]")), None)
    around = urljoin(url, (base.attributes.get("href") or "").strip()) if base is not None else url
    targets = {(link.attributes.get("href") or "").strip() for link in page_tree.list_elements(root, _LINKS)}
    if len(targets) > _MOST_LINKS:
        return None
    hosts, own = set[str](), parse_url_target(url)
    for target in targets:
        with suppress(ValueError):  # of urljoin, for what is no URL
            if (known := parse_url_target(urljoin(around, target))) is not None:
                hosts.add(known.host)
    hosts -= {own.host} if own is not None else set()
    return tuple(sorted(hosts)) if len(hosts) <= _MOST_LINKED_HOSTS else None

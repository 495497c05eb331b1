"""A page as the tree that a browser makes of it, and what of it a reader sees, from the first word to the last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from guardgraph.formats.visibility import Shown, one_line, shown_by

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_DRAWN: Final = frozenset(
    {
        "applet", "audio", "button", "canvas", "del", "embed", "iframe", "img", "input", "math", "meter", "object",
        "progress", "s", "select", "strike", "svg", "textarea", "video",
    }
)  # fmt: skip
"""Elements that a reader sees and that are left out: words on both sides of one are two words.

Formulas are among them, since 10 to the power of 9 would be 109.
"""
_UNSEEN: Final = _DRAWN | {
    "area", "base", "datalist", "frameset", "link", "map", "meta", "nav", "noembed", "noframes", "noscript", "param",
    "rp", "script", "style", "template", "title", "x-noembed",
}  # fmt: skip
"""Elements whose text is not shown, is no text, leads elsewhere, or is struck out."""
_APART: Final = ("button", "rt")
"""Elements that stand above or beside the words around them, not among them."""
_RAISED: Final = {
    "sup": str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻"),
    "sub": str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋"),
}
_READ_AS: Final = {"dialog": "div", "listing": "pre", "plaintext": "pre", "xmp": "pre"}
"""What is read as another element; in the last three tags are text."""
_TEXT: Final = "-text"


class Tag(NamedTuple):
    """The beginning or the end of an element."""

    name: str
    """In lower case."""
    attributes: Mapping[str, str]
    is_end: bool = False


class _Place(NamedTuple):
    """What those around an element make of it."""

    drawn: bool = True
    readable: bool = True
    raised: str = ""
    """`sup` or `sub`."""
    in_heading: bool = False


def visible_pieces(root: LexborNode) -> Iterator[Tag | str]:
    """Yield the elements and texts that a reader sees, in the order of the page; every element ends.

    What is left out and takes room all the same is a blank. Letters that are not drawn or too small are left out where
    they stand: an element in between may show its own. Raised and lowered digits are characters of their own (`10⁹`).
    """
    waiting: list[tuple[LexborNode, _Place] | Tag | str] = [(root, _Place())]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str | Tag):
            yield piece
            continue
        node, place = piece
        tag = node.tag or ""
        if tag == _TEXT:
            yield _visible_text(node.text_content or "", place)
        elif tag[:1].isalpha():
            given = {name: value or "" for name, value in node.attributes.items()}
            shown = shown_by(tag, given)
            if _is_left_out(tag, given, shown, place):
                if tag in _DRAWN or shown.takes_room:
                    yield " "
                continue
            if tag in _APART:
                yield " "
                waiting.append(" ")
            inside, tag = _place_in(tag, shown, place), _READ_AS.get(tag, tag)
            yield Tag(tag, given)
            waiting.append(Tag(tag, {}, is_end=True))
            child = node.last_child
            while child is not None:
                waiting.append((child, inside))
                child = child.prev


def _is_left_out(tag: str, given: Mapping[str, str], shown: Shown, around: _Place) -> bool:
    if shown.hides or ("role" in given and given["role"].strip().lower() == "navigation"):
        return True
    # The title of what folds out is a button in a heading.
    return tag in _UNSEEN and not (tag == "button" and around.in_heading)


def _place_in(tag: str, shown: Shown, around: _Place) -> _Place:
    """Return what an element makes of what is in it."""
    if shown.is_drawn is None and shown.is_readable is None and tag not in _RAISED and tag not in HEADINGS:
        return around
    return _Place(
        around.drawn if shown.is_drawn is None else shown.is_drawn,
        around.readable if shown.is_readable is None else shown.is_readable,
        tag if tag in _RAISED else around.raised,
        around.in_heading or tag in HEADINGS,
    )


def _visible_text(text: str, place: _Place) -> str:
    if not place.drawn:
        return " "  # the room that the letters would take
    if not place.readable:
        return ""
    return (text.translate(_RAISED[place.raised]) if place.raised else text).replace("\u00a0", " ")


def elements_of(root: LexborNode, name: str) -> list[LexborNode]:
    """Return all elements of a name, in the order of the page."""
    return root.css(name)


def text_in(node: LexborNode) -> str:
    """Return all text in an element."""
    return node.text(deep=True)


def title_in(root: LexborNode) -> str:
    """Return what a page's head says that it is called, "" where it does not."""
    return next(filter(None, (one_line(text_in(title)) for title in elements_of(root, "head > title"))), "")


_WITHOUT_SCRIPTS = re.compile(r"(</?)(noscript|noembed)(?=[\s/>])", re.IGNORECASE)
_READ_WITH_SCRIPTS: Final = {"noscript": "noembed", "noembed": "x-noembed"}


def tree_of(page: str) -> LexborNode:
    """Return the tree of a page as a browser that runs scripts has it.

    It is made by Lexbor, which follows the HTML standard. (libxml2, which trafilatura reads pages with, does not: it
    ends `<div hidden/>` and `<h1 hidden><p>` early, and shows what they hide.) Lexbor reads `<noscript>` as a browser
    without scripts does; `<noembed>` is read as any other browser reads both.
    """
    from selectolax.lexbor import LexborHTMLParser

    page = _WITHOUT_SCRIPTS.sub(lambda tag: tag[1] + _READ_WITH_SCRIPTS[tag[2].lower()], _shallow(page))
    root = LexborHTMLParser(page).root
    assert root is not None  # but of a fragment
    return root


_MOST_LEVELS: Final = 1_000
_FEW_TAGS: Final = 10_000
"""However they are nested, Lexbor takes a fifth of a second; its time grows with the square of the levels."""
_MARKUP = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<rest>[^>]*+>?)", re.IGNORECASE | re.DOTALL
)
_RAW_END: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
"""In these elements nothing but their own end is a tag, unless they stand in one of another language."""
_OTHER_LANGUAGES: Final = ("math", "svg")
_NO_LEVEL: Final = VOID | {
    "a", "body", "button", "caption", "colgroup", "dd", "dt", "form", "head", "html", "li", "nobr", "optgroup",
    "option", "p", "rb", "rp", "rt", "rtc", "tbody", "td", "tfoot", "th", "thead", "tr", *HEADINGS,
}  # fmt: skip
"""Elements that end where the next of their kind begins: there may be many that nobody ended, side by side."""


def _shallow(page: str) -> str:
    """Return a page with no more than a thousand levels, so that its tree is made in time linear in the page.

    What stands deeper is read as a part of the last level, up to the first tag there that could hide something, or end
    something else: what comes behind that is left out, since nobody can say what of it a browser shows.
    """
    if page.count("<") <= _FEW_TAGS:
        return page
    opened, deeper, count = list[str](), list[str](), Counter[str]()
    written, at = list[str](), 0
    for tag in _levels_in(page, count):
        name, is_end = tag["name"].lower(), tag["end"] != ""
        if deeper or not (is_end or len(opened) < _MOST_LEVELS):
            written.append(page[at : tag.start()])
            if (deeper.pop() != name) if is_end else not _hides_nothing(name, tag["rest"]):
                return "".join(written)
            deeper += [] if is_end else [name]
            written.append(" ")  # what it parts is no one word, and no comment ends there
            at = tag.end()
        elif is_end:
            while (last := opened.pop()) != name:
                count[last] -= 1
        else:
            opened.append(name)
        count[name] += -1 if is_end else 1
    return "".join(written) + page[at:] if written else page


def _levels_in(page: str, count: Counter[str]) -> Iterator[re.Match[str]]:
    """Yield the tags that begin a level, and those that end one.

    Args:
        page: its text.
        count: how many elements of a name are open, as whoever asks keeps it.
    """
    at = 0
    while tag := _MARKUP.search(page, at):
        at, name = tag.end(), (tag["name"] or "").lower()
        if name in _RAW_END and not tag["end"] and not any(count[language] for language in _OTHER_LANGUAGES):
            end = _RAW_END[name].search(page, at)
            at = end.end() if end else len(page)
        elif name and name not in _NO_LEVEL and (not tag["end"] or count[name]):
            yield tag


def _hides_nothing(name: str, rest: str) -> bool:
    return name not in _UNSEEN and not rest.strip("/> \t\n\f\r") and not shown_by(name, {}).hides

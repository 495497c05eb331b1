"""A page as its reader sees it: what its own attributes hide is left out."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from guardgraph.formats.html import DRAWN, RAISED, UNSEEN, VOID
from guardgraph.formats.styles import Shown, shown_by
from guardgraph.formats.tree import children_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["visible_page"]

_UNSEEN: Final = UNSEEN | DRAWN | {
    "area", "base", "frameset", "link", "map", "meta", "noembed", "noframes", "param", "rp", "x-noembed",
}  # fmt: skip
"""Formulas are among them, since 10 to the power of 9 would be 109."""
_INLINE: Final = frozenset(
    {
        "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "dfn", "em", "font", "i", "ins", "kbd", "label",
        "mark", "nobr", "q", "rb", "rt", "ruby", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var",
        "wbr",
    }
)  # fmt: skip
"""Elements within a line, of which the text alone is kept: around some of them trafilatura parts words by a blank."""
_KEPT: Final = ("class", "colspan", "datetime", "href", "id", "itemprop", "rel", "role", "rowspan")
"""Attributes by which trafilatura tells content from what is around it. In no other could a text be of use."""
_READ_AS: Final = {"dialog": "div", "listing": "pre", "plaintext": "pre", "xmp": "pre"}
"""Elements that trafilatura does not know, and in three of which tags are text."""
_TEXT: Final = "-text"
_NO_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What lxml refuses."""


class _Place(NamedTuple):
    """What those around an element make of it."""

    drawn: bool = True
    readable: bool = True
    raised: str = ""
    """`sup` or `sub`."""


def visible_page(root: LexborNode) -> str:
    """Return a page again, without what its reader does not see: elements, texts, comments and attributes.

    Letters that are not drawn or too small are left out where they stand: an element in between may show its own.
    """
    written: list[str] = []
    waiting: list[tuple[LexborNode, _Place] | str] = [(root, _Place())]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        node, place = piece
        tag = node.tag or ""
        if tag == _TEXT:
            written.append(_shown(node.text_content or "", place))
        elif tag[:1].isalpha() and (inside := _inside(node, tag, place)):
            if tag == "rt":  # stands above its word, not in it
                written.append(" ")
                waiting.append(" ")
            tag = _READ_AS.get(tag, tag)
            if tag not in _INLINE:
                written.append(_opening(node, tag))
                waiting.append("" if tag in VOID else f"</{tag}>")
            waiting.extend((child, inside) for child in reversed(list(children_of(node))))
        elif tag in DRAWN or _shown_of(node, tag).takes_room:
            written.append(" ")
    return "".join(written)


def _inside(node: LexborNode, tag: str, around: _Place) -> _Place | None:
    """Return what an element makes of what is in it; None where it is not shown."""
    if tag in _UNSEEN:
        return None
    shown = _shown_of(node, tag)
    if shown.hides:
        return None
    return _Place(
        around.drawn if shown.is_drawn is None else shown.is_drawn,
        around.readable if shown.is_readable is None else shown.is_readable,
        tag if tag in RAISED else around.raised,
    )


def _shown_of(node: LexborNode, tag: str) -> Shown:
    return shown_by(tag, {name: value or "" for name, value in node.attributes.items()})


def _shown(text: str, place: _Place) -> str:
    if not place.drawn:
        return " "  # the room that the letters would take
    if not place.readable:
        return ""
    text = text.translate(RAISED[place.raised]) if place.raised else text
    return escape(_NO_XML.sub("", text.replace("\u00a0", " ")))


def _opening(node: LexborNode, tag: str) -> str:
    given = node.attributes
    kept = (f' {name}="{escape(_NO_XML.sub("", given[name] or ""))}"' for name in _KEPT if name in given)
    return f"<{tag}{''.join(kept)}>"

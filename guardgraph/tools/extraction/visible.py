"""A page as its reader sees it: what its own attributes hide is taken out of the tree."""

from __future__ import annotations

from typing import Final, NamedTuple

from guardgraph.tools.extraction.styles import shown_by
from guardgraph.tools.extraction.tree import Element
from guardgraph.tools.folder.html import RAISED

__all__ = ["remove_unseen"]

_UNSEEN: Final = frozenset(
    {
        "annotation", "annotation-xml", "applet", "area", "audio", "base", "canvas", "datalist", "del", "embed",
        "frameset", "iframe", "link", "map", "meta", "meter", "noembed", "noframes", "noscript", "object", "param",
        "progress", "rp", "s", "script", "strike", "style", "svg", "template", "video",
    }
)  # fmt: skip
"""Elements whose content is not shown, is no text, or is struck out."""
_KEPT: Final = frozenset({"class", "colspan", "datetime", "href", "id", "itemprop", "rel", "role", "rowspan", "type"})
"""Attributes by which trafilatura tells content from what is around it. In no other could a text be of use."""


class _Place(NamedTuple):
    """What those around an element make of it."""

    drawn: bool = True
    readable: bool = True
    raised: str = ""
    """`sup` or `sub`."""


def remove_unseen(root: Element) -> None:
    """Take out of a tree what a reader of the page does not see; elements that nothing is left of stay, empty.

    Letters that are not drawn or too small are taken out where they stand: an element in between may show its own.
    """
    waiting = [(root, _Place())]
    while waiting:
        element, around = waiting.pop()
        tag = str(element.tag)
        attributes = {str(name).lower(): str(value) for name, value in element.attrib.items()}
        shown = shown_by(tag, attributes)
        if shown.hides or tag in _UNSEEN:
            element.clear(keep_tail=True)
            continue
        for name in set(element.attrib) - _KEPT:
            del element.attrib[name]
        place = _Place(
            around.drawn if shown.is_drawn is None else shown.is_drawn,
            around.readable if shown.is_readable is None else shown.is_readable,
            tag if tag in RAISED else around.raised,
        )
        element.text = _shown(element.text, place)
        for child in element:
            child.tail = _shown(child.tail, place)
            waiting.append((child, place))


def _shown(text: str | None, place: _Place) -> str | None:
    if text is None or not (place.drawn and place.readable):
        return None
    return text.translate(RAISED[place.raised]) if place.raised else text

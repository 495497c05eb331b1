r"""HTML elements. Whatever is no markup already is escaped here, so that no part of a page can forget to.

What a model or a page wrote stays text: markup in it is shown as it was written, and what could steer or hide (control
characters, changes of direction, zero-width marks, halves of letters) stands as its escape, such as ``\u202e``, in a
colour of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import TypeAlias

from guardgraph.plain.letters import escaped, is_harmless, is_odd

__all__ = ["Child", "Html", "fragment", "legible", "tag"]


class Html(str):
    """Markup. `tag` and `fragment` make it; to call it is to vouch for a text."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
"""What stands in an element: markup, a text, nothing, or several of these."""

Attribute: TypeAlias = str | float | None

_VOID = frozenset({"meta", "rect", "wbr"})
"""Elements with nothing in them."""


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Return an element.

    Args:
        name: of the element.
        children: what stands in it.
        attributes: by name, ``class_`` for ``class`` and ``aria_label`` for ``aria-label``; None leaves one out.
    """
    opening = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    return Html(f"<{opening}/>" if name in _VOID else f"<{opening}>{fragment(*children)}</{name}>")


def fragment(*children: Child) -> Html:
    """Return several things as one."""
    return Html("".join(map(_markup, children)))


def legible(text: str) -> str:
    """Return a text with its odd letters as escapes, for where no element can stand."""
    return text if is_harmless(text) else "".join(escaped(letter) if is_odd(letter) else letter for letter in text)


def _attribute(name: str, value: Attribute) -> str:
    if value is None:
        return ""
    return f' {name.rstrip("_").replace("_", "-")}="{escape(legible(str(value)))}"'


def _markup(child: Child) -> str:
    if child is None or isinstance(child, Html):
        return child or ""
    if not isinstance(child, str):
        return "".join(map(_markup, child))
    if is_harmless(child):
        return escape(child)
    parts = groupby(child.replace("\r\n", "\n"), is_odd)
    return "".join(_odd(letters) if odd else escape("".join(letters)) for odd, letters in parts)


def _odd(letters: Iterable[str]) -> str:
    return f'<span class="odd">{"".join(map(escaped, letters))}</span>'

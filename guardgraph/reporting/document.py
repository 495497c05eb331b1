r"""An HTML document: one file with its style sheet, which asks nothing of a network and runs no script; its elements.

Whatever is no markup already is escaped here, so that no part of a page can forget to. What a model or a page wrote
stays text: markup in it is shown as it was written, and what could steer or hide (control characters, changes of
direction, zero-width marks, halves of letters) stands as its escape, such as ``\u202e``, in a colour of its own.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib import resources
from itertools import groupby
from typing import TypeAlias

from guardgraph.drawing.style import MONO, SANS, variables
from guardgraph.plain.letters import escaped, is_harmless, is_odd
from guardgraph.plain.version import version

__all__ = ["Child", "Html", "document", "foot", "fragment", "legible", "section", "tag"]


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


def document(title: str, *content: Child) -> str:
    """Return a document.

    Args:
        title: what a browser shows of it in its tabs.
        content: what stands in it, head and foot included.
    """
    body = fragment(*content)
    style = _style()
    styles = [style, *re.findall(r"(?<=<style>).*?(?=</style>)", body, re.DOTALL)]
    allowed = " ".join(dict.fromkeys(f"'sha256-{_digest(text)}'" for text in styles))
    policy = f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'"
    made = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", legible(title)),
            tag("style", Html(style)),
        ),
        tag("body", body),
        lang="en",
    )
    return f"<!doctype html>\n{made}\n"


def section(name: str, *content: Child) -> Html:
    """Return a part of a page under its heading."""
    return tag("section", tag("h2", name), *content)


def foot(made_of: str) -> Html:
    """Return what stands below, with the version that made the page."""
    return tag("footer", tag("p", f"Made by guardgraph {version()} from {made_of}."))


def _style() -> str:
    sheet = (resources.files("guardgraph.reporting") / "page.css").read_text(encoding="utf-8")
    light, dark = (_variables(dark=dark) for dark in (False, True))
    night = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"  # paper is never dark
    return f":root {{ --sans: {SANS}; --mono: {MONO}; {light} }}\n{night}\n{sheet}"


def _variables(*, dark: bool) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in variables(dark=dark).items())


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()

r"""An HTML document: one file with its style sheet, which asks no network and runs no script; its elements."""

# Whatever is no markup already is escaped here, so that no part of a page can forget to. What a model or a page wrote
# stays text: markup in it is shown as it was written, and what could steer or hide (control characters, changes of
# direction, zero-width marks, halves of letters) stands as its escape, such as ``\u202e``, in a colour of its own.

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib import resources
from itertools import groupby
from typing import TypeAlias

from guardgraph.drawing.style import MONO, SANS, list_picture_colours
from guardgraph.plain.letters import escape_letter, escape_odd_letters, is_harmless_text, is_odd_letter
from guardgraph.plain.version import read_package_version


class Html(str):
    """Markup. `make_tag` and `join_html` make it; to call it is to vouch for a text."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
"""What stands in an element: markup, a text, nothing, or several of these."""

Attribute: TypeAlias = str | float | None

_VOID = frozenset({"input", "meta", "rect", "wbr"})  # elements with nothing in them


def make_tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Return an element."""
    opening = "".join([name, *(_render_attribute(key, value) for key, value in attributes.items())])
    return Html(f"<{opening}/>" if name in _VOID else f"<{opening}>{join_html(*children)}</{name}>")


def join_html(*children: Child) -> Html:
    """Return several things as one."""
    return Html("".join(map(_render_markup, children)))


def _render_attribute(name: str, value: Attribute) -> str:
    if value is None:
        return ""
    return f' {name.rstrip("_").replace("_", "-")}="{escape(escape_odd_letters(str(value)))}"'


def _render_markup(child: Child) -> str:
    if child is None or isinstance(child, Html):
        return child or ""
    if not isinstance(child, str):
        return "".join(map(_render_markup, child))
    if is_harmless_text(child):
        return escape(child)
    parts = groupby(child.replace("\r\n", "\n"), is_odd_letter)
    return "".join(
        f'<span class="odd">{"".join(map(escape_letter, letters))}</span>' if odd else escape("".join(letters))
        for odd, letters in parts
    )


def render_html_document(title: str, *content: Child, has_forms: bool = False) -> str:
    """Return a document."""
    body = join_html(*content)
    sheet = (resources.files("guardgraph.reporting") / "page.css").read_text(encoding="utf-8")
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in list_picture_colours(dark=dark).items())
        for dark in (False, True)
    )
    night = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"  # paper is never dark
    style = f":root {{ --sans: {SANS}; --mono: {MONO}; {light} }}\n{night}\n{sheet}"
    styles = [style, *re.findall(r"(?<=<style>).*?(?=</style>)", body, re.DOTALL)]
    allowed = " ".join(
        dict.fromkeys(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in styles)
    )
    form = "'self'" if has_forms else "'none'"
    referrer = "same-origin" if has_forms else "no-referrer"  # without one, a form does not say where it comes from
    policy = f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action {form}"
    made = make_tag(
        "html",
        make_tag(
            "head",
            make_tag("meta", charset="utf-8"),
            make_tag("meta", http_equiv="Content-Security-Policy", content=policy),
            make_tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            make_tag("meta", name="referrer", content=referrer),
            make_tag("meta", name="format-detection", content="telephone=no, date=no, address=no, email=no, url=no"),
            make_tag("meta", name="color-scheme", content="light dark"),
            make_tag("title", escape_odd_letters(title)),
            make_tag("style", Html(style)),
        ),
        make_tag("body", body),
        lang="en",
    )
    return f"<!doctype html>\n{made}\n"


def render_section(name: str, *content: Child) -> Html:
    """Return a part of a page under its heading."""
    return make_tag("section", make_tag("h2", name), *content)


def render_footer(made_of: str) -> Html:
    """Return what stands below, with the version that made the page."""
    return make_tag("footer", make_tag("p", f"Made by guardgraph {read_package_version()} from {made_of}."))

"""An HTML document: one file with its style sheet, which asks nothing of a network and runs no script."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib import resources

from guardgraph.drawing.style import MONO, SANS, variables
from guardgraph.plain.version import version
from guardgraph.reporting.elements import Child, Html, fragment, legible, tag

__all__ = ["document", "foot", "section"]


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

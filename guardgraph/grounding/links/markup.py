"""Active markup: what a page would load, run or lay out, where a text was expected."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from guardgraph.grounding.links.hosts import list_words
from guardgraph.grounding.links.layout import Layout, LinkTarget
from guardgraph.grounding.links.spelling import decode_text, list_readings, show_text

Markup: TypeAlias = Literal["html", "images", "scripts", "tangle"]
"""What a policy calls it; a tangle is what no policy allows."""


class ActivePart(NamedTuple):
    """A piece of active markup."""

    kind: Markup
    shown: str  # as it stands in the text


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][^\s/<>]*)(?P<rest>[^<>]*)(?P<closed>>?)|<[!?][^<>]{0,80}>?")
"""Where a browser begins to read a tag (https://html.spec.whatwg.org/#tag-open-state)."""
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>\"'`]*>")
_ATTRIBUTE = re.compile(r"[\s/\"'](?:[^\s=>/\"']++\s*+)?=")
_VALUE = re.compile(
    r"(?:^|[\s/\"'])(?P<name>[^\s=>/\"']+)\s*=\s*(?:\"(?P<two>[^\"]*)|'(?P<one>[^']*)|(?P<bare>[^\s\"'>]+))"
)
_HANDLER = re.compile(r"(?:^|[\s/\"'])(?:on\w+|srcdoc|style)\s*=", re.IGNORECASE)
_BEHIND_A_NAME = re.compile(r"[\w.:)\]]$")

_SCRIPT_SCHEMES: Final = ("javascript:", "vbscript:")
_OF_A_SCRIPT = re.compile(r"[(=;`\[{/%'\"+]")
_DATA = re.compile(r"(?<![\w.\-])data:(?:[\w.+\-]+/[\w.+\-*]+|[\w.+\-;=/]*;base64\b|,\S)", re.IGNORECASE)
_IMAGE = re.compile(r"!\[\[[^\[\]\n]{1,200}\]\]")  # how notes of a wiki show a file

_BLANKS = re.compile(r"[\s\x00-\x20]+")


def find_active_markup(layouts: Iterable[Layout], *, cited: Collection[str] = ()) -> list[ActivePart]:
    """Find what is active in a text; in code, what no cited text has word for word."""
    found = list[ActivePart]()
    for layout in layouts:
        if layout.tangle:
            found.append(ActivePart("tangle", layout.tangle))
        found += _find_active_prose(layout)
        found += (part for part in _find_active_code(layout) if not any(part.shown in source for source in cited))
    return [*dict.fromkeys(found)]


def _find_active_prose(layout: Layout) -> Iterator[ActivePart]:
    for target in layout.targets:
        if target.is_image:
            yield ActivePart("images", f"![{target.label}]({target.address})")
        if is_script_address(target.address):
            yield ActivePart("scripts", target.address)
    yield from (ActivePart("images", match[0]) for match in _IMAGE.finditer(layout.prose))
    yield from _find_tags(layout.prose)
    for reading in list_readings(layout.prose):
        yield from _find_scripts(reading)


def _find_active_code(layout: Layout) -> Iterator[ActivePart]:
    yield from _find_tags(layout.code)
    yield from _find_scripts(layout.code)


def is_script_address(address: str) -> bool:
    """Say whether following an address runs something, or opens a page that it holds itself."""
    scheme = _BLANKS.sub("", decode_text(show_text(address))).casefold()
    return scheme.startswith((*_SCRIPT_SCHEMES, "data:"))


def _find_scripts(text: str) -> Iterator[ActivePart]:
    for match in _DATA.finditer(text):
        yield ActivePart("scripts", match[0])
    if ":" not in text:
        return
    for word in text.split():
        folded = word.casefold()
        for scheme in _SCRIPT_SCHEMES:
            at = folded.find(scheme)
            if at >= 0 and _OF_A_SCRIPT.search(word, at + len(scheme)):
                yield ActivePart("scripts", word[at:])


def _find_tags(text: str) -> Iterator[ActivePart]:
    if "<" not in text:
        return
    text = _AUTOLINK.sub(" ", text)
    for match in _TAG.finditer(text):
        if match["name"] is None:
            yield ActivePart("html", match[0])
        elif (kind := _tell_tag_kind(match, text[max(0, match.start() - 1) : match.start()])) is not None:
            yield ActivePart(kind, match[0].rstrip())


def _tell_tag_kind(tag: re.Match[str], before: str) -> Markup | None:
    """Return what a tag is to a policy, None of what is none: a placeholder, a type, a comparison."""
    name, rest = tag["name"].casefold(), tag["rest"]
    has_attributes = _ATTRIBUTE.search(rest) is not None
    if name not in list_words("elements"):
        return ("scripts" if _HANDLER.search(rest) else "html") if has_attributes else None
    if not (tag["closed"] or has_attributes):
        return None
    if name in list_words("running") or _HANDLER.search(rest):
        # A type may be called as an element is, but not in its letters: `Supplier<Object>`.
        return None if _is_type(tag, before) and not tag["name"].islower() and name != "script" else "scripts"
    if _is_type(tag, before) and name not in list_words("showing") and (len(name) == 1 or not tag["name"].islower()):
        return None
    return "images" if name in list_words("showing") else "html"


def _is_type(tag: re.Match[str], before: str) -> bool:
    """Say whether what looks like a tag stands behind a name, as types and comparisons do, and says nothing more."""
    return bool(_BEHIND_A_NAME.match(before)) and not tag["end"] and "=" not in tag["rest"] and "/" not in tag["rest"]


def list_tag_targets(text: str) -> list[LinkTarget]:
    """Return where the tags of a text lead, for a deployment whose policy allows them."""
    found = list[LinkTarget]()
    for tag in _TAG.finditer(text):
        for value in _VALUE.finditer(tag["rest"] or ""):
            if value["name"].casefold() in list_words("linking"):
                written = value["two"] or value["one"] or value["bare"] or ""
                found += [
                    LinkTarget("", address.split()[0], False) for address in written.split(",") if address.strip()
                ]
    return found

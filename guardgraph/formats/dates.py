"""When a page says that it was published or changed, and what it may be where it says nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from guardgraph.formats.page_tree import elements_of, text_in

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "date",
    "dcterms.created", "dcterms.issued", "dcterms.date", "dc.date", "dc.date.issued", "citation_publication_date",
    "parsely-pub-date", "pubdate", "publishdate",
)  # fmt: skip
_CHANGED: Final = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "last-modified", "updated_at",
)  # fmt: skip
_OF_THE_FILE: Final = (
    "updated_at", "article:modified_time", "last-modified", "dcterms.modified", "date", "dcterms.date"
)  # fmt: skip
"""Names of ``<meta>``, best first."""
_DATE = re.compile(r"(\d{4})([-/]?)(\d\d)\2(\d\d)(?!\d)")
_MOST_NODES: Final = 10_000
"""Of one page's JSON-LD."""


def changed_in(root: LexborNode) -> str:
    """Return when a page of a folder says that it was last changed, in its author's words; "" where it does not."""
    metas = ((_name(meta), (meta.attributes.get("content") or "").strip()) for meta in elements_of(root, "meta"))
    said = {name: content for name, content in metas if content}
    return next((said[name] for name in _OF_THE_FILE if name in said), "")


def declared_in(root: LexborNode) -> str:
    """Return the day that a page declares in its head, such as ``2026-03-14``; an empty text where it declares none."""
    metas = {_name(meta): meta.attributes.get("content") or "" for meta in reversed(elements_of(root, "meta"))}
    ld = list(_linked_data(root))
    return (
        _first(metas.get(name, "") for name in _PUBLISHED)
        or _first(value for name, value in ld if name == "datePublished")
        or _first(metas.get(name, "") for name in _CHANGED)
        or _first(value for name, value in ld if name == "dateModified")
    )


def shown_in(tree: Any) -> str:
    """Return the day of the first ``<time datetime>`` that has one, likewise."""
    return _first(element.get("datetime") or "" for element in tree.iter("time"))


def guessed_from(tree: Any, url: str) -> str:
    """Return the day that htmldate takes a page to be of; an empty text where it finds none."""
    from htmldate import find_date

    return find_date(tree, original_date=True, url=url or None) or ""


def _first(values: Iterator[str]) -> str:
    return next(filter(None, map(_day, values)), "")


def _day(value: str) -> str:
    found = _DATE.match(value.strip())
    if found is None:
        return ""
    try:
        return date(int(found[1]), int(found[3]), int(found[4])).isoformat()
    except ValueError:
        return ""


def _name(meta: LexborNode) -> str:
    given = meta.attributes
    return (given.get("property") or given.get("name") or given.get("itemprop") or "").strip().lower()


def _linked_data(root: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield names and texts of JSON-LD, in the order of the page."""
    waiting: list[Any] = []
    for script in elements_of(root, "script"):
        if (script.attributes.get("type") or "").strip().lower() == "application/ld+json":
            try:
                waiting.append(json.loads(text_in(script)))
            except (ValueError, RecursionError):
                continue
    waiting.reverse()
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, dict):
            yield from ((name, value) for name, value in node.items() if isinstance(value, str))
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        waiting.extend(reversed([child for child in children if isinstance(child, dict | list)]))

"""What a page says: its bytes become a title, a text and a date, by what its server says that they are."""

from __future__ import annotations

import re
from typing import Final

from guardgraph.formats.extraction import ExtractionFailed, FailureReason, Kind
from guardgraph.formats.pool import extract
from guardgraph.plain.errors import ReadFailure
from guardgraph.plain.json import JsonObject

MAX_TEXT_CHARS: Final = 500_000
"""Of one page: a novel of some hundred pages. What is longer is no evidence that anybody reads."""

_KINDS: Final[dict[str, Kind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "application/pdf": "pdf",
}
"""What is read. Nothing is guessed from the bytes: a page is what its server says that it is."""
_REASONS: Final[dict[FailureReason, str]] = {
    "too_large": "too_large",
    "timeout": "timeout",
    "charset": "charset",
    "binary": "content_type",
    "broken": "content_type",
    "encrypted": "content_type",
    "crashed": "content_type",
}
"""What a reader says where the text of a page cannot be read: that it is not of a type that can be."""
_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|([^\s;]*))", re.IGNORECASE)
_SHOWN_CHARS: Final = 100


def page_of(body: bytes, content_type: str, *, url: str, seconds: float) -> JsonObject:
    """Return what a page says.

    Args:
        body: its bytes, unpacked.
        content_type: what the server says that they are, such as ``text/html; charset=utf-8``.
        url: where it is from.
        seconds: how long it may take.

    Returns:
        ``{title, published_at, body, declared_date}``: the text as a reader of the page sees it, and two days such as
        ``2026-03-14``. The page itself declares the second; where it is blank, the first is a guess, or blank.

    Raises:
        ReadFailure: ``content_type``, ``charset``, ``too_large`` or ``timeout``.
        ConfigurationError: a library of the extra `web` is missing.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in _KINDS:
        raise ReadFailure("content_type", {"content_type": kind[:_SHOWN_CHARS], "allowed": list(_KINDS)})
    named = _CHARSET.search(content_type)
    charset = (named[1] or named[2]) if named else None
    try:
        found = extract(body, _KINDS[kind], charset=charset, url=url, seconds=seconds, max_chars=MAX_TEXT_CHARS)
    except ExtractionFailed as failure:
        details: JsonObject = {"content_type": kind, "cause": failure.reason, **failure.details}
        raise ReadFailure(_REASONS[failure.reason], details) from failure
    published = found.declared_date or found.guessed_date
    return {
        "title": found.title,
        "published_at": published,
        "body": found.text,
        "declared_date": found.declared_date,
    }

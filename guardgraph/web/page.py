"""What a page says: its bytes become a title, a text and a date."""

from __future__ import annotations

from guardgraph.state.errors import ReadFailure
from guardgraph.state.json import JsonObject

__all__ = ["page_of"]


def page_of(body: bytes, content_type: str, *, url: str, seconds: float) -> JsonObject:
    """Return the page that some bytes are."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "text/plain":
        raise ReadFailure("content_type", {"content_type": kind[:200]})
    try:
        return {"title": "", "published_at": "", "body": body.decode("utf-8-sig"), "declared_date": None}
    except UnicodeDecodeError as error:
        raise ReadFailure("charset", {"cause": str(error)[:200]}) from None

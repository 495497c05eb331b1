"""A page that was read, and a note that was taken from it."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

__all__ = ["Note", "Page"]


class Page(TypedDict):
    """A page that was read. What is not known is an empty string; what its reader does not say is absent."""

    title: str
    published_at: str
    """When it was published, as its reader says; where there is a `declared_date`, it may be guessed."""
    body: str
    """Its text, as a reader of the page sees it."""
    final_url: NotRequired[str]
    """Where the URL that was asked led to; absent where it is the same."""
    fetched_at: NotRequired[str]
    """When it was fetched, ISO 8601."""
    sha256: NotRequired[str]
    """Of the bytes that came."""
    text_sha256: NotRequired[str]
    """Of the body."""
    declared_date: NotRequired[str]
    """When the page itself says that it was published; blank where it does not."""


class Note(TypedDict):
    """A claim, and the words of a page that bear it out. What is not known is an empty string."""

    id: str
    claim: str
    quote: str
    url: str
    """Where the page is: the URL that the one that was asked led to."""
    title: str
    published_at: str
    asked_url: NotRequired[str]
    """The identity of the URL that was asked; absent where it is that of `url`."""
    host: NotRequired[str]
    """Of `url`; absent, as what follows, where the page was not read."""
    start: NotRequired[int]
    """Where the quote begins, in characters of the page's body; absent where it does not stand there."""
    end: NotRequired[int]
    """Where it ends."""
    guessed_date: NotRequired[str]
    """When the page was published, by a guess: it declares nothing."""

"""Whether pages still say what a run quoted: notes are held against pages of now, or against texts that were kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from guardgraph.grounding.quotes import find_quote_place, normalise_quote_text
from guardgraph.guards.research.pages import describe_failed_page, parse_source_page
from guardgraph.guards.stop import Stop
from guardgraph.guards.urls import explain_url_denial, make_host_scope
from guardgraph.plain.errors import InputError, ReadFailure
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.world.call import Call, Outside
from guardgraph.world.live import perform_call

Verdict: TypeAlias = Literal["same", "moved", "changed", "gone", "denied"]
"""The quote stands where it stood; it stands elsewhere in the page; it does not stand there; there is no such page; the
lists of now do not let it be read, or not what it leads to."""


Text: TypeAlias = Callable[["Cited"], str]
"""Returns the text of the page that a note cites, or raises `ReadFailure`."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A note that an answer cites, as the result of its run shows it."""

    id: str
    url: str
    quote: str
    span: tuple[int, int] | None = None
    """Where the quote stood, in characters of the page's text."""
    text_sha256: str | None = None
    """Of the page's text."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of a note."""

    id: str
    url: str
    verdict: Verdict
    why: str = ""
    """Of a page that is gone or denied."""
    page_changed: bool = False
    """Whether the rest of the page says something else than it did, where the quote still stands in it."""

    def list_rechecked_note(self) -> JsonObject:
        """Return it as plain JSON."""
        why = {"why": self.why} if self.why else {}
        changed = {"page_changed": True} if self.page_changed else {}
        return {"id": self.id, "url": self.url, "verdict": self.verdict, **why, **changed}


def list_cited_notes(result: JsonObject) -> list[Cited]:
    """Return the notes that a research run cites."""
    details, passages = result.get("citation_details"), result.get("passages")
    if not isinstance(details, list) or not isinstance(passages, list) or not details:
        raise InputError("run: the result of a research run that ended well is required, with its citations")
    quotes = {item.get("id"): item.get("quote") for item in passages if isinstance(item, dict)}
    return [_parse_cited_note(at, item, quotes) for at, item in enumerate(details)]


def _parse_cited_note(at: int, item: JsonValue, quotes: Mapping[Any, JsonValue]) -> Cited:
    match item:
        case {"id": str(name), "url": str(url)} if isinstance(quote := quotes.get(name), str):
            text = item.get("text_sha256")
            return Cited(
                name, url, quote, _parse_cited_span(item.get("document_span")), text if isinstance(text, str) else None
            )
    raise InputError(f"run: citation_details.{at}: an id, a url and a passage with the quote are required")


def _parse_cited_span(given: JsonValue) -> tuple[int, int] | None:
    match given:
        case [int(start), int(end)] if 0 <= start < end:
            return start, end
    return None


def recheck_cited_notes(notes: Collection[Cited], text_of: Text) -> list[Rechecked]:
    """Hold notes against the texts of their pages."""
    return [_recheck_note(note, text_of) for note in notes]


def _recheck_note(note: Cited, text_of: Text) -> Rechecked:
    try:
        text = text_of(note)
    except ReadFailure as failure:
        is_denied = failure.reason.startswith("source_denied_") or failure.reason == "redirect_denied"
        verdict: Verdict = "denied" if is_denied else "gone"
        return Rechecked(note.id, note.url, verdict, str(failure))
    if find_quote_place(note.quote, text) is None:
        return Rechecked(note.id, note.url, "changed")
    start, end = note.span or (0, 0)
    stands = normalise_quote_text(text[start:end]) == normalise_quote_text(note.quote)
    has_changed = note.text_sha256 not in (None, _hash_page_text(text))
    return Rechecked(note.id, note.url, "same" if stands else "moved", page_changed=has_changed)


def _hash_page_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def make_live_page_reader(
    reader: Outside,
    *,
    policy: Collection[str],
    execution: Collection[str],
    denied: Collection[str] = (),
    limits: Mapping[str, float],
) -> Text:
    """Return the texts of pages as they are now; each is read once."""
    lists = {"policy": policy, "execution": execution, "denied": denied}
    scope = {**make_host_scope(**lists), "limits": dict(limits)}

    @cache
    def read_live_page(url: str) -> str:
        _check_url_lists(url, lists)
        outcome = perform_call(Call("tool", reader, {"url": url}, scope=scope), limits["max_page_seconds"] + GRACE)
        try:
            if outcome.form == "failure":
                failed = describe_failed_page(url, outcome)
                raise ReadFailure(failed["reason"], failed.get("details"))
            page = parse_source_page(outcome.content)
        except Stop as stop:
            raise ReadFailure(stop.reason, stop.evidence.get("details")) from None
        if page is None:
            raise ReadFailure("empty_page")
        _check_url_lists(page.get("final_url", url), lists)
        return page["body"]

    return lambda note: read_live_page(note.url)


GRACE = 5.0
"""Seconds beyond the time of a page after which a reader is left behind: one that keeps the time says more."""


def _check_url_lists(url: str, lists: Mapping[str, Collection[str]]) -> None:
    if (reason := explain_url_denial(url, **lists)) is not None:
        raise ReadFailure(reason)


def make_kept_page_reader(folder: str | os.PathLike[str]) -> Text:
    """Return the texts of pages as a run kept them; nothing is read from the web."""

    def read_kept_page(note: Cited) -> str:
        if note.text_sha256 is None or not note.text_sha256.isalnum():
            raise ReadFailure("no_hash")
        try:
            kept = _locate_kept_page(folder, note.text_sha256).read_bytes()
        except OSError as error:
            raise ReadFailure("not_kept", {"cause": error.strerror}) from None
        if hashlib.sha256(kept).hexdigest() != note.text_sha256:
            raise ReadFailure("altered")
        return kept.decode()

    return read_kept_page


def keep_page_body(folder: str | os.PathLike[str], text: str) -> str:
    """Keep the text of a page under its hash, and return the hash."""
    data, name = text.encode("utf-8", "replace"), _hash_page_text(text)
    file = _locate_kept_page(folder, name)
    if not file.exists():
        made = file.with_suffix(f".{uuid4().hex}")
        made.write_bytes(data)
        made.replace(file)  # whoever reads it finds all of it, or nothing
    return name


def _locate_kept_page(folder: str | os.PathLike[str], name: str) -> Path:
    return Path(folder) / f"{name}.txt"

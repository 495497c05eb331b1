"""What a child process reads of a page or a file, why it could not, and how it says so over a pipe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, cast, get_args

from guardgraph.formats.article import Heading, Part
from guardgraph.plain.errors import ConfigurationError, GuardgraphError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject, JsonValue

Kind = Literal["html", "pdf", "text"]  # what content is said to be; nothing is guessed

FailureReason = Literal["too_large", "timeout", "charset", "binary", "broken", "encrypted", "crashed", "killed"]

EXTRACTION_FAILURES: Final[Mapping[FailureReason, str]] = MappingProxyType(
    {
        "too_large": "It takes more memory than the child has, more text than is asked for, or rules nested too deep.",
        "timeout": "The time was over before it was read.",
        "charset": "Its character encoding is unknown, or is one that browsers refuse.",
        "binary": "It is said to be text, and has characters that no text has.",
        "broken": "It is not of the kind that it is said to be, or is damaged.",
        "encrypted": "It is a PDF file that opens with a password only.",
        "crashed": "The child died of it.",
        "killed": "The child was ended from outside, twice.",
    }
)
"""Why content could not be read: the closed list of reasons, each with what it means."""

PAGE: Final = "Page "  # what stands before the number in the heading of a PDF file's page
OUT_OF_MEMORY: Final = 71  # how a child ends that has no memory left: whatever it still could do might fail


class Extracted(NamedTuple):
    """What a page or a file shows a reader. What is not known is an empty string."""

    title: str
    text: str  # paragraphs are parted by blank lines
    parts: tuple[Part, ...]  # the same text with its headings; pages of a PDF file stand under ``Page 1`` and so on
    declared_date: str  # such as ``2026-03-14``: when the page says that it was published, else changed
    guessed_date: str  # what it may be where nothing is declared; evidence of nothing
    extraction: str = ""  # `unsure` where the text may be another one than a reader sees
    linked_hosts: tuple[str, ...] | None = None  # the hosts that it links to, sorted; None where nobody knows

    @property
    def pages(self) -> list[tuple[int, int]]:
        """The numbers of a PDF file's pages, and where each begins in the text."""
        pages, at = list[tuple[int, int]](), 0
        for heading, text in pairwise(self.parts):
            if isinstance(heading, Heading) and isinstance(text, str):
                pages.append((int(heading.text[len(PAGE) :]), at))
                at += len(text) + 2
        return pages


class ExtractionFailed(GuardgraphError):
    """Content could not be read."""

    def __init__(self, reason: FailureReason, details: JsonObject) -> None:
        super().__init__(reason, details)  # both, so that a copy in another process is the same
        self.reason: FailureReason = reason
        self.details = details

    def __str__(self) -> str:
        known = ", ".join(f"{name}: {value}" for name, value in self.details.items())
        return f"{self.reason} ({known})" if known else self.reason


def pack_answer(answer: Extracted | ExtractionFailed | tuple[str, ImportError]) -> bytes:
    """Return as it is sent what was read, why it could not be, or that a library cannot be loaded."""
    if isinstance(answer, Extracted):
        said: list[object] = ["read", *answer]
    elif isinstance(answer, ExtractionFailed):
        said = ["failed", answer.reason, answer.details]
    else:
        said = ["missing", answer[0], " ".join(str(answer[1]).split())]
    # A file can spell half a pair of surrogates, which no encoding has.
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")


def read_child_answer(answer: bytes) -> Extracted | ExtractionFailed | ConfigurationError:
    """Return what a child sent."""
    try:
        match json.loads(answer):
            case ["failed", reason, dict(details)] if reason in get_args(FailureReason):
                return ExtractionFailed(cast(FailureReason, reason), cast(dict[str, JsonValue], details))
            case ["missing", str(library), str(why)]:
                said = f"cannot be loaded: {why:.200}; {explain_extra('kb')}"
                return ConfigurationError(f"{library}, with which content is read, {said}")
            case ["read", str(title), str(text), list(parts), str(declared), str(guessed), ("" | "unsure") as sure, to]:
                if to is not None and not all(isinstance(host, str) for host in to):
                    raise ValueError("no host")
                linked = None if to is None else tuple(to)
                return Extracted(title, text, tuple(map(_parse_sent_part, parts)), declared, guessed, sure, linked)
    except (ValueError, TypeError, RecursionError):
        pass
    raise ExtractionFailed("crashed", {"answer": "not understood"})


def _parse_sent_part(sent: object) -> Part:
    match sent:
        case str(text):
            return text
        case [int(level), str(text)]:
            return Heading(level, text)
    raise ValueError("neither a heading nor a text")

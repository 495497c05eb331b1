"""What a child process reads of a page or a file, why it could not, and how it says so over a pipe."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from time import monotonic
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


# Messages over a pipe: eight bytes of length, then so many bytes. Nothing that is read can run code.

_HEAD: Final = 8
_PIECE: Final = 1 << 20


class FrameTooLong(Exception):
    """A message is announced that is longer than it may be."""


def pack_frame(message: bytes) -> bytes:
    """Return a message as it is sent."""
    return len(message).to_bytes(_HEAD) + message


def send(pipe: int, message: bytes, deadline: float) -> None:
    """Send a message through a pipe that does not block."""
    rest = memoryview(pack_frame(message))
    while rest:
        _wait_for_pipe(pipe, select.POLLOUT, deadline)
        with suppress(BlockingIOError):
            rest = rest[os.write(pipe, rest[:_PIECE]) :]


def receive(pipe: int, most: int, deadline: float) -> bytes:
    """Return the next message of a pipe that does not block."""
    size = int.from_bytes(_read_pipe(pipe, _HEAD, deadline))
    if size > most:
        raise FrameTooLong
    return _read_pipe(pipe, size, deadline)


def _read_pipe(pipe: int, size: int, deadline: float | None = None) -> bytes:
    """Return so many bytes of a pipe, which blocks where there is no deadline."""
    read = bytearray()
    while len(read) < size:
        if deadline is not None:
            _wait_for_pipe(pipe, select.POLLIN, deadline)
        try:
            piece = os.read(pipe, min(size - len(read), _PIECE))
        except BlockingIOError:
            continue
        if not piece:
            raise EOFError
        read += piece
    return bytes(read)


def _wait_for_pipe(pipe: int, event: int, deadline: float) -> None:
    left = deadline - monotonic()
    poll = select.poll()  # select() fails on descriptors above 1,023
    poll.register(pipe, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


def send_all(pipe: int, message: bytes) -> None:
    """Send a message through a pipe that blocks."""
    rest = memoryview(pack_frame(message))
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive_all(pipe: int) -> bytes | None:
    """Return the next message of a pipe that blocks; None where nobody writes any more."""
    try:
        return _read_pipe(pipe, int.from_bytes(_read_pipe(pipe, _HEAD)))
    except EOFError:
        return None

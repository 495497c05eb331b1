"""What is read of a page or a file, and why it could not be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from guardgraph.plain.errors import GuardgraphError
from guardgraph.plain.json import JsonObject
from guardgraph.tools.folder.article import Part

__all__ = ["EXTRACTION_FAILURES", "OUT_OF_MEMORY", "Extracted", "ExtractionFailed", "FailureReason", "Kind"]

Kind = Literal["html", "pdf", "text"]
"""What content is said to be; nothing is guessed."""

FailureReason = Literal["too_large", "timeout", "charset", "binary", "broken", "encrypted", "crashed"]

EXTRACTION_FAILURES: Final[Mapping[FailureReason, str]] = MappingProxyType(
    {
        "too_large": "It takes more memory than the child has, or has more text than is asked for.",
        "timeout": "The time was over before it was read.",
        "charset": "Its character encoding is unknown, or is not the one that is declared.",
        "binary": "It is said to be text, and has characters that no text has.",
        "broken": "It is not of the kind that it is said to be, or is damaged.",
        "encrypted": "It is a PDF file that opens with a password only.",
        "crashed": "The child died of it.",
    }
)
"""Why content could not be read: the closed list of reasons, each with what it means."""

OUT_OF_MEMORY: Final = 71
"""How a child ends that has no memory left: whatever it still could do might fail."""


class Extracted(NamedTuple):
    """What a page or a file shows a reader. What is not known is an empty string."""

    title: str
    text: str
    """Paragraphs are parted by blank lines."""
    parts: tuple[Part, ...]
    """The same text with its headings, for `sections_of`; pages of a PDF file stand under ``Page 1`` and so on."""
    declared_date: str
    """Such as ``2026-03-14``: when the page says that it was published, else changed."""
    guessed_date: str
    """What it may be where nothing is declared; evidence of nothing."""


class ExtractionFailed(GuardgraphError):
    """Content could not be read.

    Args:
        reason: one of `EXTRACTION_FAILURES`.
        details: the limit that was met, the signal that ended the child, or what the parser said.
    """

    def __init__(self, reason: FailureReason, details: JsonObject) -> None:
        super().__init__(reason, details)  # both, so that a copy in another process is the same
        self.reason: FailureReason = reason
        self.details = details

    def __str__(self) -> str:
        known = ", ".join(f"{name}: {value}" for name, value in self.details.items())
        return f"{self.reason} ({known})" if known else self.reason

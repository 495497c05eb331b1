"""What a child answers: JSON, which is trusted no more than the content that it was made of."""

from __future__ import annotations

import json
from typing import cast, get_args

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonValue
from guardgraph.tools.extraction.extracted import Extracted, ExtractionFailed, FailureReason
from guardgraph.tools.folder.article import Heading, Part

__all__ = ["answer_of", "failure_of", "missing_of", "read_answer"]


def answer_of(extracted: Extracted) -> bytes:
    """Return what was read as it is sent."""
    return _sent(["read", *extracted])


def failure_of(failure: ExtractionFailed) -> bytes:
    """Return why content could not be read, as it is sent."""
    return _sent(["failed", failure.reason, failure.details])


def missing_of(library: str, error: ImportError) -> bytes:
    """Return that a library cannot be loaded, as it is sent."""
    return _sent(["missing", library, " ".join(str(error).split())])


def read_answer(answer: bytes) -> Extracted | ExtractionFailed | ConfigurationError:
    """Return what a child sent.

    Raises:
        ExtractionFailed: `crashed`, since no sound child sends such an answer.
    """
    try:
        match json.loads(answer):
            case ["failed", reason, dict(details)] if reason in get_args(FailureReason):
                return ExtractionFailed(cast(FailureReason, reason), cast(dict[str, JsonValue], details))
            case ["missing", str(library), str(why)]:
                return ConfigurationError(
                    f"{library}, with which content is read, cannot be loaded: {why:.200}; "
                    "pip install 'guardgraph[kb]' or 'guardgraph[web]'"
                )
            case ["read", str(title), str(text), list(parts), str(declared), str(guessed)]:
                return Extracted(title, text, tuple(map(_part, parts)), declared, guessed)
    except (ValueError, RecursionError):
        pass
    raise ExtractionFailed("crashed", {"answer": "not understood"})


def _part(sent: object) -> Part:
    match sent:
        case str(text):
            return text
        case [int(level), str(text)]:
            return Heading(level, text)
    raise ValueError("neither a heading nor a text")


def _sent(answer: list[object]) -> bytes:
    # A file can spell half a pair of surrogates, which no encoding has.
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")

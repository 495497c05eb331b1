"""Changes that are judged by meaning: how near the sentences of a text are to a phrase, as an embedding measured it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.self_critique.critique import (
    BY_STEMS,
    Change,
    is_change_applied,
    is_hedged,
    list_enforceable_changes,
)
from guardgraph.guards.stop import Stop
from guardgraph.languages.sentences import split_sentences
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value


def list_changes_by_stems(items: Iterable[str]) -> list[Change]:
    """Return the changes that say what a text must mention or soften, each once."""
    return [change for change in list_enforceable_changes(items) if change.kind in BY_STEMS]


def show_measured_changes(changes: Sequence[Change], text: str) -> JsonObject:
    """Return what an embedding is shown: the phrases of changes, and the sentences of the text."""
    return {"phrases": [change.phrase for change in changes], "sentences": [*split_sentences(text)]}


def read_similarities(packed: str, shown: JsonObject) -> tuple[list[list[float]], JsonObject]:
    """Read what was measured.

    Args:
        packed: what a propose node wrote: ``{"similarities": [[…]]}``, for each phrase a number for each sentence.
        shown: of `show_measured_changes`.

    Returns:
        The similarities, and what is known of who measured them.

    Raises:
        Stop: ``llm_invalid_schema`` for anything but as many numbers from -1 to 1; other ``llm_…`` where nothing came.
    """
    given = proposed_object(packed)
    rows = given.value.get("similarities") if isinstance(given.value, dict) else None
    phrases, sentences = len(shown["phrases"]), len(shown["sentences"])
    if not isinstance(rows, list) or len(rows) != phrases or not all(_is_row(row, sentences) for row in rows):
        allowed = f"similarities: {phrases} rows of {sentences} numbers from -1 to 1"
        raise Stop("llm_invalid_schema", details={"allowed": allowed, "given": excerpt_value(given.value)})
    return rows, given.about


def _is_row(row: JsonValue, size: int) -> bool:
    return (
        isinstance(row, list)
        and len(row) == size
        and all(isinstance(item, int | float) and not isinstance(item, bool) and -1 <= item <= 1 for item in row)
    )


def check_measured_changes(
    changes: Sequence[Change], text: str, rows: Sequence[Sequence[float]], *, least: float, most: float
) -> None:
    """Refuse a text that does not mention or soften what it must.

    Args:
        changes: of `list_changes_by_stems`.
        text: the revision.
        rows: for each change the similarity of its phrase to each sentence of the text.
        least: the similarity from which on a sentence mentions a phrase; the words of the phrase, by stems, do too.
        most: the similarity that a sentence without a hedge may have at most to a phrase that is to be softened; nor
            may it say the phrase by its stems.

    Raises:
        Stop: ``patch_violation:required_changes_not_applied`` with `unapplied`.
    """
    sentences = split_sentences(text)
    missed = [
        str(change)
        for change, row in zip(changes, rows, strict=True)
        if not _is_measured_change_applied(change, text, dict(zip(sentences, row, strict=True)), least, most)
    ]
    if missed:
        raise Stop("patch_violation:required_changes_not_applied", unapplied=missed)


def _is_measured_change_applied(
    change: Change, text: str, similar: dict[str, float], least: float, most: float
) -> bool:
    by_stems = is_change_applied(change, text)
    if change.kind == "mention":
        return by_stems or any(value >= least for value in similar.values())
    return by_stems and not any(value > most and not is_hedged(sentence) for sentence, value in similar.items())

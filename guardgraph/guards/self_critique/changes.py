"""The changes that a critique requires, and whether a text obeys them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

from guardgraph.languages.wording import has_phrase, list_word_keys, normalise_spaces, split_words

PHRASE_CHARS = (3, 160)
"""The least and the most characters of a quoted phrase."""

_LEADING = re.compile(r"(add|remove)[\s:-]", re.IGNORECASE)
_SEPARATOR = re.compile(r"[^\w\s]?\s?")
_OPENING = re.compile(r"(?<!\w)'(?=\S)")
_CLOSING = re.compile(r"(?<=\S)'(?!\w)")


class Change(NamedTuple):
    """A phrase that a text must have, or must not have."""

    kind: Literal["include", "remove"]
    phrase: str
    """As the critique spells it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.phrase}"


def parse_required_change(item: str) -> Change | None:
    """Read one required change.

    Args:
        item: starts with ADD or REMOVE, or has MUST_INCLUDE or MUST_REMOVE anywhere, in any case, and quotes
            exactly one phrase: between straight double quotes or, where there are none, between single quotes
            that stand at word boundaries. With both kinds of marker, remove wins.

    Returns:
        The change, or None for an item that no rule can enforce: no marker, no phrase or several, quotes that
        do not pair, a phrase that is too short, too long or has no word in it.
    """
    kind = _read_change_kind(item.strip())
    phrase = _read_change_phrase(item)
    least, most = PHRASE_CHARS
    if kind is None or phrase is None or not least <= len(phrase) <= most or not list_word_keys(phrase):
        return None
    return Change(kind, phrase)


def list_enforceable_changes(items: Iterable[str]) -> list[Change]:
    """Return the changes that can be enforced, in order, each once, case and punctuation aside."""
    changes = (change for item in items if (change := parse_required_change(item)) is not None)
    distinct: dict[tuple[str, ...], Change] = {}
    for change in changes:
        distinct.setdefault((change.kind, *list_word_keys(change.phrase)), change)
    return list(distinct.values())


def find_unapplied_changes(changes: Iterable[Change], text: str) -> list[Change]:
    """Return the changes that a text does not obey.

    Args:
        changes: what is required.
        text: what must have the phrases to include and none of those to remove, as whole words, case and
            punctuation aside.
    """
    return [change for change in changes if has_phrase(text, change.phrase) != (change.kind == "include")]


def find_contradictory_changes(items: Iterable[str]) -> list[str]:
    """Return the first two changes that no text can obey both, as strings.

    Args:
        items: required changes, as `parse_required_change` reads them.

    Returns:
        A phrase to include and one to remove that stands in it or is it; nothing where there are no such two.
    """
    changes = list_enforceable_changes(items)
    removed = [change for change in changes if change.kind == "remove"]
    for added in changes:
        for change in removed:
            if added.kind == "include" and has_phrase(added.phrase, change.phrase):
                return [str(added), str(change)]
    return []


def strip_added_phrases(changes: Iterable[Change], draft: str, text: str) -> str:
    """Return a revision without the phrases that it had to add, white space normalised.

    Args:
        changes: what is required.
        draft: what was revised; a phrase that it has already was not added.
        text: the revision. Of each added phrase one occurrence is left out, with one punctuation mark and the
            blank that follow it.
    """
    rest = normalise_spaces(text)
    added = {change.phrase for change in changes if change.kind == "include" and not has_phrase(draft, change.phrase)}
    for phrase in sorted(added, key=lambda phrase: (-len(phrase), phrase)):
        rest = _strip_added_phrase(rest, list_word_keys(phrase))
    return rest


def _strip_added_phrase(text: str, phrase: list[str]) -> str:
    said = split_words(text)
    # A key holds no line break, so line breaks can mark where words begin and end.
    before, found, _ = "".join(f"\n{word.key}\n" for word in said).partition("".join(f"\n{key}\n" for key in phrase))
    if not found:
        return text
    first = before.count("\n") // 2
    end = said[first + len(phrase) - 1].end
    separator = _SEPARATOR.match(text, end)
    return normalise_spaces(text[: said[first].start] + text[separator.end() if separator else end :])


def _read_change_kind(item: str) -> Literal["include", "remove"] | None:
    leading = _LEADING.match(item)
    verb = leading[1].lower() if leading else ""
    spelled = item.lower()
    if verb == "remove" or "must_remove" in spelled:
        return "remove"
    if verb == "add" or "must_include" in spelled:
        return "include"
    return None


def _read_change_phrase(item: str) -> str | None:
    parts = item.split('"')
    if len(parts) == 3:
        return parts[1].strip()
    if len(parts) > 1:
        return None
    # An accent belongs to its letter, which no pattern knows: it counts as one here.
    spelled = "".join("m" if unicodedata.category(char)[0] == "M" else char for char in item)
    opening = [match.end() for match in _OPENING.finditer(spelled)]
    if len(opening) != 1:
        return None
    closing = [match.start() for match in _CLOSING.finditer(spelled, opening[0])]
    return item[opening[0] : closing[0]].strip() if len(closing) == 1 else None

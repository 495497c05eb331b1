"""The editor: required changes made in a text, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from guardgraph.grounding.words import split_words
from guardgraph.guards.self_critique import critique
from guardgraph.state.self_critique import MARKERS, ChangeKind

_ENDS = ".!?…。！？"
_PAIRS = ("()", "[]", "{}", '""', "''", "“”", "‘’", "«»")
_LEAD_INS = ("", "Note: ", "Also: ", "Please note: ")
"""What may stand before an added sentence; a lead-in keeps it from completing a phrase that has to go."""

_LOOSE = ",;:-–—"  # marks that join a sentence to what follows

_GAP = re.compile(r"(\S*)(\s*)(.*)", re.DOTALL)
"""What stands between two words: marks that close, white space, marks that open."""


def apply_required_changes(
    last_attempt: str, required_changes: Iterable[str], markers: Mapping[str, ChangeKind] = MARKERS
) -> str:
    """Make the required changes in a text."""
    changes = critique.list_enforceable_changes(required_changes, markers)
    to_remove = [change for change in changes if change.kind == "remove"]
    to_soften = [change for change in changes if change.kind == "soften"]
    to_remove += critique.find_unapplied_changes(to_soften, last_attempt)  # what is not said is not stated
    text = _remove_required_phrases(last_attempt, to_remove)
    for change in changes:
        if change.kind in critique.ADDED and not critique.is_change_applied(change, text):
            text = _add_required_sentence(text, change.phrase, to_remove)
    return text


def _remove_required_phrases(text: str, to_remove: list[critique.Change]) -> str:
    found = split_words(text)
    keys = [word.key for word in found]
    phrases = [[word.key for word in split_words(change.phrase)] for change in to_remove]
    places: list[int] = []
    stack: list[str] = []
    for place, key in enumerate(keys):
        places.append(place)
        stack.append(key)
        done = next((len(phrase) for phrase in phrases if stack[-len(phrase) :] == phrase), 0)
        if done:
            del places[-done:], stack[-done:]
    if len(places) == len(found):
        return text
    starts, ends = [word.start for word in found], [word.end for word in found]
    gaps = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)]
    pieces: list[str] = []
    for left, right in pairwise([-1, *places, len(found)]):
        word = "" if left < 0 else text[starts[left] : ends[left]]
        before, after = gaps[left + 1], gaps[right]
        gap = before if right == left + 1 else _close_word_gap(before, after, first=left < 0, last=right == len(found))
        pieces += word, gap
    return "".join(pieces).strip()


def _split_word_gap(gap: str) -> tuple[str, str, str]:
    close, space, opened = _GAP.findall(gap)[0]
    return close, space, opened


def _close_word_gap(before: str, after: str, *, first: bool, last: bool) -> str:
    """Return what stands between two words when those between them are gone."""
    close, space, opened = ("", "", before) if first else _split_word_gap(before)
    next_close, next_space, next_open = _split_word_gap(after)
    if opened and opened[-1:] + next_close[:1] in _PAIRS:
        opened, next_close = opened[:-1], next_close[1:]
    if first:
        return "" if last else opened + next_open
    if not close.endswith(tuple(_ENDS)):
        close = close.rstrip(_LOOSE) + next_close
    if last:
        return close
    # A line break outlives a blank, and without either the two words could become one.
    space = max(space, next_space, " ", key=lambda blank: blank.count("\n"))
    return close + space + (next_open if opened.strip() == next_open.strip() else opened + next_open)


def _add_required_sentence(text: str, phrase: str, to_remove: list[critique.Change]) -> str:
    start = text.rstrip().rstrip(_LOOSE)
    if start and start.rstrip("\"')]”’")[-1:] not in _ENDS:
        start += "."
    sentence = phrase if phrase.endswith(tuple(_ENDS)) else f"{phrase}."
    for lead_in in _LEAD_INS:
        extended = f"{start} {lead_in}{sentence}".strip()
        if not critique.find_unapplied_changes(to_remove, extended):
            return extended
    return text

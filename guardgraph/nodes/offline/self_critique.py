"""The Self-critique agent's offline proposers: rules without a model, the same text for the same input.

They take any view, however odd its fields, and never raise; what they propose is judged like a model's proposal. The
editor makes required changes in a text, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import has_phrase, split_words
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.self_critique.critique import (
    PHRASE_CHARS,
    Change,
    find_unapplied_changes,
    is_change_applied,
    list_enforceable_changes,
    parse_required_change,
)
from guardgraph.guards.self_critique.revision import check_revision_patch
from guardgraph.guards.stop import Stop
from guardgraph.nodes.offline.drafter import shorten_offline_draft, write_offline_draft
from guardgraph.nodes.offline.incident import NO_STATUS, Lines
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import SelfCritiqueBudget
from guardgraph.world.call import mark_as_instant

__all__ = [
    "UNCERTAINTY_NOTE",
    "apply_required_changes",
    "critique_offline_draft",
    "revise_offline_draft",
    "shorten_offline_draft",
    "write_offline_draft",
]

_ENDS = ".!?…。！？"
_PAIRS = ("()", "[]", "{}", '""', "''", "“”", "‘’", "«»")
_LEAD_INS = ("", "Note: ", "Also: ", "Please note: ")
"""What may stand before an added sentence; a lead-in keeps it from completing a phrase that has to go."""

_LOOSE = ",;:-–—"
"""Marks that join a sentence to what follows."""

_GAP = re.compile(r"(\S*)(\s*)(.*)", re.DOTALL)
"""What stands between two words: marks that close, white space, marks that open."""


def apply_required_changes(last_attempt: str, required_changes: Iterable[str]) -> str:
    """Make the required changes in a text.

    Phrases to remove go, with the punctuation they leave behind; phrases to include that are missing are
    appended in their own spelling, each as a sentence. A phrase to include that has one to remove in it is
    not appended. A phrase to mention is appended like one to include, where no sentence has its words; a phrase to
    soften goes where it is stated. The same input always gives the same text, and a text that has been repaired stays
    as it is.

    Args:
        last_attempt: the text.
        required_changes: the critique's; what cannot be enforced is ignored.
    """
    changes = list_enforceable_changes(required_changes)
    to_remove = [change for change in changes if change.kind == "remove"]
    to_soften = [
        change for change in changes if change.kind == "soften" and not is_change_applied(change, last_attempt)
    ]
    to_remove += to_soften  # no rule can soften it, but what is not said is not stated
    text = _remove_phrases(last_attempt, to_remove)
    for change in changes:
        if change.kind in ("include", "mention") and not is_change_applied(change, text):
            text = _add_required_sentence(text, change.phrase, to_remove)
    return text


def _remove_phrases(text: str, to_remove: list[Change]) -> str:
    found = split_words(text)
    kept = _find_words_to_keep([word.key for word in found], to_remove)
    if len(kept) == len(found):
        return text
    starts, ends = [word.start for word in found], [word.end for word in found]
    gaps = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)]
    pieces: list[str] = []
    for left, right in pairwise([-1, *kept, len(found)]):
        word = "" if left < 0 else text[starts[left] : ends[left]]
        before, after = gaps[left + 1], gaps[right]
        gap = before if right == left + 1 else _close_word_gap(before, after, first=left < 0, last=right == len(found))
        pieces += word, gap
    return "".join(pieces).strip()


def _find_words_to_keep(keys: list[str], to_remove: list[Change]) -> list[int]:
    """Return the places of the words that stay: no phrase is left, not even where a gap has closed."""
    phrases = [[word.key for word in split_words(change.phrase)] for change in to_remove]
    places: list[int] = []
    stack: list[str] = []
    for place, key in enumerate(keys):
        places.append(place)
        stack.append(key)
        done = next((len(phrase) for phrase in phrases if stack[-len(phrase) :] == phrase), 0)
        if done:
            del places[-done:], stack[-done:]
    return places


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


def _add_required_sentence(text: str, phrase: str, to_remove: list[Change]) -> str:
    start = text.rstrip().rstrip(_LOOSE)
    if start and start.rstrip("\"')]”’")[-1:] not in _ENDS:
        start += "."
    sentence = phrase if phrase.endswith(tuple(_ENDS)) else f"{phrase}."
    for lead_in in _LEAD_INS:
        extended = f"{start} {lead_in}{sentence}".strip()
        if not find_unapplied_changes(to_remove, extended):
            return extended
    return text


_BUDGET = SelfCritiqueBudget()
"""What a critic can count on."""

UNCERTAINTY_NOTE = "Timing may change as we learn more"
"""What an update says beside an estimate."""

_UNCERTAIN = ("may change", "might change", "could change", "can change", "subject to change", "may vary", "not final")
_ESTIMATES = frozenset({"eta", "estimate", "estimated", "estimates", "expect", "expected", "anticipate", "recovery"})
_TIMES = frozenset({"minute", "minutes", "min", "mins", "hour", "hours", "hrs", "day", "days"})

_SECTIONS = ("current_status", "customer_impact", "next_actions")
_CUES = {
    "current_status": ("current status", "currently"),
    "customer_impact": ("impact", "impacts", "impacted", "affected", "affects", "affecting"),
    "next_actions": ("next actions", "next steps", "next step", "we will", "next update"),
}
"""Phrases that show that a draft has a section; any other section shows by its own name."""


@mark_as_instant
def revise_offline_draft(view: JsonObject) -> JsonObject:
    """Make the required changes and nothing else.

    Args:
        view: ``{goal, incident_context, draft, required_changes}``.
    """
    return {
        "revised_answer": apply_required_changes(
            _read_view_text(view.get("draft")), _read_view_texts(view.get("required_changes"))
        )
    }


class _Finding(NamedTuple):
    """Something wrong with a draft."""

    note: str
    change: str | None
    """What mends it; None where nothing that can be enforced does."""
    risk: str | None = None
    """The type of risk, where it is one."""


@mark_as_instant
def critique_offline_draft(view: JsonObject) -> JsonObject:
    """Review a draft by rules: restricted claims, missing sections, estimates without a word of doubt.

    The changes are tried out before they are proposed. Where one cannot be enforced, or together they would be
    more than a patch, a person has to decide.

    Args:
        view: ``{goal, incident_context, draft, allowed_risk_types}``.

    Returns:
        ``{decision, severity, risks, required_changes, reason}``.
    """
    context, text = _read_view_object(view.get("incident_context")), _read_view_text(view.get("draft"))
    lines = Lines(context)
    claims = _review_draft_claims(text, lines)
    rest = apply_required_changes(text, _list_required_changes(claims))
    lost = _review_lost_sections(text, rest, lines)
    kept = apply_required_changes(rest, _list_required_changes(lost))
    estimates = [] if lines.record.is_closed_incident else _review_draft_estimates(kept)
    findings = [*claims, *lost, *_review_missing_sections(kept, lines), *estimates]
    changes = _list_required_changes(findings)
    mendable = all(finding.change for finding in findings) and _is_passing_patch(text, changes, lines)
    decision, severity = ("revise", "medium") if mendable else ("escalate", "high")
    reason = " ".join(finding.note for finding in findings)
    if not findings:
        decision, severity = "approve", "low"
    elif not mendable:
        reason = f"More than a patch can mend. {reason}"
    return {
        "decision": decision,
        "severity": severity,
        "risks": _list_draft_risks(findings, _read_view_texts(view.get("allowed_risk_types"))),
        "required_changes": changes[: _BUDGET.max_required_changes],
        "reason": reason,
    }


def _list_required_changes(findings: list[_Finding]) -> list[str]:
    return list(dict.fromkeys(finding.change for finding in findings if finding.change))


def _list_draft_risks(findings: list[_Finding], allowed: list[str]) -> list[JsonObject]:
    """Name each type of risk once, with the first note."""
    notes = {finding.risk: finding.note for finding in reversed(findings) if finding.risk in allowed}
    return [{"type": kind, "note": notes[kind]} for kind in sorted(notes, key=str)]


def _review_draft_claims(text: str, lines: Lines) -> list[_Finding]:
    """Require that sentences with forbidden claims go."""
    return [
        _Finding(
            f"The draft claims: {', '.join(claims)}.",
            _make_required_change("MUST_REMOVE", sentence.rstrip(".!?… ")),
            "overconfidence",
        )
        for sentence in split_sentences(text)
        if (claims := lines.allowed.list_forbidden_claims(sentence))
    ]


def _review_lost_sections(text: str, rest: str, lines: Lines) -> list[_Finding]:
    """Require that sections which go with the claims are said otherwise, as far as the context can; a status always."""
    lost = [
        name
        for name in _SECTIONS
        if _has_draft_section(text, name, lines) and not _has_draft_section(rest, name, lines)
    ]
    said = {name: lines.write_section_line(name, PHRASE_CHARS[1]) for name in lost}
    if said.get("current_status") == "":
        said["current_status"] = NO_STATUS
    return [
        _Finding(f"Without its claims the draft lacks a section: {name}.", _make_required_change("MUST_INCLUDE", line))
        for name, line in said.items()
        if line
    ]


def _review_missing_sections(text: str, lines: Lines) -> list[_Finding]:
    """Require that missing sections are added, as far as the context can fill them."""
    return [
        _Finding(
            f"The draft lacks a section: {name[:80]}.",
            _make_required_change("MUST_INCLUDE", lines.write_section_line(name, PHRASE_CHARS[1])),
        )
        for name in _read_view_texts(_read_hints_of_context(lines.context).get("required_sections"))
        if not _has_draft_section(text, name, lines)
    ]


def _review_draft_estimates(text: str) -> list[_Finding]:
    """Require that an estimate is called uncertain."""
    if any(has_phrase(text, phrase) for phrase in _UNCERTAIN):
        return []
    note = "The draft states an estimate as if it could not change."
    change = _make_required_change("MUST_INCLUDE", UNCERTAINTY_NOTE)
    return (
        [_Finding(note, change, "missing_uncertainty")]
        if any(map(_is_recovery_estimate, split_sentences(text)))
        else []
    )


def _has_draft_section(text: str, name: str, lines: Lines) -> bool:
    cues = [*_CUES.get(name, [name.replace("_", " ")])]
    if name == "current_status":
        cues.append(lines.record.incident_status)
    if name == "next_actions":
        cues += lines.next_action_texts
    return any(split_words(cue) and has_phrase(text, cue) for cue in cues)


def _is_recovery_estimate(sentence: str) -> bool:
    keys = {word.key for word in split_words(sentence)}
    return (
        not _ESTIMATES.isdisjoint(keys)
        and not _TIMES.isdisjoint(key.lstrip("0123456789.,") for key in keys)
        and any(key[0].isdecimal() for key in keys)
    )


def _make_required_change(marker: str, phrase: str) -> str | None:
    item = f'{marker} "{phrase}"'
    return item if parse_required_change(item) is not None else None


def _is_passing_patch(text: str, changes: list[str], lines: Lines) -> bool:
    """Try the changes out: the guards of the default budget let them pass, and they leave an update."""
    edited, hints = apply_required_changes(text, changes), _read_hints_of_context(lines.context)
    hinted = hints.get("max_length_increase_pct")
    try:
        check_revision_patch(
            edited,
            draft=text,
            context=lines.context,
            required_changes=changes,
            max_chars=_BUDGET.max_answer_chars,
            min_similarity=_BUDGET.min_patch_similarity,
            max_length_increase_pct=_BUDGET.max_length_increase_pct,
            hinted_length_increase_pct=hinted if isinstance(hinted, int | float) else None,
            avoid_absolute_guarantees=hints.get("avoid_absolute_guarantees") is True,
            check_facts=True,
            regions=DEFAULT_REGIONS,
        )
    except Stop:
        return False
    removes = any(change.kind == "remove" for change in list_enforceable_changes(changes))
    return len(changes) <= _BUDGET.max_required_changes and not (removes and _is_empty_draft(edited, lines))


def _is_empty_draft(text: str, lines: Lines) -> bool:
    return not any(_has_draft_section(text, name, lines) for name in _SECTIONS)


def _read_hints_of_context(context: JsonObject) -> JsonObject:
    return _read_view_object(context.get("policy_hints"))


def _read_view_object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _read_view_text(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""


def _read_view_texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

"""The Self-critique agent's offline proposers: rules without a model, the same text for the same input.

They take any view, however odd its fields, and never raise; what they propose is judged like a model's
proposal.
"""

from __future__ import annotations

from typing import NamedTuple

from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported
from guardgraph.guards.self_critique.changes import PHRASE_CHARS, enforceable, parse_change, unapplied
from guardgraph.guards.self_critique.claims import forbidden_claims
from guardgraph.guards.self_critique.revision import patch_growth_pct, patch_similarity
from guardgraph.guards.sentences import sentences
from guardgraph.guards.wording import has_phrase, words
from guardgraph.nodes.offline.editor import repair
from guardgraph.nodes.offline.incident import (
    actions,
    current_status,
    estimate_line,
    opening_line,
    other_facts,
    section_line,
)
from guardgraph.state.instant import instant
from guardgraph.state.json import JsonObject, JsonValue

__all__ = ["UNCERTAINTY_NOTE", "critique", "draft", "repair", "revise", "shorten"]

DRAFT_CHARS = 900
"""max_draft_chars of the default budget; a tighter budget has the draft shortened."""
MAX_CHANGES, MAX_GROWTH_PCT, MIN_SIMILARITY = 5, 20.0, 0.4
"""The default budget of a patch: what a critic can count on."""

UNCERTAINTY_NOTE = "Timing may change as we learn more"
"""What an update says beside an estimate."""

_UNCERTAIN = (
    "may change",
    "might change",
    "could change",
    "can change",
    "subject to change",
    "may vary",
    "not final",
)
_ESTIMATES = frozenset({"eta", "estimate", "estimated", "estimates", "expect", "expected", "anticipate", "recovery"})
_TIMES = frozenset({"minute", "minutes", "min", "mins", "hour", "hours", "hrs", "day", "days"})

_SECTIONS = ("current_status", "customer_impact", "next_actions")
_CUES = {
    "current_status": ("current status", "currently"),
    "customer_impact": ("impact", "impacts", "impacted", "affected", "affects", "affecting"),
    "next_actions": ("next actions", "next steps", "next step", "we will", "next update"),
}
"""Phrases that show that a draft has a section; any other section shows by its own name."""


@instant
def draft(view: JsonObject) -> JsonObject:
    """Write an update from the incident context: status, impact, next actions, estimate.

    Where no impact is known, whatever else the context says stands in for it. A line that would not pass as the
    context's own facts is left out, and an estimate is called uncertain here if no patch could add as much later.

    Args:
        view: ``{goal, incident_context}``.
    """
    context = _object(view.get("incident_context"))
    status, impact, planned = (section_line(name, context, DRAFT_CHARS // 2) for name in _SECTIONS)
    told = [impact, "We apologize for the disruption"] if impact else other_facts(context, DRAFT_CHARS // 2)
    known = facts_in_json(context)
    lines = [
        line
        for line in (opening_line(context), status, *told, planned, estimate_line(context))
        if line and not unsupported(facts_in_text(line), known)
    ]
    if len(lines) <= 1:
        lines.append("We will share confirmed details as soon as we have them")
    note = f" {UNCERTAINTY_NOTE}."
    text = _cut(" ".join(f"{line}." for line in lines), DRAFT_CHARS - len(note))
    too_much = patch_growth_pct(text, text + note) > _growth_limit(context)
    return {"draft": text + note if too_much and _review_estimates(text) else text}


@instant
def shorten(view: JsonObject) -> JsonObject:
    """Cut a draft after the last sentence that fits, or where none does, after the last word.

    Args:
        view: ``{draft, max_chars}``.
    """
    limit = view.get("max_chars")
    text = _text(view.get("draft"))
    return {"draft": _cut(text, limit) if isinstance(limit, int) else text}


@instant
def revise(view: JsonObject) -> JsonObject:
    """Make the required changes and nothing else.

    Args:
        view: ``{goal, incident_context, draft, required_changes}``.
    """
    return {"revised_answer": repair(_text(view.get("draft")), _texts(view.get("required_changes")))}


class _Finding(NamedTuple):
    """Something wrong with a draft."""

    note: str
    change: str | None
    """What mends it; None where nothing that can be enforced does."""
    risk: str | None = None
    """The type of risk, where it is one."""


@instant
def critique(view: JsonObject) -> JsonObject:
    """Review a draft by rules: restricted claims, missing sections, estimates without a word of doubt.

    The changes are tried out before they are proposed. Where one cannot be enforced, or together they would be
    more than a patch, a person has to decide.

    Args:
        view: ``{goal, incident_context, draft, allowed_risk_types}``.

    Returns:
        ``{decision, severity, risks, required_changes, reason}``.
    """
    context, text = _object(view.get("incident_context")), _text(view.get("draft"))
    claims = _review_claims(text, context)
    rest = repair(text, _changes(claims))
    findings = [*claims, *_review_sections(rest, context), *_review_estimates(rest)]
    changes = _changes(findings)
    mendable = all(finding.change for finding in findings) and _is_patch(text, changes, context)
    decision, severity = ("revise", "medium") if mendable else ("escalate", "high")
    reason = " ".join(finding.note for finding in findings)
    if not findings:
        decision, severity = "approve", "low"
    elif not mendable:
        reason = f"More than a patch can mend. {reason}"
    return {
        "decision": decision,
        "severity": severity,
        "risks": _risks(findings, _texts(view.get("allowed_risk_types"))),
        "required_changes": changes[:MAX_CHANGES],
        "reason": reason,
    }


def _changes(findings: list[_Finding]) -> list[str]:
    return list(dict.fromkeys(finding.change for finding in findings if finding.change))


def _risks(findings: list[_Finding], allowed: list[str]) -> list[JsonObject]:
    """Name each type of risk once, with the first note."""
    notes = {finding.risk: finding.note for finding in reversed(findings) if finding.risk in allowed}
    return [{"type": kind, "note": notes[kind]} for kind in sorted(notes, key=str)]


def _review_claims(text: str, context: JsonObject) -> list[_Finding]:
    """Require that sentences with forbidden claims go."""
    return [
        _Finding(
            f"The draft claims: {', '.join(claims)}.",
            _change("MUST_REMOVE", sentence.rstrip(".!?… ")),
            "overconfidence",
        )
        for sentence in sentences(text)
        if (claims := _forbidden(sentence, context))
    ]


def _review_sections(text: str, context: JsonObject) -> list[_Finding]:
    """Require that missing sections are added, as far as the context can fill them."""
    return [
        _Finding(
            f"The draft lacks a section: {name[:80]}.",
            _change("MUST_INCLUDE", section_line(name, context, PHRASE_CHARS[1])),
        )
        for name in _texts(_hints(context).get("required_sections"))
        if not _has_section(text, name, context)
    ]


def _review_estimates(text: str) -> list[_Finding]:
    """Require that an estimate is called uncertain."""
    if any(has_phrase(text, phrase) for phrase in _UNCERTAIN):
        return []
    note = "The draft states an estimate as if it could not change."
    change = _change("MUST_INCLUDE", UNCERTAINTY_NOTE)
    return [_Finding(note, change, "missing_uncertainty")] if any(map(_is_estimate, sentences(text))) else []


def _forbidden(text: str, context: JsonObject) -> list[str]:
    strictly = bool(_hints(context).get("avoid_absolute_guarantees"))
    return forbidden_claims(text, context, avoid_absolute_guarantees=strictly)


def _has_section(text: str, name: str, context: JsonObject) -> bool:
    cues = [*_CUES.get(name, [name.replace("_", " ")])]
    if name == "current_status":
        cues.append(current_status(context))
    if name == "next_actions":
        cues += actions(context)
    return any(words(cue) and has_phrase(text, cue) for cue in cues)


def _is_estimate(sentence: str) -> bool:
    keys = {word.key for word in words(sentence)}
    return (
        not _ESTIMATES.isdisjoint(keys)
        and not _TIMES.isdisjoint(key.lstrip("0123456789.,") for key in keys)
        and any(key[0].isdecimal() for key in keys)
    )


def _change(marker: str, phrase: str) -> str | None:
    item = f'{marker} "{phrase}"'
    return item if parse_change(item) is not None else None


def _is_patch(text: str, changes: list[str], context: JsonObject) -> bool:
    """Try the changes out: all can be made, no forbidden claim is left, and the edit is small and leaves an update."""
    edited, required = repair(text, changes), enforceable(changes)
    removes = any(change.kind == "remove" for change in required)
    return (
        len(changes) <= MAX_CHANGES
        and not unapplied(required, edited)
        and not _forbidden(edited, context)
        and (not removes or any(_has_section(edited, name, context) for name in _SECTIONS))
        and patch_similarity(text, edited) >= MIN_SIMILARITY
        and patch_growth_pct(text, edited) <= _growth_limit(context)
    )


def _growth_limit(context: JsonObject) -> float:
    hint = _hints(context).get("max_length_increase_pct")
    return min(hint, MAX_GROWTH_PCT) if isinstance(hint, int | float) else MAX_GROWTH_PCT


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    ends = [0]
    for sentence in sentences(text):
        ends.append(text.index(sentence, ends[-1]) + len(sentence))
    if end := max(end for end in ends if end <= max(limit, 0)):
        return text[:end]
    head = text[: max(limit, 0) + 1]
    return " ".join(head.split()[:-1]) or head[:-1]


def _hints(context: JsonObject) -> JsonObject:
    return _object(context.get("policy_hints"))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

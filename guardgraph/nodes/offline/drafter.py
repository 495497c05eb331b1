"""The Self-critique agent's drafter without a model: an update for customers from an incident context."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from guardgraph.grounding.sentences import split_sentences
from guardgraph.nodes.offline.incident import NO_STATUS, Allowed, Lines
from guardgraph.nodes.offline.prose import add_end_mark
from guardgraph.plain.json import JsonObject
from guardgraph.world.call import mark_as_instant

DRAFT_CHARS = 900
"""max_draft_chars of the default budget; a tighter budget has the draft shortened."""
_ROOM = DRAFT_CHARS - 40
"""What a draft has room for: the rest is left for the note that a critic may ask for."""
_SECTION_CHARS = DRAFT_CHARS // 2
_MOST_SENTENCES = 200
"""How many sentences of a text are looked at for those that fit."""

_REPORTED, _LATEST = "What was reported:", "Latest update:"
_MORE = "We will share confirmed details as soon as we have them"
_APOLOGY = "We apologize for the disruption"


@mark_as_instant
def write_offline_draft(view: JsonObject) -> JsonObject:
    """Write an update from the incident context: status, what happened, impact, next actions, estimate.

    Where a context tells neither what happened nor what the impact is, whatever else it holds stands in for them.

    Args:
        view: ``{goal, incident_context}``.
    """
    context = view.get("incident_context")
    return {"draft": _compose_update_text(Lines(context if isinstance(context, dict) else {}))}


@mark_as_instant
def shorten_offline_draft(view: JsonObject) -> JsonObject:
    """Cut a draft after the last sentence that fits, or where none does, after the last word.

    Args:
        view: ``{draft, max_chars}``.
    """
    limit, text = view.get("max_chars"), view.get("draft")
    text = text.strip() if isinstance(text, str) else ""
    return {"draft": _cut_draft_at_sentence(text, limit) if isinstance(limit, int) else text}


def _compose_update_text(lines: Lines) -> str:
    """Return the update's text: what happened has the room that the other lines leave."""
    record = lines.record
    opening, status = lines.write_opening_line(), lines.write_section_line("current_status", _SECTION_CHARS)
    impact = _write_impact_lines(lines)
    planned = lines.write_section_line("next_actions", _SECTION_CHARS) if record.has_next_actions else ""
    estimate = "" if record.is_closed_incident else lines.write_estimate_line()
    after = [*impact, *([_APOLOGY] if impact else []), planned, estimate]
    story = _write_story_lines(
        lines, _ROOM - sum(len(line) + 2 for line in (opening, status, *after, NO_STATUS, _MORE))
    )
    if not status and (story or record.incident_title or record.names_of_affected):
        status = NO_STATUS
    if not story and not impact:
        after = [*lines.write_other_facts(_SECTION_CHARS), *after]
    told = [line for line in (opening, status, *story, *after) if line]
    if status and not planned and not estimate and not record.is_closed_incident:
        told.append(lines.write_section_line("next_actions", _SECTION_CHARS))
    return _join_update_lines(told if len(told) > 1 else [*told, _MORE], lines.allowed)


def _write_impact_lines(lines: Lines) -> list[str]:
    """Return what customers notice, and what is affected."""
    return list(
        dict.fromkeys(
            filter(
                None,
                [
                    lines.write_section_line("customer_impact", _SECTION_CHARS),
                    lines.write_affected_line(_SECTION_CHARS),
                ],
            )
        )
    )


def _write_story_lines(lines: Lines, room: int) -> list[str]:
    """Return what was reported and the latest update, in whole sentences: the update has at most half the room."""
    record, allowed = lines.record, lines.allowed
    reported = list(islice(record.read_summary_sentences(), _MOST_SENTENCES))
    known = set(reported)
    news = (sentence for sentence in islice(record.read_latest_update(), _MOST_SENTENCES) if sentence not in known)
    latest = _fit_allowed_sentences(_LATEST, news, room // 2, allowed)
    first = _fit_allowed_sentences(_REPORTED, reported, room - len(latest), allowed)
    return [line for line in (first, latest) if line]


def _fit_allowed_sentences(lead: str, found: Iterable[str], room: int, allowed: Allowed) -> str:
    """Return the sentences that may be said, up to the first that does not fit, else a part of one."""
    line, too_long = "", ""
    for sentence in found:
        longer = f"{line or lead} {sentence}"
        if len(longer) <= room:
            line = longer if allowed.is_allowed_text(f"{lead} {sentence}") else line
        elif line:
            break
        else:
            too_long = too_long or sentence
    if line or not too_long:
        return line
    part = _cut_draft_at_word(f"{lead} {too_long}", room - 1).rstrip(" ,;:–—-")
    return allowed.find_allowed_text([f"{part}…"]) if len(part) > len(lead) else ""


def _join_update_lines(lines: list[str], allowed: Allowed) -> str:
    """Return the lines as one text; a line that says together with others what may not be said is left out."""
    told = [add_end_mark(line) for line in lines if line]
    text = " ".join(told)
    if len(text) <= _ROOM and allowed.is_allowed_text(text):
        return text
    text = ""
    for line in told:
        longer = f"{text} {line}".strip()
        text = longer if len(longer) <= _ROOM and allowed.is_allowed_text(longer) else text
    return text


def _cut_draft_at_sentence(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    ends = [0]
    for sentence in split_sentences(text):
        ends.append(text.index(sentence, ends[-1]) + len(sentence))
    end = max(end for end in ends if end <= max(limit, 0))
    return text[:end] or _cut_draft_at_word(text, limit)


def _cut_draft_at_word(text: str, limit: int) -> str:
    head = text[: max(limit, 0) + 1]
    return " ".join(head.split()[:-1]) or head[:-1]

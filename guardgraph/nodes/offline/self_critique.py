"""The Self-critique agent's offline proposers: rules without a model, the same text for the same input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import has_phrase, list_word_keys, split_words
from guardgraph.guards.self_critique import claims as claim_guards
from guardgraph.guards.self_critique import critique as critique_guards
from guardgraph.guards.self_critique import revision as revision_guards
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import MARKERS, SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.world.call import mark_as_instant

_WORDS: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "incident.json").read_text("utf-8"))
_LINES: Final[dict[str, Any]] = _WORDS["lines"]
_POLICY, _BUDGET = SelfCritiquePolicy(), SelfCritiqueBudget()  # what a critic can count on
_ROOM: Final = _BUDGET.max_draft_chars - 40
"""What a draft has room for: the rest is left for the note that a critic may ask for."""
_SECTION, _SHORT, _READ, _MOST = 450, 120, 20_000, 200
"""Characters of a section, of a text that is part of a sentence, and of a text that is read; items that are read."""

_TAG = re.compile(r"<(h[1-6]|script|style|pre)\b[^<]{0,2000}</\1\s*>|<!--[^>]{0,2000}-->|</?[a-zA-Z][^<>]{0,400}>")
_PATH = re.compile(
    r"(?<![\w/:.@-])(?:~|\.{1,2}|[a-zA-Z]:)?[/\\]\w|\w\.(?:mdx?|rst|txt|log|csv|json|ya?ml|toml|ini|cfg|conf|sql|sh|xml"
    r"|html?|py|js|ts|go|rb|zip|pdf)\b(?![.-]\w)"
)
"""A path from the root, the home or the folder, or a name that ends like a file's."""
_UNSPACED_END = re.compile(r"(?<=[。！？।])(?=\w)")
_END: Final = (".", "!", "?", "…", "。", "！", "？", "।")


@cache
def _get_markdown_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _read_sentences(text: str) -> list[str]:
    """Return what a text of a record says: no markup, headings, tables, code, links or files."""
    said = list[str]()
    for before, token in pairwise(_get_markdown_parser().parse(_TAG.sub("\n\n", text[:_READ]).lstrip("-\n "))):
        if token.type == "inline" and before.type in ("paragraph_open", "list_item_open"):
            shown = (child for child in token.children or () if child.type in ("text", "code_inline", "softbreak"))
            pieces = (child.content or " " for child in shown)  # a soft break has no content
            said += split_sentences(_UNSPACED_END.sub("\n", "".join(pieces)))
    plain = (item for item in said if split_words(item) and "://" not in item and not _PATH.search(item))
    return [_end_sentence(item.strip(" ,;-–—")) for item in plain if not item.endswith(":")]


def _end_sentence(text: str) -> str:
    return text if not text or text.rstrip("\"')]”’»").endswith(_END) else f"{text}."


def _read_shorts(value: JsonValue) -> list[str]:
    """Return the texts of a sentence's length, without markup and full stop; of an object its name or its longest."""
    if isinstance(value, list):
        return [said for item in value[:_MOST] for said in _read_shorts(item)]
    if isinstance(value, dict):
        inner = {name: " ".join(_read_shorts(item)[:1]) for name, item in [*value.items()][:_MOST]}
        named = next(filter(None, map(inner.get, _WORDS["name"])), max(inner.values(), key=len, default=""))
        return [named] if named else []
    said = " ".join(_read_sentences(value)) if isinstance(value, str) and len(value) < 4 * _SHORT else ""
    return [said.rstrip(".!")] if 0 < len(said) <= _SHORT else []


def _list_shorts(fields: JsonObject, *names: str) -> list[str]:
    return list(dict.fromkeys(said for name in names for said in _read_shorts(fields.get(name)) if said))


def _first_short(fields: JsonObject, *names: str) -> str:
    return next(iter(_list_shorts(fields, *names)), "")


def _read_story(value: JsonValue, depth: int = 4) -> list[str]:
    """Return the sentences of a text, of a list, or of the message of an object: by name, else its longest text."""
    if isinstance(value, str):
        return _read_sentences(value)
    if isinstance(value, list) and depth:
        return [said for item in value[:_MOST] for said in _read_story(item, depth - 1)]
    if not isinstance(value, dict) or not depth:
        return []
    longest = max((text for text in value.values() if isinstance(text, str)), key=len, default="")
    told = (_read_story(value.get(name), depth - 1) for name in _WORDS["story"])
    return next(filter(None, told), _read_sentences(longest) if len(longest.split()) > 2 else [])


def _join_items(items: list[str]) -> str:
    *most, last = items or [""]
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last


def _describe_amount(value: JsonValue, factor: int = 1) -> str:
    """Return a number as it is read, without an exponent and rounding; blank for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (value == 0 or 1e-6 <= value < 1e7):
        return ""
    said = f"{Decimal(str(value)) * factor:f}"
    return said.rstrip("0").rstrip(".") if "." in said else said


def _describe_share(name: str, value: JsonValue) -> str:
    """Return a share with what it is of: *27% of checkouts are affected*, for ``affected_checkout_pct``."""
    *words, unit = name.lower().split("_")
    said = _describe_amount(value, _WORDS["shares"].get(unit, 1)) if unit in _WORDS["shares"] else ""
    state = next((word for word in words if word in _WORDS["states"]), "")
    things = " ".join(word for word in words if word != state)
    return f"{said}% of {things.rstrip('s')}s {_WORDS['states'][state]}" if said and state and things else ""


class _Update:
    """The lines of an update on the incident of one context; what the guards would refuse is left out."""

    def __init__(self, context: JsonValue) -> None:
        self.context: JsonObject = context if isinstance(context, dict) else {}
        incident, hints = self.context.get("incident"), self.context.get("policy_hints")
        self.fields: JsonObject = {**self.context, **incident} if isinstance(incident, dict) else self.context
        self.hints: JsonObject = hints if isinstance(hints, dict) else {}
        self.required = _list_given_texts(self.hints.get("required_sections"))
        given: JsonValue = next((told for name in _WORDS["updates"] if (told := self.fields.get(name))), [])
        updates = [*given.values()] if isinstance(given, dict) else given if isinstance(given, list) else [given]
        times = [_first_short(item, *_WORDS["time"]) if isinstance(item, dict) else "" for item in updates]
        # In the order of their times where each has one, else as they stand.
        self.updates = (
            [updates[at] for at in sorted(range(len(times)), key=times.__getitem__)] if all(times) else updates
        )
        latest = self.updates[-1] if self.updates else None
        own = _first_short(latest, "status") if isinstance(latest, dict) else ""
        status = _first_short(self.fields, *_WORDS["status"]) or own
        self.status = status.replace("_", " ")
        over: JsonObject = {"incident": {"status": self.status}}
        self.is_over = claim_guards.is_licensed("closures", over, avoid_absolute_guarantees=True)

    def is_allowed(self, text: str) -> bool:
        """Say whether a text may stand in an update, as a sentence or several."""
        try:
            revision_guards.parse_draft(_end_sentence(text), context=self.context, max_chars=10 * _ROOM, policy=_POLICY)
        except Stop:
            return False
        return not self.list_claims(text)

    def list_claims(self, text: str) -> list[str]:
        """Name the restricted claims of a text that nothing in the context licenses."""
        strictly = self.hints.get("avoid_absolute_guarantees") is True
        return claim_guards.forbidden_claims(text, self.context, avoid_absolute_guarantees=strictly)

    def choose(self, *texts: str) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.is_allowed(text)), "")

    def fill(self, line: str, items: list[str], room: int = _SECTION) -> str:
        """Return a line with as many of the items as fit, blank if it may not stand in an update."""
        said = [_LINES[line].format(_join_items(items[:most])) for most in range(len(items), 0, -1)]
        return self.choose(*(text for text in said if len(text) <= room))

    def write_section(self, name: str, room: int = _SECTION) -> str:
        """Return one section of the update: a known one, or what the context says under its name."""
        if name == "current_status" and self.status:
            return self.choose(*(line.format(self.status) for line in (_LINES["status"], *_LINES["unsure"])))
        if name == "customer_impact":
            shares = [said for field, value in self.fields.items() if (said := _describe_share(field, value))]
            impact = self.fill("impact", [*_list_shorts(self.fields, *_WORDS["impact"]), *shares], room)
            return impact or self.fill("affected", _list_shorts(self.fields, *_WORDS["affected"]), room)
        if name == "next_actions":
            actions = _list_shorts(self.fields, *_WORDS["actions"])
            first = [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in actions]
            lead = "" if first[:1] and first[0].startswith("we ") else "we will "
            return self.fill("actions", [f"{lead}{first[0]}", *first[1:]] if first else [], room)
        label = name.replace("_", " ").capitalize()
        given = _list_shorts(self.fields, name)
        return self.choose(*(f"{label}: {item}" for item in given if len(item) + len(label) < room))

    def write_opening(self) -> str:
        """Say for whom the update is, what it is about and as of when."""
        title, number = _first_short(self.fields, *_WORDS["name"]), _first_short(self.fields, *_WORDS["number"])
        whom, level, when = (
            _join_items(_list_shorts(self.fields, name)) for name in ("region", "severity", "report_date")
        )
        what = f"incident {number}" if number else "the current incident"
        start = f"This is an update{f' for our {whom} customers' if whom else ''} on"
        rest = f"{f' (severity {level})' if level else ''}{f' as of {when}' if when else ''}"
        named = f"{start} {f'{what}, ' if number else 'the incident '}“{title}”{rest}" if title else ""
        return self.choose(named, f"{start} {what}{rest}", "This is an update on the current incident")

    def write_story(self, room: int) -> list[str]:
        """Return what was reported and the latest update, in whole sentences."""
        told = next(filter(None, (_read_story(self.fields.get(name)) for name in _WORDS["story"])), [])
        reported = told or _read_story(self.updates[:1])
        news = [said for said in _read_story(self.updates[-1:]) if said not in reported]
        latest = self._tell(_LINES["latest"], news, room // 2)
        return [self._tell(_LINES["reported"], reported, room - len(latest)), latest]

    def _tell(self, line: str, sentences: list[str], room: int) -> str:
        told = ""
        for sentence in sentences[:_MOST]:
            if len(line.format(f"{told} {sentence}".strip())) <= room:
                told = f"{told} {sentence}".strip() if self.is_allowed(line.format(sentence)) else told
            elif told:
                break
            else:
                return self.choose(line.format(sentence)[: room - 1].rpartition(" ")[0].rstrip(",;:–—-") + "…")
        return line.format(told) if told else ""

    def write_estimate(self) -> str:
        """Say how long recovery is estimated to take; nothing of what is over."""
        found = ((_describe_amount(self.fields.get(name)), unit) for name, unit in _WORDS["eta"].items())
        said = [f"{amount}{unit.rstrip('s') if amount == '1' else unit}" for amount, unit in found if amount and unit]
        return "" if self.is_over else self.fill("eta", said[:1] or _list_shorts(self.fields, "eta"))


def _list_given_texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _read_given_text(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""


@mark_as_instant
def write_offline_draft(view: JsonObject) -> JsonObject:
    """Write an update from the incident context: status, what happened, impact, next actions, estimate."""
    update = _Update(view.get("incident_context"))
    opening, status = update.write_opening(), update.write_section("current_status")
    affected = update.fill("affected", _list_shorts(update.fields, *_WORDS["affected"]))
    impact = [line for line in dict.fromkeys((update.write_section("customer_impact"), affected)) if line]
    actions, estimate = update.write_section("next_actions"), update.write_estimate()
    after = [*impact, _LINES["apology"] if impact else "", actions, estimate]
    taken = sum(len(line) + 2 for line in (opening, status or _LINES["no_status"], *after, _LINES["more"]))
    story = update.write_story(_ROOM - taken)
    told = [opening, status or _LINES["no_status"] if any((*story, status, affected)) else "", *story, *after]
    if not any(told[2:]):
        told.append(_LINES["more"])
    elif told[1] and not actions and not estimate and not update.is_over:
        told.append(_LINES["actions"].format(_LINES["more"][:1].lower() + _LINES["more"][1:]))
    text = ""
    for line in (_end_sentence(line) for line in told if line):
        longer = f"{text} {line}".strip()
        text = longer if len(longer) <= _ROOM and update.is_allowed(longer) else text
    return {"draft": text}


@mark_as_instant
def shorten_offline_draft(view: JsonObject) -> JsonObject:
    """Cut a draft after the last sentence that fits, or where none does, after the last word."""
    limit, text = view.get("max_chars"), _read_given_text(view.get("draft"))
    if not isinstance(limit, int) or len(text) <= limit:
        return {"draft": text}
    kept, end = "", 0
    for sentence in split_sentences(text):
        end = text.index(sentence, end) + len(sentence)
        kept = text[:end] if end <= limit else kept
    return {"draft": kept or text[: max(limit + 1, 0)].rpartition(" ")[0] or text[: max(limit, 0)]}


@mark_as_instant
def revise_offline_draft(view: JsonObject) -> JsonObject:
    """Make the required changes and nothing else."""
    changes, markers = _list_given_texts(view.get("required_changes")), view.get("markers") or MARKERS
    return {"revised_answer": apply_required_changes(_read_given_text(view.get("draft")), changes, markers)}


class _Finding(NamedTuple):
    """Something wrong with a draft."""

    note: str
    change: str  # what mends it; blank where nothing that can be enforced does
    risk: str = ""  # the type of risk, where it is one


@mark_as_instant
def critique_offline_draft(view: JsonObject) -> JsonObject:
    """Review a draft by rules: restricted claims, missing sections, estimates without a word of doubt."""
    update, text = _Update(view.get("incident_context")), _read_given_text(view.get("draft"))
    findings = [*_review_draft(text, update)]
    changes = list(dict.fromkeys(finding.change for finding in findings if finding.change))
    mended = all(finding.change for finding in findings) and _is_passing_patch(text, changes, update)
    allowed, reason = _list_given_texts(view.get("allowed_risk_types")), " ".join(finding.note for finding in findings)
    notes = {finding.risk: finding.note for finding in reversed(findings) if finding.risk in allowed}
    return {
        "decision": "approve" if not findings else "revise" if mended else "escalate",
        "severity": "low" if not findings else "medium" if mended else "high",
        "risks": [{"type": kind, "note": notes[kind]} for kind in sorted(notes)],
        "required_changes": changes[: _BUDGET.max_required_changes],
        "reason": reason if mended or not findings else f"More than a patch can mend. {reason}",
    }


def _review_draft(text: str, update: _Update) -> Iterator[_Finding]:
    """Yield what is wrong: claims, the sections that go with them, missing ones, estimates that sound certain."""
    removed = list[str]()
    for sentence in split_sentences(text):
        if claims := update.list_claims(sentence):
            removed.append(_make_required_change("MUST_REMOVE", sentence.rstrip(".!?… ")))
            yield _Finding(f"The draft claims: {', '.join(claims)}.", removed[-1], "overconfidence")
    rest = apply_required_changes(text, removed)
    for name in dict.fromkeys((*_WORDS["cues"], *update.required)):
        was_lost = _has_update_section(text, name, update) and not _has_update_section(rest, name, update)
        line = update.write_section(name, critique_guards.PHRASE_CHARS[1]) or (
            _LINES["no_status"] if name == "current_status" else ""
        )
        if (was_lost and line) or (name in update.required and not _has_update_section(rest, name, update)):
            what = "Without its claims the draft lacks" if was_lost else "The draft lacks"
            yield _Finding(f"{what} a section: {name[:80]}.", _make_required_change("MUST_INCLUDE", line))
            rest = f"{rest} {line}."
    is_hedged = any(has_phrase(rest, phrase) for phrase in _WORDS["uncertain"])
    if not update.is_over and not is_hedged and any(map(_is_estimate, split_sentences(rest))):
        note = "The draft states an estimate as if it could not change."
        yield _Finding(note, _make_required_change("MUST_INCLUDE", _LINES["uncertain"]), "missing_uncertainty")


def _is_estimate(sentence: str) -> bool:
    is_timed = re.search(r"\d\s*(?:min|hours?\b|hrs?\b|days?\b)", sentence, re.IGNORECASE) is not None
    return is_timed and not set(_WORDS["estimating"]).isdisjoint(list_word_keys(sentence))


def _has_update_section(text: str, name: str, update: _Update) -> bool:
    cues = [*_WORDS["cues"].get(name, [name.replace("_", " ")]), *([update.status] if name == "current_status" else [])]
    return any(split_words(cue) and has_phrase(text, cue) for cue in cues)


def _make_required_change(marker: str, phrase: str) -> str:
    item = f'{marker} "{phrase}"'
    return item if critique_guards.parse_required_change(item) is not None else ""


def _is_passing_patch(text: str, changes: list[str], update: _Update) -> bool:
    """Try the changes out: the guards of the default budget let them pass, and they leave an update."""
    edited, hinted = apply_required_changes(text, changes), update.hints.get("max_length_increase_pct")
    try:
        revision_guards.check_revision_patch(
            edited,
            draft=text,
            context=update.context,
            required_changes=changes,
            budget=_BUDGET,
            hinted_length_increase_pct=hinted if isinstance(hinted, int | float) else None,
            avoid_absolute_guarantees=update.hints.get("avoid_absolute_guarantees") is True,
            policy=_POLICY,
        )
    except Stop:
        return False
    is_update = any(_has_update_section(edited, name, update) for name in _WORDS["cues"])
    removes = any(change.startswith("MUST_REMOVE") for change in changes)
    return len(changes) <= _BUDGET.max_required_changes and (is_update or not removes)

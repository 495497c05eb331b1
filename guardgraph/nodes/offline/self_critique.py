"""The Self-critique agent's offline proposers: rules without a model, the same text for the same input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import has_phrase, list_word_keys, split_words
from guardgraph.guards import self_critique as guards
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import MARKERS, SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.world.call import mark_as_instant

_WORDS: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "incident.json").read_text("utf-8"))
_LINES: Final[dict[str, Any]] = _WORDS["lines"]
_POLICY, _BUDGET = SelfCritiquePolicy(), SelfCritiqueBudget()
"""What a critic can count on."""
_ROOM: Final = _BUDGET.max_draft_chars - 40
"""What a draft has room for: the rest is left for the note that a critic may ask for."""
_SECTION, _SHORT, _READ, _MOST = 450, 120, 20_000, 200
"""Characters of a section, of a text that is part of a sentence, and of a text that is read; items that are read."""

_TAG = re.compile(r"<(h[1-6]|script|style|pre)\b[^<]{0,2000}</\1\s*>|<!--[^>]{0,2000}-->|</?[a-zA-Z][^<>]{0,400}>")
_PATH = re.compile(
    r"(?<![\w:.@-])[a-zA-Z]:\\\S|(?<![\w/:.@-])(?:~|\.{1,2})?/(?:var|etc|opt|home|usr|srv|tmp|root|mnt|dev|data|app)/[\w.@-]"
    r"|[/\\]?[\w@-]{1,100}\.(?:mdx?|rst|txt|log|csv|json|ya?ml|toml|ini|cfg|conf|sql|sh|xml|html?|py|js|ts|go|rb|zip|pdf)"
    r"\b(?![.-]\w)"
)
"""An absolute path (the directories of the Filesystem Hierarchy Standard), or a name that ends like a file's."""
_END: Final = (".", "!", "?", "…", "。", "！", "？", "।")


@cache
def _get_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def has_file_path(text: str) -> bool:
    """Say whether a text names a file."""
    return _PATH.search(text) is not None


def read_prose_sentences(text: str) -> Iterator[str]:
    """Yield what a text of a record says, sentence by sentence: no markup, headings, tables, code, links or files."""
    before = ""
    for token in _get_parser().parse(_TAG.sub("\n\n", text[:_READ]).lstrip("-\n ")):
        if token.type == "inline" and before in ("paragraph_open", "list_item_open"):
            said = "".join(
                child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
                for child in token.children or ()
            )
            for sentence in split_sentences(re.sub(r"(?<=[。！？।])(?=\w)", "\n", said)):
                if (
                    split_words(sentence)
                    and not sentence.endswith(":")
                    and "://" not in sentence
                    and not has_file_path(sentence)
                ):
                    yield _end_sentence(sentence.strip(" ,;-–—"))
        before = token.type


def _end_sentence(text: str) -> str:
    return text if not text or text.rstrip("\"')]”’»").endswith(_END) else f"{text}."


def _read_short(value: JsonValue) -> str:
    """Return a text of a sentence's length without markup and full stop, of an object or a list the longest."""
    if isinstance(value, dict | list):
        return max(
            map(_read_short, [*(value.values() if isinstance(value, dict) else value)][:_MOST]), key=len, default=""
        )
    said = " ".join(read_prose_sentences(value)) if isinstance(value, str) and len(value) < 4 * _SHORT else ""
    return said.rstrip(".!") if len(said) <= _SHORT else ""


def _list_shorts(fields: JsonObject, *names: str) -> list[str]:
    """Return the short texts of fields that are one or a list of them; of objects their names."""
    values = [item for name in names for item in _list_items(fields.get(name))]
    named = (_first_short(item, _WORDS["name"]) if isinstance(item, dict) else _read_short(item) for item in values)
    return list(dict.fromkeys(filter(None, named)))


def _list_items(value: JsonValue) -> list[JsonValue]:
    return value[:_MOST] if isinstance(value, list) else [value]


def _first_short(fields: JsonObject, names: Iterable[str]) -> str:
    return next((said for name in names if (said := _read_short(fields.get(name)))), "")


def _read_story(value: JsonValue, depth: int = 4) -> list[str]:
    """Return the sentences of a text, of a list, or of the message of an object: by name, else its longest text."""
    if isinstance(value, str):
        return [*read_prose_sentences(value)]
    if isinstance(value, list) and depth:
        return [said for item in value[:_MOST] for said in _read_story(item, depth - 1)]
    if not isinstance(value, dict) or not depth:
        return []
    longest = max((text for text in value.values() if isinstance(text, str)), key=len, default="")
    told = (_read_story(value.get(name), depth - 1) for name in _WORDS["story"])
    return next(filter(None, told), [*read_prose_sentences(longest)] if len(longest.split()) > 2 else [])


def _join(items: list[str]) -> str:
    *most, last = items or [""]
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last


def _describe_amount(value: JsonValue, factor: int = 1) -> str:
    """Return a number as it is read, without an exponent and rounding; blank for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e7 or 0 < value < 1e-6:
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
        self.required = _list_texts(self.hints.get("required_sections"))
        self.updates = self._list_updates()
        latest = self.updates[-1] if self.updates else None
        told = latest.get("status") if isinstance(latest, dict) else None
        self.status = (_first_short(self.fields, _WORDS["status"]) or _read_short(told)).replace("_", " ")
        over: JsonObject = {"incident": {"status": self.status}}
        self.is_over = guards.is_licensed("closures", over, avoid_absolute_guarantees=True)

    def _list_updates(self) -> list[JsonValue]:
        """Return the updates in the order of their times where each has one, else as they stand."""
        given: JsonValue = next((told for name in _WORDS["updates"] if (told := self.fields.get(name))), [])
        items = _list_items([*given.values()] if isinstance(given, dict) else given)
        times = [_first_short(item, _WORDS["time"]) if isinstance(item, dict) else "" for item in items]
        return [items[at] for at in sorted(range(len(times)), key=times.__getitem__)] if all(times) else items

    def is_allowed(self, text: str) -> bool:
        """Say whether a text may stand in an update, as a sentence or several."""
        try:
            guards.parse_draft(_end_sentence(text), context=self.context, max_chars=10 * _ROOM, policy=_POLICY)
        except Stop:
            return False
        return not self.list_claims(text)

    def list_claims(self, text: str) -> list[str]:
        """Name the restricted claims of a text that nothing in the context licenses."""
        strictly = self.hints.get("avoid_absolute_guarantees") is True
        return guards.forbidden_claims(text, self.context, avoid_absolute_guarantees=strictly)

    def choose(self, *texts: str) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.is_allowed(text)), "")

    def fill(self, line: str, items: list[str], room: int = _SECTION) -> str:
        """Return a line with as many of the items as fit, blank if it may not stand in an update."""
        said = [_LINES[line].format(_join(items[:most])) for most in range(len(items), 0, -1)]
        return self.choose(*(text for text in said if len(text) <= room))

    def write_section(self, name: str, room: int = _SECTION) -> str:
        """Return one section of the update: a known one, or what the context says under its name."""
        if name == "current_status" and self.status:
            unsure = [line.format(self.status) for line in _LINES["unsure"]] if self.list_claims(self.status) else []
            return self.choose(_LINES["status"].format(self.status), *unsure)
        if name == "customer_impact":
            shares = [said for field, value in self.fields.items() if (said := _describe_share(field, value))]
            impact = [*_list_shorts(self.fields, *_WORDS["impact"]), *shares]
            return self.fill("impact", impact, room) or self.fill(
                "affected", _list_shorts(self.fields, *_WORDS["affected"]), room
            )
        if name == "next_actions":
            actions = _list_shorts(self.fields, *_WORDS["actions"])
            first = [text[:1].lower() + text[1:] if text[1:2].islower() else text for text in actions]
            lead = [] if first[:1] and first[0].startswith("we ") else ["we will "]
            return self.fill("actions", ["".join([*lead, first[0]]), *first[1:]] if first else [], room)
        label = name.replace("_", " ").capitalize()
        return self.choose(
            *(f"{label}: {said}" for said in _list_shorts(self.fields, name) if len(said) + len(label) < room)
        )

    def write_opening(self) -> str:
        """Say for whom the update is, what it is about and as of when."""
        title, number = _first_short(self.fields, _WORDS["name"]), _first_short(self.fields, _WORDS["number"])
        whom, what = (
            _join(_list_shorts(self.fields, "region")),
            f"incident {number}" if number else "the current incident",
        )
        level, when = _first_short(self.fields, ["severity"]), _first_short(self.fields, ["report_date"])
        start = f"This is an update{f' for our {whom} customers' if whom else ''} on"
        rest = f"{f' (severity {level})' if level else ''}{f' as of {when}' if when else ''}"
        named = [f"{start} {f'{what}, ' if number else 'the incident '}“{title}”{rest}"] if title else []
        return self.choose(*named, f"{start} {what}{rest}", "This is an update on the current incident")

    def write_story(self, room: int) -> list[str]:
        """Return what was reported and the latest update, in whole sentences."""
        told = next(filter(None, (_read_story(self.fields.get(name)) for name in _WORDS["story"])), [])
        reported = told or _read_story(self.updates[:1])
        news = [said for said in _read_story(self.updates[-1:]) if said not in reported]
        latest = self._tell("latest", news, room // 2)
        return [line for line in (self._tell("reported", reported, room - len(latest)), latest) if line]

    def _tell(self, line: str, sentences: list[str], room: int) -> str:
        told = ""
        for sentence in sentences[:_MOST]:
            longer = f"{told} {sentence}".strip()
            if len(_LINES[line].format(longer)) <= room:
                told = longer if self.is_allowed(_LINES[line].format(sentence)) else told
            elif told:
                break
            else:
                return self.choose(_LINES[line].format(sentence)[: room - 1].rpartition(" ")[0].rstrip(",;:–—-") + "…")
        return _LINES[line].format(told) if told else ""

    def write_estimate(self) -> str:
        """Say how long recovery is estimated to take; nothing of what is over."""
        found = ((_describe_amount(self.fields.get(name)), unit) for name, unit in _WORDS["eta"].items())
        said = [f"{amount}{unit.rstrip('s') if amount == '1' else unit}" for amount, unit in found if amount and unit]
        return "" if self.is_over else self.fill("eta", said[:1] or _list_shorts(self.fields, "eta"))


def _list_texts(value: JsonValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _read_text(value: JsonValue) -> str:
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
    story = update.write_story(
        _ROOM - sum(len(line) + 2 for line in (opening, status, *after, *_LINES["no_status"][:60]))
    )
    told = [opening, status or _LINES["no_status"] if story or status or affected else "", *story, *after]
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
    limit, text = view.get("max_chars"), _read_text(view.get("draft"))
    if not isinstance(limit, int) or len(text) <= limit:
        return {"draft": text}
    ends = [0]
    for sentence in split_sentences(text):
        ends.append(text.index(sentence, ends[-1]) + len(sentence))
    head = text[: max(limit, 0) + 1]
    return {
        "draft": text[: max(end for end in ends if end <= max(limit, 0))] or " ".join(head.split()[:-1]) or head[:-1]
    }


@mark_as_instant
def revise_offline_draft(view: JsonObject) -> JsonObject:
    """Make the required changes and nothing else."""
    changes, markers = _list_texts(view.get("required_changes")), view.get("markers") or MARKERS
    return {"revised_answer": apply_required_changes(_read_text(view.get("draft")), changes, markers)}


class _Finding(NamedTuple):
    """Something wrong with a draft."""

    note: str
    change: str
    """What mends it; blank where nothing that can be enforced does."""
    risk: str = ""
    """The type of risk, where it is one."""


@mark_as_instant
def critique_offline_draft(view: JsonObject) -> JsonObject:
    """Review a draft by rules: restricted claims, missing sections, estimates without a word of doubt."""
    update, text = _Update(view.get("incident_context")), _read_text(view.get("draft"))
    findings = [*_review_draft(text, update)]
    changes = list(dict.fromkeys(finding.change for finding in findings if finding.change))
    mended = all(finding.change for finding in findings) and _is_passing_patch(text, changes, update)
    allowed, reason = _list_texts(view.get("allowed_risk_types")), " ".join(finding.note for finding in findings)
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
            removed.append(_make_change("MUST_REMOVE", sentence.rstrip(".!?… ")))
            yield _Finding(f"The draft claims: {', '.join(claims)}.", removed[-1], "overconfidence")
    rest = apply_required_changes(text, removed)
    for name in dict.fromkeys((*_WORDS["cues"], *update.required)):
        was_lost = _has_section(text, name, update) and not _has_section(rest, name, update)
        line = update.write_section(name, guards.PHRASE_CHARS[1]) or (
            _LINES["no_status"] if name == "current_status" else ""
        )
        if (was_lost and line) or (name in update.required and not _has_section(rest, name, update)):
            what = "Without its claims the draft lacks" if was_lost else "The draft lacks"
            yield _Finding(f"{what} a section: {name[:80]}.", _make_change("MUST_INCLUDE", line))
            rest = f"{rest} {line}."
    is_hedged = any(has_phrase(rest, phrase) for phrase in _WORDS["uncertain"])
    if not update.is_over and not is_hedged and any(map(_is_estimate, split_sentences(rest))):
        note = "The draft states an estimate as if it could not change."
        yield _Finding(note, _make_change("MUST_INCLUDE", _LINES["uncertain"]), "missing_uncertainty")


def _is_estimate(sentence: str) -> bool:
    is_timed = re.search(r"\d\s*(?:min|hours?\b|hrs?\b|days?\b)", sentence, re.IGNORECASE) is not None
    return is_timed and not set(_WORDS["estimating"]).isdisjoint(list_word_keys(sentence))


def _has_section(text: str, name: str, update: _Update) -> bool:
    cues = [*_WORDS["cues"].get(name, [name.replace("_", " ")]), *([update.status] if name == "current_status" else [])]
    return any(split_words(cue) and has_phrase(text, cue) for cue in cues)


def _make_change(marker: str, phrase: str) -> str:
    item = f'{marker} "{phrase}"'
    return item if guards.parse_required_change(item) is not None else ""


def _is_passing_patch(text: str, changes: list[str], update: _Update) -> bool:
    """Try the changes out: the guards of the default budget let them pass, and they leave an update."""
    edited, hinted = apply_required_changes(text, changes), update.hints.get("max_length_increase_pct")
    try:
        guards.check_revision_patch(
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
    is_update = any(_has_section(edited, name, update) for name in _WORDS["cues"])
    removes = any(change.startswith("MUST_REMOVE") for change in changes)
    return len(changes) <= _BUDGET.max_required_changes and (is_update or not removes)

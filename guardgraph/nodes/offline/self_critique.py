"""The Self-critique agent's offline proposers: rules without a model, the same text for the same input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from typing import Any, Final

from markdown_it import MarkdownIt

from guardgraph.grounding.sentences import find_sentence_spans, split_sentences
from guardgraph.grounding.words import has_phrase, list_word_keys, split_words
from guardgraph.guards.self_critique import claims, critique, revision
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import MARKERS, SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.world.call import mark_as_instant

_WORDS: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "incident.json").read_text("utf-8"))
_LINES: Final[dict[str, Any]] = _WORDS["lines"]
_POLICY, _BUDGET = SelfCritiquePolicy(), SelfCritiqueBudget()  # what a critic can count on
_ROOM: Final = _BUDGET.max_draft_chars - 40  # for a draft: the rest is left for the note that a critic may ask for
_SECTION, _SHORT, _READ, _MOST = 450, 120, 20_000, 200
"""Characters of a section, of a text that is part of a sentence, and of a text that is read; items that are read."""

_TAG = re.compile(r"<(h[1-6]|script|style|pre)\b[^<]{0,2000}</\1\s*>|<!--[^>]{0,2000}-->|</?[a-zA-Z][^<>]{0,400}>")
_PATH = re.compile(
    r"(?<![\w/:.@-])(?:~|\.{1,2}|[a-zA-Z]:)?[/\\]\w|\w\.(?:mdx?|rst|txt|log|csv|json|ya?ml|toml|ini|cfg|conf|sql|sh|xml"
    r"|html?|py|js|ts|go|rb|zip|pdf)\b(?![.-]\w)"
)
"""A path from the root, the home or the folder, or a name that ends like a file's."""
_UNSPACED_END = re.compile(r"(?<=[。！？।])(?=\w)")
_TIMED = re.compile(r"\d\s*(?:min|hours?\b|hrs?\b|days?\b)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_END: Final = (".", "!", "?", "…", "。", "！", "？", "।")
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


def _read_sentences(text: str) -> list[str]:
    """Return what a text of a record says: no markup, headings, tables, code, links or files."""
    said = list[str]()
    for before, token in pairwise(_MARKDOWN.parse(_TAG.sub("\n\n", text[:_READ]).lstrip("-\n "))):
        if token.type == "inline" and before.type in ("paragraph_open", "list_item_open"):
            shown = (child for child in token.children or () if child.type in ("text", "code_inline", "softbreak"))
            pieces = (child.content or " " for child in shown)  # a soft break has no content
            said += split_sentences(_UNSPACED_END.sub("\n", "".join(pieces)))
    plain = (item for item in said if split_words(item) and "://" not in item and not _PATH.search(item))
    return [_end_sentence(item.strip(" ,;-–—")) for item in plain if not item.endswith(":")]


def _end_sentence(text: str) -> str:
    return text if text.rstrip("\"')]”’»").endswith(_END) else f"{text}."


def _find_texts(value: JsonValue, names: Sequence[str], depth: int = 4) -> Iterator[str]:
    """Yield the texts of a value: of an object the one under the first of the names, else its longest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value[:_MOST]:
            yield from _find_texts(item, names, depth - 1)
    elif isinstance(value, dict) and depth:
        longest = max((text for text in value.values() if isinstance(text, str)), key=len, default="")
        yield from _find_texts(next(filter(None, map(value.get, names)), longest), names, depth - 1)


def _read_story(value: JsonValue) -> list[str]:
    """Return the sentences of the messages in a value; a time or a state alone is none."""
    told = (text for text in _find_texts(value, _WORDS["story"]) if len(_LETTERS.findall(text)) > 1)
    return [sentence for text in told for sentence in _read_sentences(text)]


def _list_shorts(fields: JsonValue, names: Sequence[str]) -> list[str]:
    """Return the texts of some fields that fit into a sentence, without a full stop, each once."""
    if not isinstance(fields, dict):
        return []
    found = (text for name in names for text in _find_texts(fields.get(name), _WORDS["name"]))
    said = (" ".join(_read_sentences(text)) for text in found if len(text) < 4 * _SHORT)
    return list(dict.fromkeys(text.rstrip(".!") for text in said if text and len(text) <= _SHORT))


def _join_items(items: list[str]) -> str:
    *most, last = items or [""]
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last


def _describe_amount(value: JsonValue, factor: int = 1) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e7:
        return ""
    return f"{value * factor:.10g}"


def _describe_share(name: str, value: JsonValue) -> str:
    """Return a share with what it is of: *27% of checkouts are affected*, for ``affected_checkout_pct``."""
    *words, unit = name.lower().split("_")
    state = next((word for word in words if word in _WORDS["states"]), "")
    things = " ".join(word for word in words if word != state)
    said = _describe_amount(value, _WORDS["shares"].get(unit, 0))
    known = state and things and unit in _WORDS["shares"]
    return f"{said}% of {things.rstrip('s')}s {_WORDS['states'][state]}" if said and known else ""


class _Update:
    """The lines of an update on the incident of one context; what the guards would refuse is left out."""

    def __init__(self, context: JsonObject) -> None:
        incident, self.hints = context.get("incident"), context.get("policy_hints", {})
        self.context = context
        self.fields: JsonObject = {**context, **incident} if isinstance(incident, dict) else context
        self.is_strict = self.hints.get("avoid_absolute_guarantees") is True
        self.required = [*_find_texts(self.hints.get("required_sections"), ())]
        given: JsonValue = next(filter(None, map(self.fields.get, _WORDS["updates"])), [])
        updates = [*given.values()] if isinstance(given, dict) else given if isinstance(given, list) else [given]
        read_time = partial(_list_shorts, names=_WORDS["time"])
        self.updates = sorted(updates, key=read_time) if all(map(read_time, updates)) else updates
        status = _list_shorts(self.fields, _WORDS["status"]) or _list_shorts([None, *self.updates][-1], ["status"])
        self.status = "".join(status[:1]).replace("_", " ")
        over: JsonObject = {"incident": {"status": self.status}}
        self.is_over = claims.is_licensed("closures", over, avoid_absolute_guarantees=True)

    def list_claims(self, text: str) -> list[str]:
        return claims.forbidden_claims(text, self.context, avoid_absolute_guarantees=self.is_strict)

    def is_allowed(self, text: str) -> bool:
        try:
            revision.parse_draft(_end_sentence(text), context=self.context, max_chars=10 * _ROOM, policy=_POLICY)
        except Stop:
            return False
        return not self.list_claims(text)

    def choose(self, *texts: str) -> str:
        """Return the first text that may stand in an update, blank if none may."""
        return next((text for text in texts if text and self.is_allowed(text)), "")

    def write_section(self, name: str, room: int = _SECTION) -> str:
        """Return one section, with as many items as fit; blank where the context has none, or none may be said."""
        if name == "current_status":
            ways = (line.format(self.status) for line in _WORDS["status_lines"] if self.status)
            return self.choose(*ways) or _LINES["no_status"]
        items = _list_shorts(self.fields, _WORDS["sections"].get(name, [name]))
        if name == "customer_impact":
            items += filter(None, (_describe_share(field, value) for field, value in self.fields.items()))
        if name == "next_actions" and items and not (first := items[0]).lower().startswith("we "):
            items[0] = f"we will {first[:1].lower() + first[1:] if first[1:2].islower() else first}"
        if name == "eta":
            found = ((_describe_amount(self.fields.get(field)), unit) for field, unit in _WORDS["units"].items())
            said = [f"{amount} {unit.rstrip('s') if amount == '1' else unit}" for amount, unit in found if amount]
            items = [] if self.is_over else said[:1] or items
        line = _LINES.get(name, name.replace("_", " ").capitalize() + ": {}")
        ways = (line.format(_join_items(items[:most])) for most in range(len(items), 0, -1))
        written = self.choose(*(text for text in ways if len(text) <= room))
        return written or (self.write_section("affected", room) if name == "customer_impact" else "")

    def write_opening(self) -> str:
        """Say for whom the update is, what it is about and as of when."""
        found = {name: _list_shorts(self.fields, _WORDS[name])[:most] for name, most in _WORDS["most"].items()}
        said = {name: _WORDS["opening"][name].format(_join_items(items)) for name, items in found.items() if items}
        whom, level, when, number = (said.get(name, "") for name in ("region", "severity", "report_date", "number"))
        titled = [f"{number + ',' if number else ' the incident'}{said['name']}"] if "name" in said else []
        ways = (f"{whom} on{what}{level}{when}" for what in (*titled, number or " the current incident"))
        return self.choose(*map("This is an update{}".format, (*ways, " on the current incident")))

    def write_story(self, room: int) -> list[str]:
        """Return what was reported and the latest update, in whole sentences."""
        told = (_read_story(self.fields.get(name)) for name in _WORDS["story"])
        reported = next(filter(None, told), _read_story(self.updates[:1]))
        news = [said for said in _read_story(self.updates[-1:]) if said not in reported]
        latest = self._tell("latest", news, room // 2)
        return [self._tell("reported", reported, room - len(latest)), latest]

    def _tell(self, line: str, sentences: list[str], room: int) -> str:
        allowed = [said for said in sentences[:_MOST] if self.is_allowed(_LINES[line].format(said))]
        ways = (_LINES[line].format(" ".join(allowed[:most])) for most in range(len(allowed), 0, -1))
        short = (shorten(_LINES[line].format(said), max(room, 1), placeholder="…") for said in sentences[:1])
        return next((text for text in ways if len(text) <= room), "") or self.choose(*short)


@mark_as_instant
def write_offline_draft(view: JsonObject) -> JsonObject:
    """Write an update from the incident context: status, what happened, impact, next actions, estimate."""
    update = _Update(view["incident_context"])
    opening, status = update.write_opening(), update.write_section("current_status")
    impact = [*dict.fromkeys(filter(None, map(update.write_section, ("customer_impact", "affected"))))]
    ahead = [*map(update.write_section, ("next_actions", "eta"))]
    after = [*impact, _LINES["apology"] if impact else "", *ahead]
    story = update.write_story(_ROOM - sum(len(line) + 2 for line in (opening, status, *after, _LINES["no_actions"])))
    told = [opening, status, *story, *after]
    if not any((*story, *after, update.status)):
        told = [opening, _LINES["more"]]
    elif not any(ahead) and not update.is_over:
        told.append(_LINES["no_actions"])
    text = ""
    for line in filter(None, told):
        longer = f"{text} {_end_sentence(line)}".strip()
        text = longer if len(longer) <= _ROOM and update.is_allowed(longer) else text
    return {"draft": text}


@mark_as_instant
def shorten_offline_draft(view: JsonObject) -> JsonObject:
    """Cut a draft after the last sentence that fits, or where none does, after the last word."""
    limit, text = max(view["max_chars"], 0), view["draft"].strip()
    fitting = max((end for _, end in find_sentence_spans(text) if end <= limit), default=0)
    return {"draft": text[:fitting] or text[: limit + 1].rpartition(" ")[0] or text[:limit]}


@mark_as_instant
def revise_offline_draft(view: JsonObject) -> JsonObject:
    """Make the required changes and nothing else."""
    markers = view.get("markers", MARKERS)
    return {"revised_answer": apply_required_changes(view["draft"], view["required_changes"], markers)}


@mark_as_instant
def critique_offline_draft(view: JsonObject) -> JsonObject:
    """Review a draft by rules: restricted claims, missing sections, estimates without a word of doubt."""
    update, text = _Update(view["incident_context"]), view["draft"]
    findings = [*_review_draft(text, update)]
    changes = list(dict.fromkeys(change for _, change, _ in findings if change))
    mended = all(change for _, change, _ in findings) and _is_passing_patch(text, changes, update)
    reason = " ".join(note for note, _, _ in findings)
    notes = {risk: note for note, _, risk in reversed(findings)}
    return {
        "decision": "approve" if not findings else "revise" if mended else "escalate",
        "severity": "low" if not findings else "medium" if mended else "high",
        "risks": [{"type": kind, "note": notes[kind]} for kind in view["allowed_risk_types"] if kind in notes],
        "required_changes": changes[: _BUDGET.max_required_changes],
        "reason": reason if mended or not findings else f"More than a patch can mend. {reason}",
    }


def _review_draft(text: str, update: _Update) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong, what mends it, and the type of the risk; blank where there is none."""
    removed = list[str]()
    for sentence in split_sentences(text):
        if claimed := update.list_claims(sentence):
            removed.append(_make_required_change("MUST_REMOVE", sentence.rstrip(".!?… ")))
            yield f"The draft claims: {', '.join(claimed)}.", removed[-1], "overconfidence"
    rest = apply_required_changes(text, removed)
    for name in dict.fromkeys((*_WORDS["cues"], *update.required)):
        if _has_update_section(rest, name, update):
            continue
        line = update.write_section(name, critique.PHRASE_CHARS[1])
        was_lost = _has_update_section(text, name, update)
        if name in update.required or (was_lost and line):
            what = "Without its claims the draft lacks" if was_lost else "The draft lacks"
            yield f"{what} a section: {name[:80]}.", _make_required_change("MUST_INCLUDE", line), ""
            rest = f"{rest} {line}."
    timed = [list_word_keys(sentence) for sentence in split_sentences(rest) if _TIMED.search(sentence)]
    estimates = [words for words in timed if not set(_WORDS["estimating"]).isdisjoint(words)]
    is_hedged = any(has_phrase(rest, phrase) for phrase in _WORDS["uncertain"])
    if estimates and not update.is_over and not is_hedged:
        note = "The draft states an estimate as if it could not change."
        yield note, _make_required_change("MUST_INCLUDE", _LINES["uncertain"]), "missing_uncertainty"


def _has_update_section(text: str, name: str, update: _Update) -> bool:
    cues = [*_WORDS["cues"].get(name, [name.replace("_", " ")]), *([update.status] if name == "current_status" else [])]
    return any(split_words(cue) and has_phrase(text, cue) for cue in cues)


def _make_required_change(marker: str, phrase: str) -> str:
    item = f'{marker} "{phrase}"'
    return item if critique.parse_required_change(item) is not None else ""


def _is_passing_patch(text: str, changes: list[str], update: _Update) -> bool:
    """Try the changes out: the guards of the default budget let them pass, and they leave an update."""
    edited, most = apply_required_changes(text, changes), update.hints.get("max_length_increase_pct")
    asked: Any = {"hinted_length_increase_pct": most, "avoid_absolute_guarantees": update.is_strict}
    asked |= {"context": update.context, "required_changes": changes, "budget": _BUDGET, "policy": _POLICY}
    try:
        revision.check_revision_patch(edited, draft=text, **asked)
    except Stop:
        return False
    is_update = any(_has_update_section(edited, name, update) for name in _WORDS["cues"])
    removes = any(change.startswith("MUST_REMOVE") for change in changes)
    return len(changes) <= _BUDGET.max_required_changes and (is_update or not removes)

"""The critique of a draft, and the changes that it requires: a marker and one quoted phrase each.

A change can be judged by meaning, too: how near the sentences of a text are to its phrase, as an embedding measured.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import (
    DEFAULT_LANGUAGE,
    detect_language,
    has_phrase,
    list_content_words,
    list_word_keys,
    load_negations,
    normalise_spaces,
    split_words,
    stem_words,
)
from guardgraph.guards.links import check_links
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.self_critique.claims import list_context_texts, read_word_set, restricted_claims
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.self_critique import (
    MARKERS,
    ChangeKind,
    ClaimPack,
    Critique,
    Decision,
    Risk,
    SelfCritiquePolicy,
    Severity,
)

_SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")


def parse_critique(
    raw: JsonValue, *, policy: SelfCritiquePolicy, max_risks: int, max_required_changes: int
) -> Critique:
    """Read a critique."""
    if not isinstance(raw, dict):
        raise _build_critique_stop("not_object", raw, "an object")
    decision = _parse_critique_decision(raw.get("decision"), policy.allowed_decisions_policy)
    given = raw.get("severity", "medium")
    severity = given.strip().lower() if isinstance(given, str) else None
    if severity not in _SEVERITIES:
        raise _build_critique_stop("severity", given, "low, medium or high")
    given = raw.get("risks", [])
    if not isinstance(given, list):
        raise _build_critique_stop("risks", given, "a list")
    if len(given) > max_risks:
        raise _build_critique_stop("too_many_risks", len(given), f"at most {max_risks}")
    risks = [_parse_critique_risk(item, policy.allowed_risk_types_policy) for item in given]
    given = raw.get("required_changes", [])
    if not isinstance(given, list):
        raise _build_critique_stop("required_changes", given, "a list")
    if len(given) > max_required_changes:
        raise _build_critique_stop("too_many_required_changes", len(given), f"at most {max_required_changes}")
    for item in given:
        if not isinstance(item, str) or not item.strip():
            raise _build_critique_stop("required_change_item", item, "a text that is not blank")
    changes = [item.strip() for item in given]
    given = raw.get("reason")
    if given is not None and not isinstance(given, str):
        raise _build_critique_stop("reason", given, "a text")
    critique = Critique(
        decision=decision,
        severity=severity,
        risks=risks,
        required_changes=changes,
        reason=(given or "").strip(),
        high_risk=severity == "high" or any(risk["type"] in policy.high_risk_types for risk in risks),
    )
    _check_critique_consistency(critique, policy)
    return critique


def read_text_critique(text: str, markers: Mapping[str, ChangeKind]) -> JsonObject:
    """Return the critique of a text; what decides nothing, and changes that no rule can make, are for a person."""
    if (found := _DECISION.search(text)) is None:
        return {"decision": "escalate", "reason": text}
    decision, rest = found[1].lower(), text[found.end() :]
    if decision == "approve" and (_DECISION.search(rest) or not _is_approval(text)):
        return {"decision": "escalate", "reason": text}
    lines = [said for line in rest.splitlines() if any(map(str.isalnum, said := line.strip(" \t*-\u2022:,.")))]
    changes = [line for line in lines if parse_required_change(line, markers) is not None]
    if decision == "revise" and not changes:
        decision = "escalate"
    reason = " ".join(line for line in lines if line not in changes) or found[0]
    return {"decision": decision, "required_changes": changes, "reason": reason}


_DECISION = re.compile(rf"\b({'|'.join(get_args(Decision))})\b", re.IGNORECASE)
_NO_FURTHER = re.compile(r"(?<=[,;] )no(?= [a-z])")  # *approve, no changes needed* denies changes, not the approval
_APPROVAL = ClaimPack(name="approval", phrases=["approve"])


def _is_approval(text: str) -> bool:
    """Say whether the sentence that approves claims it, and denies nothing: not *I would approve it*, *Approve: no*."""
    said = next(sentence for sentence in split_sentences(text.replace(":\n", ": ")) if _DECISION.search(sentence))
    deciding = _NO_FURTHER.sub("", said)
    is_denied = "n't" in deciding.replace("’", "'") or not load_negations().isdisjoint(list_word_keys(deciding))
    return not is_denied and bool(restricted_claims(said, [_APPROVAL]))


def check_critique_links(critique: Critique, *, context: JsonObject, policy: SelfCritiquePolicy | None) -> None:
    """Refuse a critique whose changes, notes of risks or reason have a link that the incident does not have."""
    said = [*critique["required_changes"], *(risk["note"] for risk in critique["risks"]), critique["reason"]]
    check_links(said, "invalid_critique", cited=list_context_texts(context), policy=policy)


def check_decision_execution(decision: str, execution: Collection[str], *, denied: Collection[str] = ()) -> None:
    """Refuse a decision that the runtime does not carry out now."""
    if decision in denied:
        raise Stop(f"critique_decision_denied_listed:{shown_name(decision)}")
    if decision not in execution:
        raise Stop(f"critique_decision_denied_execution:{shown_name(decision)}")


def _parse_critique_decision(given: JsonValue, allowed: Collection[str]) -> Any:
    if not isinstance(given, str) or not given.strip():
        raise _build_critique_stop("decision", given, "a text that is not blank")
    decision = given.strip()
    if decision not in allowed or decision not in get_args(Decision):
        raise Stop(f"critique_decision_not_allowed_policy:{shown_name(decision)}")
    return decision


def _parse_critique_risk(item: JsonValue, allowed: Collection[str]) -> Risk:
    if not isinstance(item, dict):
        raise _build_critique_stop("risk_item", item, "an object")
    kind, note = item.get("type"), item.get("note")
    if not isinstance(kind, str) or not kind.strip():
        raise _build_critique_stop("risk_type", kind, "a text that is not blank")
    if kind.strip() not in allowed:
        raise Stop(f"critique_risk_not_allowed_policy:{shown_name(kind.strip())}")
    if not isinstance(note, str) or not note.strip():
        raise _build_critique_stop("risk_note", note, "a text that is not blank")
    return Risk(type=kind.strip(), note=note.strip())


def _check_critique_consistency(critique: Critique, policy: SelfCritiquePolicy) -> None:
    changes = critique["required_changes"]
    if critique["decision"] == "approve":
        if changes:
            raise _build_critique_stop("approve_with_required_changes", changes[0], "none")
        if critique["high_risk"]:
            raise _build_critique_stop("approve_with_high_risk", _describe_high_risk(critique, policy), "escalate")
    elif critique["decision"] == "revise":
        if not changes:
            raise _build_critique_stop("revise_without_required_changes", changes, "at least one")
        vague = [excerpt_value(item) for item in changes if parse_required_change(item, policy.markers) is None]
        if vague:
            raise Stop("invalid_critique:required_changes_not_enforceable", not_enforceable=vague)
        if opposed := find_contradictory_changes(changes, policy.markers):
            raise _build_critique_stop("required_changes_contradictory", opposed, "changes that one text can have")
        if critique["high_risk"]:
            raise _build_critique_stop("high_risk_requires_escalate", _describe_high_risk(critique, policy), "escalate")
    elif not critique["reason"]:
        raise _build_critique_stop("escalate_reason_required", "", "a reason")


def _describe_high_risk(critique: Critique, policy: SelfCritiquePolicy) -> JsonObject:
    types = sorted({risk["type"] for risk in critique["risks"]} & {*policy.high_risk_types})
    return {"severity": critique["severity"], "risks": types}


def _build_critique_stop(what: str, given: Any, allowed: str) -> Stop:
    return Stop(f"invalid_critique:{what}", details={"given": excerpt_value(given), "allowed": allowed})


PHRASE_CHARS = (3, 160)  # the least and the most characters of a quoted phrase

_SEPARATOR = re.compile(r"[^\w\s]?\s?")
_OPENING = re.compile(r"(?<!\w)'(?=\S)")
_CLOSING = re.compile(r"(?<=\S)'(?!\w)")


_STRONGEST: tuple[ChangeKind, ...] = ("remove", "include", "soften", "mention")
"""Of several markers the one of the first kind holds."""

ADDED: tuple[ChangeKind, ...] = ("include", "mention")
BY_STEMS: tuple[ChangeKind, ...] = ("mention", "soften")
"""Changes that are judged by the stems of a phrase, or by its similarity where an embedding measures it."""

_BETWEEN = 2
"""Words that may stand between two words of a phrase that is to be softened: *will soon be fixed*, and behind it up to
what makes it less: *will be fixed, we hope*."""


class Change(NamedTuple):
    """A phrase, and what a text must do with it."""

    kind: ChangeKind
    phrase: str  # as the critique spells it

    def __str__(self) -> str:
        return f"{self.kind} {self.phrase}"


def parse_required_change(item: str, markers: Mapping[str, ChangeKind] = MARKERS) -> Change | None:
    """Read one required change."""
    kind = _read_change_kind(item.strip().lower(), markers)
    phrase = _read_change_phrase(item)
    least, most = PHRASE_CHARS
    if kind is None or phrase is None or not least <= len(phrase) <= most or not list_word_keys(phrase):
        return None
    return Change(kind, phrase)


def list_enforceable_changes(items: Iterable[str], markers: Mapping[str, ChangeKind] = MARKERS) -> list[Change]:
    """Return the changes that can be enforced, in order, each once, case and punctuation aside."""
    changes = (change for item in items if (change := parse_required_change(item, markers)) is not None)
    distinct: dict[tuple[str, ...], Change] = {}
    for change in changes:
        distinct.setdefault((change.kind, *list_word_keys(change.phrase)), change)
    return list(distinct.values())


def find_unapplied_changes(changes: Iterable[Change], text: str) -> list[Change]:
    """Return the changes that a text does not obey."""
    return [change for change in changes if not is_change_applied(change, text)]


def is_change_applied(change: Change, text: str) -> bool:
    """Say whether a text obeys a change."""
    language = detect_language(text) or DEFAULT_LANGUAGE if change.kind in BY_STEMS else ""
    if change.kind == "mention":
        wanted = set(stem_words(list_content_words(change.phrase, language), language))
        if not wanted:
            return has_phrase(text, change.phrase)
        return any(
            wanted <= set(stem_words(list_content_words(sentence, language), language))
            for sentence in split_sentences(text)
        )
    if change.kind == "soften":
        return not any(_states_phrase(sentence, change.phrase, language) for sentence in split_sentences(text))
    return has_phrase(text, change.phrase) == (change.kind == "include")


def is_hedged(sentence: str) -> bool:
    """Say whether a sentence has a word that makes what it says less than certain."""
    return not read_word_set("hedges").isdisjoint(list_word_keys(sentence))


def _states_phrase(sentence: str, phrase: str, language: str) -> bool:
    """Say whether a sentence has the words of a phrase in order, by their stems, and nothing that makes it less."""
    words = list_word_keys(sentence)
    said, wanted = stem_words(words, language), stem_words(list_word_keys(phrase), language)
    reached = {at for at, word in enumerate(said) if word == wanted[0]}
    for word in wanted[1:]:
        near = {at + step for at in reached for step in range(1, _BETWEEN + 2)}
        reached = {at for at in near if at < len(said) and said[at] == word}
    hedges = read_word_set("hedges")
    hedged = next((at for at, word in enumerate(words) if word in hedges), math.inf)
    return any(at + _BETWEEN < hedged for at in reached)


def find_contradictory_changes(items: Iterable[str], markers: Mapping[str, ChangeKind] = MARKERS) -> list[str]:
    """Return the first two changes that no text can obey both, as strings."""
    changes = list_enforceable_changes(items, markers)
    removed = [change for change in changes if change.kind == "remove"]
    for added in changes:
        for change in removed:
            if added.kind == "include" and has_phrase(added.phrase, change.phrase):
                return [str(added), str(change)]
    return []


def strip_added_phrases(changes: Iterable[Change], draft: str, text: str) -> str:
    """Return a revision without the phrases that it had to add, white space normalised."""
    rest = normalise_spaces(text)
    added = {change.phrase for change in changes if change.kind in ADDED and not has_phrase(draft, change.phrase)}
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


def _read_change_kind(item: str, markers: Mapping[str, ChangeKind]) -> ChangeKind | None:
    found = {
        kind
        for marker, kind in markers.items()
        if (marker.lower() in item if "_" in marker else re.match(rf"{marker.lower()}[\s:-]", item))
    }
    return next((kind for kind in _STRONGEST if kind in found), None)


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


def list_changes_by_stems(items: Iterable[str], markers: Mapping[str, ChangeKind] = MARKERS) -> list[Change]:
    """Return the changes that say what a text must mention or soften, each once."""
    return [change for change in list_enforceable_changes(items, markers) if change.kind in BY_STEMS]


def show_measured_changes(changes: Sequence[Change], text: str) -> JsonObject:
    """Return what an embedding is shown: the phrases of changes, and the sentences of the text."""
    return {"phrases": [change.phrase for change in changes], "sentences": [*split_sentences(text)]}


def read_similarities(packed: str, shown: JsonObject) -> tuple[list[list[float]], JsonObject]:
    """Read what was measured."""
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
    """Refuse a text that does not mention or soften what it must."""
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

"""What a draft, a revision and a final text must be.

The facts of a draft stand in the context. A revision is a patch: it is close to the draft, hardly longer,
says nothing new and makes the changes that were asked for. A final text makes no restricted claim.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.values import find_unsupported_values
from guardgraph.grounding.words import hash_normalised_text, list_word_keys, normalise_spaces
from guardgraph.guards.links import check_links
from guardgraph.guards.self_critique import critique
from guardgraph.guards.self_critique.claims import forbidden_claims, list_context_texts
from guardgraph.guards.self_critique.request import IGNORED_KEYS
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.state.self_critique import LabelKind, Patch, SelfCritiqueBudget, SelfCritiquePolicy

_LABELS: Final[tuple[LabelKind, ...]] = ("incident_id", "severity_label", "region")
"""The kinds of labels in the order of the checks, behind ``no_new_facts``; the stop for each is ``new_<kind>``."""

_SHOWN_ITEMS = 10
_DOTTED = re.compile(r"\b([A-Z])\.([A-Z])\.(?:([A-Z])\.)?")
_SIGNS = re.compile(r"(?<!\d)[\W_]+|[\W_]+(?!\d)")
_BETWEEN_DIGITS = re.compile(r"[\W_]+")  # which tell INC-1-2 from INC-12


def parse_draft(draft: JsonValue, *, context: JsonObject, max_chars: int, policy: SelfCritiquePolicy) -> str:
    """Read a draft."""
    text = _parse_draft_text(draft, "invalid_draft", max_chars)
    _check_support(text, context, "", "invalid_draft", policy)
    return text


def check_revision_patch(
    revised: JsonValue,
    *,
    draft: str,
    context: JsonObject,
    required_changes: Iterable[str],
    hinted_length_increase_pct: float | None,
    avoid_absolute_guarantees: bool,
    policy: SelfCritiquePolicy,
    budget: SelfCritiqueBudget,
    by_meaning: bool = False,
) -> Patch:
    """Read a revision and check it against the draft; the evidence of a stop is what was measured or found."""
    text = _parse_draft_text(revised, "invalid_revised", budget.max_answer_chars)
    changes = critique.list_enforceable_changes(required_changes, policy.markers)
    limit = min(budget.max_length_increase_pct, math.inf if (hint := hinted_length_increase_pct) is None else hint)
    rest = critique.strip_added_phrases(changes, draft, text)
    patch = _measure_small_edit(draft, text, rest, budget.min_patch_similarity, limit)
    _check_support(text, context, draft, "patch_violation", policy)
    _check_draft_claims(text, context, policy, avoid_absolute_guarantees, "patch_violation")
    _check_required_changes(text, [item for item in changes if not (by_meaning and item.kind in critique.BY_STEMS)])
    return patch


def check_final_draft(
    answer: JsonValue,
    *,
    context: JsonObject,
    max_chars: int,
    avoid_absolute_guarantees: bool,
    policy: SelfCritiquePolicy,
) -> str:
    """Check the text that is about to be returned."""
    text = _parse_draft_text(answer, "invalid_answer", max_chars)
    _check_draft_claims(text, context, policy, avoid_absolute_guarantees, "invalid_answer")
    return text


def measure_patch_similarity(before: str, after: str) -> float:
    """Return how much of two texts is the same words in the same order, 0..1."""
    old, new = list_word_keys(before), list_word_keys(after)
    total = len(old) + len(new)
    return 2 * _count_common_words(old, new) / total if total else 1.0


def measure_length_increase(before_chars: int, after_chars: int) -> float:
    """Return by how many per cent a text grew, below 0 if it shrank; 0 for what grew out of nothing."""
    return 100 * (after_chars - before_chars) / before_chars if before_chars else 0.0


def measure_patch_growth(before: str, after: str) -> float:
    """Return by how many per cent the white-space-normalised text grew, below 0 if it shrank."""
    return measure_length_increase(len(normalise_spaces(before)), len(normalise_spaces(after)))


def _count_common_words(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the length of the longest common subsequence; the words that both begin with are part of it."""
    shorter = min(len(old), len(new))
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    return same + _count_common_rest_words(old[same:], new[same:])


def _count_common_rest_words(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, one bit per word of `old`."""
    places: dict[str, int] = dict.fromkeys(new, 0)
    for place, word in enumerate(old):
        if word in places:
            places[word] |= 1 << place
    full = (1 << len(old)) - 1
    row = full
    for word in new:
        matched = row & places[word]
        row = ((row + matched) | (row - matched)) & full
    return len(old) - row.bit_count()


def _parse_draft_text(given: JsonValue, family: str, max_chars: int) -> str:
    if not isinstance(given, str) or not given.strip():
        raise Stop(f"{family}:empty")
    text = given.strip()
    if len(text) > max_chars:
        raise Stop(f"{family}:too_long", details={"chars": len(text), "allowed": max_chars})
    return text


def _measure_small_edit(draft: str, text: str, rest: str, least: float, limit: float) -> Patch:
    """Measure an edit, and hold it against the limits without the phrases that it had to add: `rest`."""
    if hash_normalised_text(text) == hash_normalised_text(draft):
        raise Stop("invalid_revised:no_changes")
    similarity = _check_patch_similarity(draft, text, rest, least)
    growth = _check_patch_growth(draft, text, rest, limit)
    return Patch(revised_answer=text, patch_similarity=round(similarity, 3), length_increase_pct=round(growth, 2))


def _check_patch_similarity(draft: str, text: str, rest: str, least: float) -> float:
    similarity = measure_patch_similarity(draft, text)
    if similarity < least and measure_patch_similarity(draft, rest) < least:
        details = {"allowed": f"at least {least}"}
        raise Stop("patch_violation:too_large_edit", patch_similarity=round(similarity, 3), details=details)
    return similarity


def _check_patch_growth(draft: str, text: str, rest: str, limit: float) -> float:
    growth = measure_patch_growth(draft, text)
    if measure_patch_growth(draft, rest) > limit:
        details = {"allowed": f"at most {limit} %"}
        raise Stop("patch_violation:length_increase_limit", length_increase_pct=round(growth, 2), details=details)
    return growth


def _check_support(text: str, context: JsonObject, draft: str, family: str, policy: SelfCritiquePolicy) -> None:
    """Refuse a text with links, values or labels that neither context nor draft has."""
    check_links([text], family, cited=list_context_texts(context), policy=policy)
    if not policy.check_facts:
        return
    told = [write_json_text(context, IGNORED_KEYS), draft]
    unlabelled, said = _read_labels(text, policy)
    known = [_read_labels(each, policy)[1] for each in told]
    if values := find_unsupported_values(unlabelled, told):
        raise Stop(f"{family}:no_new_facts", unsupported=[excerpt_value(item) for item in values[:_SHOWN_ITEMS]])
    for kind in _LABELS:
        foreign = [label for key, label in said[kind].items() if not any(key in each[kind] for each in known)]
        if foreign:
            raise Stop(f"{family}:new_{kind}", unsupported=[excerpt_value(item) for item in foreign[:_SHOWN_ITEMS]])


def _read_labels(text: str, policy: SelfCritiquePolicy) -> tuple[str, dict[LabelKind, dict[str, str]]]:
    """Return a text without its labels, and these by kind and by what is compared of them, as they are written."""
    text = _DOTTED.sub(lambda match: "".join(filter(None, match.groups())), text)
    found: dict[LabelKind, dict[str, str]] = {kind: {} for kind in _LABELS}
    rest = text
    for kind in _LABELS:
        flags = 0 if kind == "region" else re.IGNORECASE
        patterns = [re.compile(said, flags) for said in policy.label_patterns.get(kind, ())]
        if kind == "region":
            names = "|".join(re.escape(normalise_to_nfkc(name)) for name in policy.known_regions)
            patterns += [re.compile(rf"(?<!\w)(?:{names})(?!\w)")] if names else []
            text = "".join(char for char in normalise_to_nfkc(rest) if unicodedata.category(char) != "Cf")
        for number, pattern in enumerate(patterns):
            for match in pattern.finditer(text):
                key = _BETWEEN_DIGITS.sub("-", _SIGNS.sub("", match[match.lastindex or 0])).casefold()
                found[kind].setdefault(f"{number} {key}", match[0])
            if kind != "region":
                text = rest = pattern.sub(" ; ", text)
    return rest, found


def _check_draft_claims(text: str, context: JsonObject, policy: SelfCritiquePolicy, hard: bool, family: str) -> None:
    if claims := forbidden_claims(text, context, avoid_absolute_guarantees=hard, packs=policy.claims):
        raise Stop(f"{family}:restricted_claims", claims=claims)


def _check_required_changes(text: str, changes: Iterable[critique.Change]) -> None:
    if missed := critique.find_unapplied_changes(changes, text):
        raise Stop("patch_violation:required_changes_not_applied", unapplied=[str(change) for change in missed])

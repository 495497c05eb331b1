"""What a draft, a revision and a final text must be.

The facts of a draft stand in the context. A revision is a patch: it is close to the draft, hardly longer,
says nothing new and makes the changes that were asked for. A final text makes no restricted claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from guardgraph.grounding.words import hash_normalised_text, list_word_keys, normalise_spaces
from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported
from guardgraph.guards.links import check_links
from guardgraph.guards.self_critique.claims import Pack, forbidden_claims, list_context_texts
from guardgraph.guards.self_critique.critique import (
    BY_STEMS,
    Change,
    find_unapplied_changes,
    list_enforceable_changes,
    strip_added_phrases,
)
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.claims import SHIPPED_PACKS
from guardgraph.state.self_critique import Patch, SelfCritiquePolicy

_FACT_STOPS = (
    ("numbers", "no_new_facts"),
    ("incident_ids", "new_incident_id"),
    ("severities", "new_severity_label"),
    ("regions", "new_region"),
)
"""The kinds of facts and the stop for each, in the order of the checks."""

_SHOWN_ITEMS = 10


def parse_draft(
    draft: JsonValue,
    *,
    context: JsonObject,
    max_chars: int,
    check_facts: bool,
    regions: Collection[str],
    policy: SelfCritiquePolicy | None = None,
) -> str:
    """Read a draft.

    Args:
        draft: the proposed text.
        context: the incident context; its policy hints are no facts.
        max_chars: how many characters the stripped text may have.
        check_facts: whether its facts must stand in the context.
        regions: names of regions to watch for.
        policy: which links and which markup it may have; None where links are not judged.

    Returns:
        The draft, stripped.

    Raises:
        Stop: ``invalid_draft:empty|too_long``, or ``invalid_draft:active_markup|unsupported_link|no_new_facts|
            new_incident_id|new_severity_label|new_region`` with `unsupported`.
    """
    text = _parse_draft_text(draft, "invalid_draft", max_chars)
    check_links([text], "invalid_draft", cited=list_context_texts(context.values()), policy=policy)
    if check_facts:
        _check_draft_facts(text, context, "", "invalid_draft", regions)
    return text


def check_revision_patch(
    revised: JsonValue,
    *,
    draft: str,
    context: JsonObject,
    required_changes: Iterable[str],
    max_chars: int,
    min_similarity: float,
    max_length_increase_pct: float,
    hinted_length_increase_pct: float | None,
    avoid_absolute_guarantees: bool,
    check_facts: bool,
    regions: Collection[str],
    policy: SelfCritiquePolicy | None = None,
    packs: Sequence[Pack] = SHIPPED_PACKS,
    by_meaning: bool = False,
) -> Patch:
    """Read a revision and check it against the draft; the evidence of a stop is what was measured or found.

    Args:
        revised: the proposed text.
        draft: the accepted draft.
        context: the incident context.
        required_changes: the critique's.
        max_chars: how many characters the stripped text may have.
        min_similarity: the least `measure_patch_similarity`, 0..1.
        max_length_increase_pct: the budget's limit of growth, in per cent of the draft.
        hinted_length_increase_pct: the request's, None for none; the smaller one holds.
        avoid_absolute_guarantees: whether only the incident's status licenses closures.
        check_facts: whether its facts must stand in the draft or the context.
        regions: names of regions to watch for.
        policy: which links and which markup it may have; None where links are not judged.
        packs: the claims that are restricted.
        by_meaning: whether what it must mention and soften is left to `check_measured_changes`.

    Raises:
        Stop: ``invalid_revised:empty|too_long|no_changes``, then ``patch_violation:`` ``too_large_edit``,
            ``length_increase_limit``, links and facts as `parse_draft`, ``restricted_claims``,
            ``required_changes_not_applied``
    """
    text = _parse_draft_text(revised, "invalid_revised", max_chars)
    changes = list_enforceable_changes(required_changes)
    hint = hinted_length_increase_pct
    limit = max_length_increase_pct if hint is None else min(max_length_increase_pct, hint)
    patch = _measure_small_edit(draft, text, strip_added_phrases(changes, draft, text), min_similarity, limit)
    check_links([text], "patch_violation", cited=list_context_texts(context.values()), policy=policy)
    if check_facts:
        _check_draft_facts(text, context, draft, "patch_violation", regions)
    _check_draft_claims(text, context, packs, avoid_absolute_guarantees, "patch_violation")
    _check_required_changes(text, [item for item in changes if not (by_meaning and item.kind in BY_STEMS)])
    return patch


def check_final_draft(
    answer: JsonValue,
    *,
    context: JsonObject,
    max_chars: int,
    avoid_absolute_guarantees: bool,
    packs: Sequence[Pack] = SHIPPED_PACKS,
) -> str:
    """Check the text that is about to be returned.

    Args:
        answer: the revision, or the draft that was approved.
        context: the incident context.
        max_chars: how many characters the stripped text may have.
        avoid_absolute_guarantees: as in `check_revision_patch`.
        packs: the claims that are restricted.

    Returns:
        The text, stripped.

    Raises:
        Stop: ``invalid_answer:empty|too_long``, ``invalid_answer:restricted_claims`` with `claims`.
    """
    text = _parse_draft_text(answer, "invalid_answer", max_chars)
    _check_draft_claims(text, context, packs, avoid_absolute_guarantees, "invalid_answer")
    return text


def measure_patch_similarity(before: str, after: str) -> float:
    """Return how much of two texts is the same words in the same order, 0..1.

    2·LCS/total: twice the length of the longest common subsequence of their words over the number of words
    of both (the Dice coefficient). Case and punctuation make no difference; two texts without a word are 1.
    """
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
    """Return the length of the longest common subsequence, one bit per word of `old`.

    H. Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004: a zero in `row` is a place where
    the length grows; a step over one word of `new` costs a few operations on one long integer.
    """
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
        raise Stop(
            "patch_violation:too_large_edit",
            patch_similarity=round(similarity, 3),
            details={"allowed": f"at least {least}"},
        )
    return similarity


def _check_patch_growth(draft: str, text: str, rest: str, limit: float) -> float:
    growth = measure_patch_growth(draft, text)
    if measure_patch_growth(draft, rest) > limit:
        raise Stop(
            "patch_violation:length_increase_limit",
            length_increase_pct=round(growth, 2),
            details={"allowed": f"at most {limit} %"},
        )
    return growth


def _check_draft_facts(text: str, context: JsonObject, draft: str, family: str, regions: Collection[str]) -> None:
    licence = facts_in_json(context, regions=regions) | facts_in_text(draft, regions=regions)
    foreign = unsupported(facts_in_text(text, regions=regions), licence)
    for kind, reason in _FACT_STOPS:
        if found := getattr(foreign, kind):
            raise Stop(f"{family}:{reason}", unsupported=[excerpt_value(item) for item in found[:_SHOWN_ITEMS]])


def _check_draft_claims(text: str, context: JsonObject, packs: Sequence[Pack], hard: bool, family: str) -> None:
    if claims := forbidden_claims(text, context, avoid_absolute_guarantees=hard, packs=packs):
        raise Stop(f"{family}:restricted_claims", claims=claims)


def _check_required_changes(text: str, changes: Iterable[Change]) -> None:
    if missed := find_unapplied_changes(changes, text):
        raise Stop("patch_violation:required_changes_not_applied", unapplied=[str(change) for change in missed])

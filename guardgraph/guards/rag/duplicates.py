"""Near-duplicates among what was found: copies and older versions of a text, which would only fill the context.

Texts that are alike are kept apart where they differ in what decides: a negation, a name, a plan, a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import cached_property
from typing import Final

from guardgraph.guards.quotes import normalise_quote_text
from guardgraph.languages.language import DENYING_LANGUAGES, detect_language, load_function_words, load_negations
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.rag import Candidate

_WORD: Final = re.compile(r"[\w%‰°$€£¥]+")
_CONTRACTED: Final = re.compile(r"n't\b", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\bn'(?=\w)", re.IGNORECASE)

_PLAN: Final = re.compile(
    r"plans?|tiers?|editions?|packages?|subscriptions?|licen[cs]es?|tariffs?|"
    r"tarife?n?|paketen?|abos?|lizenz(?:en)?|stufen?|planes|tarifas?|paquetes?|licencias?|suscripci(?:ón|ones)|"
    r"edici(?:ón|ones)|formules?|forfaits?|offres?|abonnements?|(?:план|тариф|пакет|подписк|підписк|лиценз|ліценз)\w*"
)
"""What is sold under names that need no capital letter: "the gold plan"."""

_LEAST_SHARED: Final = 3
"""Letters of a word that another one has behind its own beginning: "covered" and "uncovered"."""


class Words:
    """The words of a text, as they are compared.

    Args:
        text: any text, with plain apostrophes.
    """

    def __init__(self, text: str) -> None:
        from guardgraph.guards.facts.spelling import drop_invisible_characters  # the largest part of an import

        self.language = detect_language(text)
        written = _WORD.findall(
            _ELIDED.sub("ne ", _CONTRACTED.sub(" not", normalise_to_nfkc(drop_invisible_characters(text))))
        )
        self.all = [word.casefold() for word in written]
        common = load_function_words(self.language or "en")
        self.names = {word for word, shown in zip(self.all, written, strict=True) if shown != shown.lower()} - common

    def is_deciding_word(self, at: int) -> bool:
        """Say whether a word denies or is a plan, or stands beside one that does."""
        beside = self.all[max(at - 1, 0) : at + 2]
        return not load_negations().isdisjoint(beside) or any(map(_PLAN.fullmatch, beside))


def has_deciding_difference(first: Words, second: Words) -> bool:
    """Say whether two texts that are alike differ in a word that decides.

    That is one that denies or excepts, or a plan, tier or tariff, or a word beside one of these; one that is a name in
    either of them, by a capital letter; and one that another one ends with, such as "covered" in "uncovered". In a
    language whose negations are not known, every word decides.
    """
    if first.all == second.all:
        return False
    if not {first.language, second.language} <= {*DENYING_LANGUAGES, ""}:
        return True
    ours, theirs = _find_changed_words(first, second)
    names = first.names | second.names
    words = [*(first.all[at] for at in ours), *(second.all[at] for at in theirs)]
    return (
        not names.isdisjoint(words)
        or any(map(first.is_deciding_word, ours))
        or any(map(second.is_deciding_word, theirs))
        or any(_is_reversed_word(first.all[at], second.all[to]) for at in ours for to in theirs)
    )


def _find_changed_words(first: Words, second: Words) -> tuple[list[int], list[int]]:
    """Return the words of each text that the other one does not have there, by the fewest that can be so."""
    from rapidfuzz.distance import Indel

    ours, theirs = list[int](), list[int]()
    for change in Indel.opcodes(first.all, second.all):
        if change.tag != "equal":
            ours += range(change.src_start, change.src_end)
            theirs += range(change.dest_start, change.dest_end)
    return ours, theirs


def _is_reversed_word(word: str, other: str) -> bool:
    short, longer = sorted((word, other), key=len)
    return short != longer and len(short) >= _LEAST_SHARED and longer.endswith(short)


LEAST_ALIKE: Final = 95.0
"""Of 100: from here on two texts say the same, by the edits (insertions and deletions) that lead from one to the other,
as a share of their characters (rapidfuzz's ``fuzz.ratio``)."""

LONGEST_COMPARED: Final = 10_000
"""Characters of a text that is compared; longer ones are the same only where they are equal. The time grows with the
product of both lengths."""

_WORD_PATTERN: Final = r"[\w%‰°$€£¥]+"
_SECONDS: Final = 86_400


def drop_near_duplicates(candidates: Sequence[Candidate], *, min_score: float) -> list[Candidate]:
    """Leave out relevant candidates that say the same as a more recent one.

    Two say the same where title, section and text together are alike, no negation, name or plan in them differs (see
    `has_deciding_difference`), and no number, id or date of section and text does, in value, unit, order, or in the
    words beside it: "within 15 minutes" and "within 45 minutes" are never the same, nor "is covered" and "is not
    covered". The most recent one by `updated_at` stays, of equally recent ones the best ranked, and stands at the best
    rank among them; one without a date counts as the oldest. What is left out says the same as the one that stays
    itself, not only as another one that was left out.

    Args:
        candidates: ranked, best first, all of them permitted.
        min_score: what relevance a candidate needs; one with less is left as it is.

    Returns:
        The candidates, best first; one that stays for others has their ids under `duplicates`, by rank.
    """
    read = [_ReadCandidate(rank, item) for rank, item in enumerate(candidates)]
    relevant = [item for item in read if item.candidate["score"] >= min_score]
    groups = list[list[_ReadCandidate]]()
    for item in sorted(relevant, key=lambda item: (-item.update_moment, item.rank)):
        for group in groups:
            if group[0].is_near_duplicate(item):
                group.append(item)
                break
        else:
            groups.append([item])
    groups += [[item] for item in read if item.candidate["score"] < min_score]
    return [
        _keep_latest_duplicate(group) for group in sorted(groups, key=lambda group: min(item.rank for item in group))
    ]


class _ReadCandidate:
    """A candidate as it is compared; what costs time is read when it is asked for."""

    def __init__(self, rank: int, candidate: Candidate) -> None:
        self.rank = rank
        self.candidate = candidate

    @cached_property
    def update_moment(self) -> int:
        return _read_update_moment(self.candidate["updated_at"])

    @cached_property
    def text_to_compare(self) -> str:
        item = self.candidate
        return normalise_quote_text(f"{item['title']}\n{item['section']}\n{item['text']}")

    @cached_property
    def facts_to_compare(self) -> tuple[object, ...]:
        return _read_compared_facts(normalise_quote_text(f"{self.candidate['section']}\n{self.candidate['text']}"))

    @cached_property
    def words_to_compare(self) -> Words:
        return Words(self.text_to_compare)

    def is_near_duplicate(self, other: _ReadCandidate) -> bool:
        if self.text_to_compare == other.text_to_compare:
            return True
        if max(len(self.text_to_compare), len(other.text_to_compare)) > LONGEST_COMPARED:
            return False
        from rapidfuzz import fuzz  # most runs have nothing to compare

        if not fuzz.ratio(self.text_to_compare, other.text_to_compare, score_cutoff=LEAST_ALIKE):
            return False
        return (
            not has_deciding_difference(self.words_to_compare, other.words_to_compare)
            and self.facts_to_compare == other.facts_to_compare
        )


def _keep_latest_duplicate(group: Sequence[_ReadCandidate]) -> Candidate:
    """Return the first of a group, the most recent one, with the ids of the others."""
    first, *others = group
    by_rank = sorted(others, key=lambda item: item.rank)
    ids = [*first.candidate.get("duplicates", []), *(item.candidate["doc_id"] for item in by_rank)]
    ids += [name for item in by_rank for name in item.candidate.get("duplicates", [])]
    left_out = [name for name in dict.fromkeys(ids) if name != first.candidate["doc_id"]]
    return Candidate(**{**first.candidate, "duplicates": left_out}) if left_out else first.candidate


def _read_compared_facts(text: str) -> tuple[object, ...]:
    """Return the facts of a text as values, and its numbers as they follow each other, with the words beside them."""
    from guardgraph.guards.facts import facts_in_text  # the largest part of an import

    facts = facts_in_text(text)
    numbers = facts.numbers | facts.implied | facts.numerals
    ids = frozenset(name.casefold() for name in facts.incident_ids)
    values = frozenset(number.readings for number in numbers)
    return (
        values,
        facts.severities,
        ids,
        facts.regions,
        _list_number_neighbours(text, {number.shown for number in numbers}),
    )


def _list_number_neighbours(text: str, shown: Collection[str]) -> tuple[tuple[str, ...], ...]:
    written = "|".join(re.escape(number) for number in sorted(shown, key=len, reverse=True) if number)
    number = rf"(?<!\w)(?:{written})(?!\w)|\w*\d\w*" if written else r"\w*\d\w*"
    words = [match[0].casefold() for match in re.finditer(rf"{number}|{_WORD_PATTERN}", text)]
    is_number = re.compile(number, re.IGNORECASE)
    places = [at for at, word in enumerate(words) if is_number.fullmatch(word)]
    return tuple(tuple(words[max(at - 1, 0) : at + 2]) for at in places)


@remember_by_text(texts=512, chars=100)
def _read_update_moment(updated_at: str) -> int:
    """Return the latest moment that a text names, in seconds; of a day that can be read in two ways the earlier one."""
    if not updated_at.strip():
        return 0
    from guardgraph.guards.facts import facts_in_text
    from guardgraph.guards.facts.moments import Clock, Date

    days, seconds = [0], [0]
    for number in facts_in_text(updated_at).numbers:
        dates = [_convert_date_to_days(*item[:3]) for item in number.readings if isinstance(item, Date)]
        days += [min(dates)] if dates else []
        seconds += [item.second - 60 * sum(item.ahead[:1]) for item in number.readings if isinstance(item, Clock)]
    return max(days) * _SECONDS + max(seconds)


def _convert_date_to_days(year: int | None, month: int | None, day: int | None) -> int:
    try:
        return date(year or 0, month or 1, day or 1).toordinal()
    except ValueError:  # a day without a year, or no such day
        return 0

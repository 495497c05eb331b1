"""What an answer says of numbers in its own words: how many things it speaks of, which it means, what it was shown.

"Two fighters", of two that the source names, is no fact of the source; "two seats" is one where the source has
`Seats: 3`. What is excused here is excused for answers alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from guardgraph.guards.facts.derived import Derivations, cover_word_forms, list_counted_nouns
from guardgraph.guards.facts.grammar import FUNCTION_WORDS
from guardgraph.guards.facts.keys import find_incident_id_facts, find_severity_facts
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence, read_number_sentences
from guardgraph.guards.facts.quantities import PLAIN
from guardgraph.guards.facts.spelling import drop_invisible_characters
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import TIMES_SAID
from guardgraph.guards.facts.values import Label, Named, Number, Ordinal, Quantity
from guardgraph.guards.quotes import is_quote_in_text
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.languages.sentences import split_sentences

_LISTS: Final[dict[str, Any]] = load_word_lists("answer_numbers")

_MEASURED: Final = frozenset(_LISTS["measured"])
"""What a small number before it is a fact of, whoever says it: limits, doses, prices, levels."""

_LIMITING: Final = frozenset(_LISTS["limiting"])
"""Words before a small number that make a limit of it."""

_SHOWN: Final = frozenset(_LISTS["shown"])
"""What the writer of an answer calls what it was shown."""

_BEING: Final = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_OPENING: Final = frozenset({"", ".", ",", ";", ":", "!", "?", "-", "–", "—", "and", "while", "but", "whereas", "*"})
_ASIDE: Final = frozenset({",", ":", "(", "–", "—", "*"})
_SMALL: Final = (2, 3)
_LABEL_SIGNS: Final = frozenset({":", "|", "=", '"', "'", ",", "_"})
_COUNTED_TOKENS: Final = 5
"""Tokens behind a number among which stands what it counts: "two men named Roth"."""

_LABEL_TOKENS: Final = 4
_MOST_MISSING: Final = 24
"""Numbers without support; an answer that has more of them does not say in other words what its sources say."""
_COPIED_WORDS: Final = 5
"""Words that a sentence has at least which is copied: fewer may stand anywhere."""


def list_unexcused_numbers(
    answer: str, missing: Collection[Number], *, texts: Collection[str], documents: int, derive: bool
) -> list[Number]:
    """Return the unsupported numbers of an answer that are claims about its sources, in time linear in all texts.

    Args:
        answer: its text.
        missing: numbers of it that its sources do not have.
        texts: what it cites.
        documents: how many documents its writer was shown.
        derive: whether what follows from the numbers of the texts may be said.
    """
    if len(missing) > _MOST_MISSING:
        return list(missing)
    wanted = set(missing) - _list_copied_numbers(answer, missing, texts)
    excused, refused = set(missing) - wanted, set[Number]()
    sources = _Sources(texts)
    nouns = set[str]()
    for sentence in _read_sentences(answer):
        for each in sentence.found:
            number = sentence.name_number(each)
            if number in wanted and number not in refused:
                known = (
                    _is_small_count(sentence.tokens, each, sources)
                    or _is_one_of_counted(sentence.tokens, each, nouns)
                    or _is_shown_document(sentence.tokens, each, documents)
                    or (derive and sources.derivations.covers_number(sentence, each))
                )
                (excused if known else refused).add(number)
            if isinstance(each.readings[0] if each.readings else None, Quantity):
                behind = sentence.tokens[each.end : each.end + _COUNTED_TOKENS]
                nouns.update(cover_word_forms(token.lower for token in behind if _is_noun(token)))
    return [number for number in missing if number in refused or number not in excused]


def _list_copied_numbers(answer: str, missing: Collection[Number], texts: Collection[str]) -> set[Number]:
    """Return numbers that stand in the answer only where it repeats a sentence of its sources, word for word.

    A text of two languages is read in one of them, and not always in that of the sentence.
    """
    holders = [part for part in split_sentences(answer) if any(number.shown in part for number in missing)]
    if len(holders) > _MOST_MISSING:
        return set()
    own = [
        part
        for part in holders
        if len(part.split()) < _COPIED_WORDS or not any(is_quote_in_text(part, text) for text in texts)
    ]
    return {
        number
        for number in missing
        if any(number.shown in part for part in holders) and not any(number.shown in part for part in own)
    }


def _read_sentences(text: str) -> Iterator[NumberSentence]:
    """Read a text as `facts_in_text` does, so that its numbers are the same."""
    _, unlabelled = find_severity_facts(drop_invisible_characters(text))
    yield from read_number_sentences(find_incident_id_facts(unlabelled)[1])


class _Sources:
    """What the cited texts say, read again when it is first asked for."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts

    @cached_property
    def _sentences(self) -> list[list[NumberSentence]]:
        return [list(_read_sentences(text)) for text in self._texts]

    @cached_property
    def counted(self) -> frozenset[str]:
        """The nouns that are counted: behind a number ("3 seats"), before one ("Seats: 3"), beside "twice"."""
        found: set[str] = set()
        for sentence in (sentence for text in self._sentences for sentence in text):
            tokens = sentence.tokens
            for each in sentence.found:
                found |= cover_word_forms([*list_counted_nouns(tokens, each.end), *_list_label_words(tokens, each)])
                if tokens[each.first].lower in TIMES_SAID or tokens[each.end].lower == "times":
                    around = tokens[max(each.first - _LABEL_TOKENS, 0) : each.end + _LABEL_TOKENS]
                    found |= cover_word_forms(token.lower for token in around if _is_noun(token))
        return frozenset(found)

    @cached_property
    def derivations(self) -> Derivations:
        """What follows from their numbers."""
        return Derivations(self._sentences)


def _list_label_words(tokens: Sequence[Token], each: FoundNumber) -> Iterator[str]:
    """Yield the words of a label before a number: of `Seats: 3`, `Seats | 3` and `"max_seats": 3`."""
    at = each.first - 1
    if at < 0 or tokens[at].text not in _LABEL_SIGNS:
        return
    while at >= 0 and tokens[at].text in _LABEL_SIGNS:
        at -= 1
    for token in reversed(tokens[max(at - _LABEL_TOKENS + 1, 0) : at + 1]):
        if not _is_noun(token) and token.text not in _LABEL_SIGNS:
            break
        yield from token.lower.split("_")


def _is_noun(token: Token) -> bool:
    return token.lower.replace("_", "").isalpha() and token.lower not in FUNCTION_WORDS


def _is_small_count(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether "two" or "three" only counts what an answer speaks of: "two fighters", of two that are named."""
    value, hit = each.readings[0] if each.readings else None, each.hit
    if (
        hit is None
        or not isinstance(value, Quantity)
        or value.amount not in _SMALL
        or tokens[each.first].word[:1].isdecimal()
    ):
        return False
    if hit.measures is not PLAIN or hit.bound or hit.per is not None or hit.end != each.first + 1:
        return False
    nouns = list_counted_nouns(tokens, each.end)
    before = [token.lower for token in tokens[max(each.first - 3, 0) : each.first]]
    if not nouns or not _LIMITING.isdisjoint(before) or not _MEASURED.isdisjoint(nouns):
        return False
    return sources.counted.isdisjoint(cover_word_forms(nouns[-1:])) and sources.counted.isdisjoint(
        cover_word_forms(nouns[:1])
    )


def _is_one_of_counted(tokens: Sequence[Token], each: FoundNumber, counted: Collection[str]) -> bool:
    """Say whether "first" or "second" is one of what an answer counted: "The second is …", "the second transfer"."""
    value = each.readings[0] if each.readings else None
    if not isinstance(value, Ordinal) or value.place not in (1, 2) or tokens[each.first].word[:1].isdecimal():
        return False
    at = each.first - 1 if tokens[each.first - 1].lower == "the" else each.first
    if at > 0 and tokens[at - 1].lower not in _OPENING:
        return False
    following = tokens[each.end]
    if following.lower in _BEING or following.text in _ASIDE:
        return not tokens[each.end + 1].opens or following.lower in _BEING
    return not cover_word_forms([following.lower]).isdisjoint(counted)


def _is_shown_document(tokens: Sequence[Token], each: FoundNumber, documents: int) -> bool:
    """Say whether a number names one of the documents that the writer was shown: "Document 2"."""
    numbers: list[int | str] = [value.number for value in each.readings if isinstance(value, Named | Label)]
    if each.hit is not None and each.hit.measures is PLAIN:
        numbers.append(str(each.hit.amount))
    number = str(numbers[0]) if numbers else ""
    named = {token.lower for token in tokens[max(each.first - 3, 0) : each.first] if token.text.isalpha()}
    return not named.isdisjoint(_SHOWN) and number.isdecimal() and 1 <= int(number[:9]) <= documents

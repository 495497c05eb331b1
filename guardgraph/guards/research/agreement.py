"""Whether notes of several sources say the same: which claims agree, which stand alone, and which conflict.

Two sentences are about one thing where most names of the shorter one stand in the other. They conflict where both state
a value of one kind, neither value licenses the other, and most words beside the one value stand beside the other. They
agree where they are about one thing and their values license each other. What counts as a value, and what licenses it,
is what `guardgraph.guards.facts` says for every answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Final, NamedTuple

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, list_content_words, list_word_keys, stem_words
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence, read_number_sentences
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.values import (
    BARE,
    Clock,
    Date,
    Given,
    Identifier,
    Label,
    Named,
    Number,
    NumberLicence,
    Ordinal,
    Quantity,
    Value,
    Weekday,
    index_licensed_numbers,
)
from guardgraph.guards.names import find_unsupported_names
from guardgraph.guards.stop import Stop
from guardgraph.guards.turned import find_turned_sentence
from guardgraph.plain.json import JsonObject
from guardgraph.plain.memory import remember_by_text
from guardgraph.plain.scopes import find_registrable_domain
from guardgraph.state.research import Note, NoteAgreement, NoteConflict

LEAST_NAMES: Final = 0.75
"""Of the names of the shorter sentence that stand in the other, where the two are about one thing."""
LEAST_WORDS: Final = 0.5
"""Of the content words beside a value that stand beside the other, where the two values are of one thing."""
LEAST_UNNAMED: Final = 0.8
"""Of the content words of the shorter sentence that stand in the other, where it has no names to tell its thing by."""
BESIDE: Final = 4
"""Content words on each side that are beside a value."""
_LONGEST: Final = 80
"""Content words of a sentence that is compared; a longer one is no statement."""

_OPEN: Final = frozenset(
    {
        *("since", "until", "till", "before", "after", "by", "from", "through", "to", "between", "during", "about"),
        *("around", "circa", "early", "late", "mid", "approximately", "nearly", "almost", "roughly", "some"),
        *("seit", "bis", "vor", "nach", "ab", "von", "etwa", "rund", "desde", "hasta", "antes", "después", "depuis"),
        *("jusqu", "avant", "après", "dès", "з", "до", "після", "від", "с", "после", "от", "около"),
    }
)
"""Words before a value that leave a side of it open, or say it roughly."""
_LOOKED_BEFORE: Final = 2
"""Tokens before a value among which such a word opens it."""


class StatedValue(NamedTuple):
    """A value that a sentence states."""

    number: Number
    kinds: frozenset[str]
    """What it can be a value of: two values are of one kind where they share one."""
    beside: tuple[str, ...]
    """Stems of the content words next to it, the nearest first."""


class Statement(NamedTuple):
    """A sentence as it is compared with those of other sources."""

    text: str
    values: tuple[StatedValue, ...]
    names: tuple[str, ...]
    words: frozenset[str]
    """Stems of its content words, those of numbers left out."""
    numbers: frozenset[Number]
    """All that it says of numbers, what is rough or open included: they license, and are not compared."""
    licence: Given


class ConflictingValues(NamedTuple):
    """Two values of one kind of which neither licenses the other."""

    one: str
    other: str


@remember_by_text(texts=512, chars=1000)
def read_statements(text: str) -> tuple[Statement, ...]:
    """Read the sentences of a claim, in time linear in its length.

    Args:
        text: a claim.
    """
    language = detect_language(text) or DEFAULT_LANGUAGE
    return tuple(_read_statement(sentence, language) for sentence in split_sentences(text))


def _read_statement(text: str, language: str) -> Statement:
    values: list[StatedValue] = []
    numbers: set[Number] = set()
    for sentence in read_number_sentences(text):
        words = [_read_content_stem(token, language) for token in sentence.tokens]
        numbered = {at for each in sentence.found for at in range(each.first, each.end)}
        for each in sentence.found:
            number = sentence.name_number(each)
            numbers.add(number)
            kinds = frozenset(kind for value in each.readings if (kind := _name_value_kind(value)))
            if each.role == "claimed" and kinds and not _is_open(sentence, each):
                values.append(StatedValue(number, kinds, _list_words_beside(words, numbered, each)))
    said = [word for word in list_content_words(text, language) if not any(map(str.isdecimal, word))]
    names = tuple(find_unsupported_names(text, cited=("",)))
    return Statement(
        text,
        tuple(values),
        names,
        frozenset(stem_words(said, language)),
        frozenset(numbers),
        index_licensed_numbers(numbers),
    )


def _read_content_stem(token: Token, language: str) -> str:
    """Return the stem of a token, blank where it says nothing of what a sentence is about."""
    words = list_content_words(token.text, language)
    return stem_words(words[:1], language)[0] if words else ""


def _list_words_beside(words: Sequence[str], numbered: Collection[int], each: FoundNumber) -> tuple[str, ...]:
    before = (words[at] for at in range(each.first - 1, -1, -1) if words[at] and at not in numbered)
    behind = (words[at] for at in range(each.end, len(words)) if words[at] and at not in numbered)
    return (*_take(before, BESIDE), *_take(behind, BESIDE))


def _take(words: Iterator[str], most: int) -> list[str]:
    return [word for _, word in zip(range(most), words, strict=False)]


def _is_open(sentence: NumberSentence, each: FoundNumber) -> bool:
    """Say whether a value is a bound, or a date with an open side: what differs from it need not contradict it."""
    if any(isinstance(value, Quantity) and value.bound for value in each.readings):
        return True
    before = sentence.tokens[max(each.first - _LOOKED_BEFORE, 0) : each.first]
    behind = sentence.tokens[each.end].lower if each.end < len(sentence.tokens) else ""
    return behind == "onwards" or any(token.lower in _OPEN for token in before)


def _name_value_kind(value: Value) -> str:
    """Return what a meaning of a number is a value of, blank for what is compared with nothing."""
    match value:
        case Quantity(unit=unit, per=per, also_per=also_per):
            kinds = ["amount" if unit == BARE else unit.dimension]
            kinds += sorted(rate.dimension for rate in (per, also_per) if rate is not None)
            return "/".join(kinds)
        case Date():
            return "date"
        case Clock():
            return "clock"
        case Ordinal():
            return "ordinal"
        case Label(of=of):
            return f"label {of}"
        case Named(name=name):
            return f"named {name}"
    return ""  # a weekday is that of the event or that of the report, and a decade is no moment


_TELLING: Final = (Ordinal, Label, Named, Identifier, Date, Weekday)
"""What tells one thing or time of several: where sentences differ in two such values, they speak of two."""


def find_conflicting_values(one: Statement, other: Statement) -> ConflictingValues | None:
    """Return two values in which sentences conflict, None where they do not."""
    if not one.values or not other.values:
        return None
    ours, theirs = _list_unlicensed(one, other), _list_unlicensed(other, one)
    if not ours or not theirs:
        return None
    for mine, yours in product(one.values, other.values):
        if (
            mine.number in ours
            and yours.number in theirs
            and mine.kinds & yours.kinds
            and _share_words(mine.beside, yours.beside)
            and not _differ_otherwise(mine.number, yours.number, ours, theirs)
            and is_same_matter(one, other)
        ):
            return ConflictingValues(mine.number.shown, yours.number.shown)
    return None


def _list_unlicensed(one: Statement, other: Statement) -> frozenset[Number]:
    """Return the numbers of a sentence that nothing in another licenses."""
    left = one.numbers - other.numbers
    if not left:
        return left
    allowed = NumberLicence([other.licence] if other.licence else [])
    return frozenset(number for number in left if not allowed.covers_number(number))


def _differ_otherwise(mine: Number, yours: Number, ours: frozenset[Number], theirs: frozenset[Number]) -> bool:
    """Say whether sentences differ in more than a value, and so speak of two things or times.

    They do where another of their values tells a thing or a time, or where this one does and another value differs too.
    """
    others, more = ours - {mine}, theirs - {yours}
    return _has_telling(others | more) or (bool(others and more) and _has_telling([mine, yours]))


def _has_telling(numbers: Iterable[Number]) -> bool:
    return any(isinstance(value, _TELLING) for number in numbers for value in number.readings)


def _share_words(one: Sequence[str], other: Sequence[str]) -> bool:
    fewer, more = sorted(({*one}, {*other}), key=len)
    return bool(fewer) and len(fewer & more) >= LEAST_WORDS * len(fewer)


def is_same_matter(one: Statement, other: Statement) -> bool:
    """Say whether two sentences are about one thing, by their names, or by their words where the shorter has none."""
    if max(len(one.words), len(other.words)) > _LONGEST:
        return False
    shorter, longer = sorted((one, other), key=lambda each: len(each.text))
    if not shorter.names:
        shared = len(shorter.words & longer.words)
        return bool(shorter.words) and shared >= LEAST_UNNAMED * len(shorter.words)
    missing = find_unsupported_names(shorter.text, cited=(longer.text,))
    if len(shorter.names) - len(missing) < LEAST_NAMES * len(shorter.names):
        return False
    # Where each has a name that the other lacks, they are two of a kind: Windows Server and Windows Home.
    return not missing or not find_unsupported_names(longer.text, cited=(shorter.text,))


SHINGLE_WORDS: Final = 8
"""Words of a shingle: texts of different hands hardly ever share one that is no name or title."""
LEAST_COPIED: Final = 0.3
"""Of the shingles of the shorter page that stand in the other, where one text is a copy of the other."""
MOST_SHINGLES: Final = 20_000
"""Words of a page that are looked at."""


class SourceText(NamedTuple):
    """What is known of the page of a note."""

    url: str
    host: str
    owner: str
    """As declared, folded; blank where nobody is."""
    body: str
    linked_hosts: frozenset[str] | None
    """The hosts that it links to; None where its reader does not say."""


def compare_notes(notes: Sequence[Note], sources: Mapping[str, SourceText]) -> list[NoteAgreement]:
    """Say of every note which notes of other pages agree and conflict with it.

    Args:
        notes: verified notes.
        sources: of their pages, by the URL of the note.

    Returns:
        In the order of the notes. A conflict counts whoever says it; agreement counts independent sources.
    """
    read = [read_statements(note["claim"]) for note in notes]
    agreed: dict[int, list[int]] = {at: [] for at in range(len(notes))}
    conflicts: dict[int, list[NoteConflict]] = {at: [] for at in range(len(notes))}
    for one, other in combinations(range(len(notes)), 2):
        if notes[one]["url"] == notes[other]["url"]:
            continue
        found = next(
            (said for pair in product(read[one], read[other]) if (said := find_conflicting_values(*pair))), None
        )
        if found is not None:
            conflicts[one].append(NoteConflict(id=notes[other]["id"], says=found.other, instead_of=found.one))
            conflicts[other].append(NoteConflict(id=notes[one]["id"], says=found.one, instead_of=found.other))
        elif any(say_same(*pair) for pair in product(read[one], read[other])):
            agreed[one].append(other)
            agreed[other].append(one)
    independence = Independence(sources)
    return [_describe_agreement(notes, at, agreed[at], conflicts[at], independence) for at in range(len(notes))]


def _describe_agreement(
    notes: Sequence[Note], at: int, agreed: Sequence[int], conflicts: list[NoteConflict], independence: Independence
) -> NoteAgreement:
    count = independence.count_sources([notes[each]["url"] for each in (at, *agreed)])
    return NoteAgreement(
        id=notes[at]["id"],
        claim=notes[at]["claim"],
        standing="conflict" if conflicts else "agreed" if count > 1 else "single_source",
        independent=count,
        agrees_with=[notes[each]["id"] for each in agreed],
        conflicts_with=conflicts,
    )


def say_same(one: Statement, other: Statement) -> bool:
    """Say whether two sentences state the same: they are about one thing, in words and in values."""
    shared = len(one.words & other.words)
    if shared < LEAST_WORDS * max(1, min(len(one.words), len(other.words))):
        return False
    if not one.values and not other.values and shared < LEAST_UNNAMED * min(len(one.words), len(other.words)):
        return False
    shorter, longer = sorted((one, other), key=lambda each: len(each.values))
    if {each.number for each in shorter.values} & _list_unlicensed(shorter, longer):
        return False
    if longer.values and not shorter.values:
        return False
    return is_same_matter(one, other) and find_turned_sentence(one.text, [other.text]) is None


class Independence:
    """Which pages are one source: of one domain or owner, copies of each other, or linked.

    Args:
        sources: what is known of the pages, by URL.
    """

    def __init__(self, sources: Mapping[str, SourceText]) -> None:
        self._sources = sources
        self._shingles: dict[str, frozenset[tuple[str, ...]]] = {}

    def count_sources(self, urls: Iterable[str]) -> int:
        """Return how many independent sources some pages are; one that hangs together with another is the same."""
        groups: list[set[str]] = []
        for url in dict.fromkeys(urls):
            joined = [group for group in groups if any(self.explain_dependence(url, member) for member in group)]
            groups = [group for group in groups if group not in joined]
            groups.append({url}.union(*joined))
        return len(groups)

    def explain_dependence(self, one: str, other: str) -> str | None:
        """Say why two pages are one source: a word for it, None where they are independent."""
        if one == other:
            return "same_page"
        ours, theirs = self._sources.get(one), self._sources.get(other)
        if ours is None or theirs is None:
            return "unknown"
        if _find_site(ours.host) == _find_site(theirs.host):
            return "same_domain"
        if ours.owner and ours.owner == theirs.owner:
            return "same_owner"
        if ours.linked_hosts is None or theirs.linked_hosts is None:
            return "unknown_links"
        if _links_to(ours.linked_hosts, theirs.host) or _links_to(theirs.linked_hosts, ours.host):
            return "linked"
        return "copied" if self._is_copied(one, other) else None

    def _is_copied(self, one: str, other: str) -> bool:
        fewer, more = sorted((self._read_shingles(one), self._read_shingles(other)), key=len)
        return len(fewer & more) > LEAST_COPIED * len(fewer)

    def _read_shingles(self, url: str) -> frozenset[tuple[str, ...]]:
        if url not in self._shingles:
            words = list_word_keys(self._sources[url].body)[:MOST_SHINGLES]
            size = min(SHINGLE_WORDS, len(words))
            self._shingles[url] = frozenset(
                tuple(words[at : at + size]) for at in range(len(words) - size + 1 if size else 0)
            )
        return self._shingles[url]


def _find_site(host: str) -> str:
    return find_registrable_domain(host) or host.rstrip(".")


def _links_to(linked: Iterable[str], host: str) -> bool:
    return _find_site(host) in {_find_site(each) for each in linked}


def check_agreement(agreement: Sequence[NoteAgreement], notes: Sequence[Note], *, min_independent: int) -> None:
    """Hold notes against what they have to be: without a conflict, and said by several independent sources.

    Args:
        agreement: of `compare_notes`.
        notes: the notes.
        min_independent: how many sources each of them needs.

    Raises:
        Stop: ``conflicting_sources`` with `details`, both notes and their values; else
            ``insufficient_corroboration:<n>``, n being the number that is needed, with `details`.
    """
    by_id = {note["id"]: note for note in notes}
    for said in agreement:
        for other in said["conflicts_with"]:
            both = [_show_conflicting(by_id[said["id"]], other["instead_of"])]
            both.append(_show_conflicting(by_id[other["id"]], other["says"]))
            raise Stop("conflicting_sources", details={"notes": both})
    few = [said for said in agreement if said["independent"] < min_independent]
    if few:
        shown = [{"id": said["id"], "claim": said["claim"], "independent": said["independent"]} for said in few]
        raise Stop(f"insufficient_corroboration:{min_independent}", details={"needed": min_independent, "notes": shown})


def _show_conflicting(note: Note, value: str) -> JsonObject:
    return {**{key: note[key] for key in ("id", "claim", "quote", "url")}, "value": value}

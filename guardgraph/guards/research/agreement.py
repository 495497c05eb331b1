"""Whether notes of several sources say the same: which claims agree, which stand alone, and which conflict.

Each claim is held against the other as an answer against its sources. Two are about one thing where one of them has all
names of the other, and most of its words. They conflict where the one then says another value of the same thing; they
agree where each is supported by the other, or one of them by what more the other says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from guardgraph.grounding.check import CheckedSentence, Checks, Finding, Source, check_text
from guardgraph.grounding.languages import load_names
from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.values import scan_values
from guardgraph.grounding.words import DEFAULT_LANGUAGE, list_word_keys
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject
from guardgraph.plain.scopes import find_registrable_domain
from guardgraph.state.research import Note, NoteAgreement, NoteConflict

LEAST_COVER: Final = 0.5  # of the words of a claim that the other has, where the two are about one thing
_TELLING: Final = frozenset({"date", "ordinal", "label", "time"})
"""Kinds of values that tell one thing or time of several: claims that differ in one, and in more, speak of two."""
_CHECKS: Final = Checks(names=False, min_cover=LEAST_COVER)


class ClaimsCompared(NamedTuple):
    """What two claims are to each other."""

    agree: bool
    conflict: tuple[str, str] | None  # the value of the first, and that of the other instead


def compare_claims(one: str, other: str) -> ClaimsCompared:
    """Say whether two claims state the same, or different values of one thing."""
    days = load_names(DEFAULT_LANGUAGE, "weekdays")  # of what happened, or of the report
    if find_unsupported_names(one, [other], days) and find_unsupported_names(other, [one], days):
        return ClaimsCompared(False, None)  # two of a kind
    ours, theirs = (
        check_text(text, [Source("", beside)], checks=_CHECKS) for text, beside in ((one, other), (other, one))
    )
    open_ones = {value.text for text in (one, other) for value in scan_values(text) if value.mark}
    for checked, is_turned in ((ours, False), (theirs, True)):
        for sentence in checked.sentences:
            found = _find_conflict(sentence)
            if found is not None and open_ones.isdisjoint([found.text, found.told]):
                pair = (found.text, found.told)
                return ClaimsCompared(False, pair[::-1] if is_turned else pair)
    return ClaimsCompared("supported" in (ours.verdict, theirs.verdict), None)


def _find_conflict(sentence: CheckedSentence) -> Finding | None:
    """Return the value that another claim contradicts, None where the two differ in what tells things apart."""
    if sentence.cover < LEAST_COVER:
        return None
    differs = [item for item in sentence.findings if item.verdict in ("contradicted", "unsupported")]
    telling = [item for item in differs if any(value.kind in _TELLING for value in scan_values(item.text))]
    if telling and len(differs) > 1:
        return None
    return next((item for item in differs if item.verdict == "contradicted" and item.told), None)


SHINGLE_WORDS: Final = 8  # words of a shingle: texts of different hands hardly ever share one that is no name or title
LEAST_COPIED: Final = 0.3
"""Of the shingles of the shorter page that stand in the other, where one text is a copy of the other."""
MOST_SHINGLES: Final = 20_000  # words of a page that are looked at


class SourceText(NamedTuple):
    """What is known of the page of a note."""

    url: str
    host: str
    owner: str  # as declared, folded; blank where nobody is
    body: str
    linked_hosts: frozenset[str] | None  # the hosts that it links to; None where its reader does not say


def compare_notes(notes: Sequence[Note], sources: Mapping[str, SourceText]) -> list[NoteAgreement]:
    """Say of every note which notes of other pages agree and conflict with it."""
    agreed: dict[int, list[int]] = {at: [] for at in range(len(notes))}
    conflicts: dict[int, list[NoteConflict]] = {at: [] for at in range(len(notes))}
    for one, other in combinations(range(len(notes)), 2):
        if notes[one]["url"] == notes[other]["url"]:
            continue
        compared = compare_claims(notes[one]["claim"], notes[other]["claim"])
        if compared.conflict is not None:
            mine, yours = compared.conflict
            conflicts[one].append(NoteConflict(id=notes[other]["id"], says=yours, instead_of=mine))
            conflicts[other].append(NoteConflict(id=notes[one]["id"], says=mine, instead_of=yours))
        elif compared.agree:
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


class Independence:
    """Which pages are one source: of one domain or owner, copies of each other, or linked."""

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
        if _links_to_site(ours.linked_hosts, theirs.host) or _links_to_site(theirs.linked_hosts, ours.host):
            return "linked"
        fewer, more = sorted((self._read_shingles(one), self._read_shingles(other)), key=len)
        return "copied" if len(fewer & more) > LEAST_COPIED * len(fewer) else None

    def _read_shingles(self, url: str) -> frozenset[tuple[str, ...]]:
        if url not in self._shingles:
            words = list_word_keys(self._sources[url].body)[:MOST_SHINGLES]
            size = min(SHINGLE_WORDS, len(words))
            places = range(len(words) - size + 1 if size else 0)
            self._shingles[url] = frozenset(tuple(words[at : at + size]) for at in places)
        return self._shingles[url]


def _find_site(host: str) -> str:
    return find_registrable_domain(host) or host.rstrip(".")


def _links_to_site(linked: Iterable[str], host: str) -> bool:
    return _find_site(host) in {_find_site(each) for each in linked}


def check_agreement(agreement: Sequence[NoteAgreement], notes: Sequence[Note], *, min_independent: int) -> None:
    """Hold notes against what they have to be: without a conflict, and said by several independent sources."""
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

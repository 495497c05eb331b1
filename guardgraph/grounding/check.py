"""The checker: what each sentence of a text is, held against its sources, and where it was seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from guardgraph.grounding.cover import Evidence, Sources, read_sources, read_text
from guardgraph.grounding.marks import CitingSentence
from guardgraph.grounding.names import (
    Names,
    find_names,
    find_spelled_alike,
    is_heading,
    is_language_of,
    join_names,
    list_unknown_names,
    read_names,
)
from guardgraph.grounding.opposites import is_opposite
from guardgraph.grounding.quotes import find_quoting_sentences
from guardgraph.grounding.tables import Table, find_misplaced_values, join_tables
from guardgraph.grounding.values import Value, ValueIndex, find_support, is_same_kind, is_written, supports
from guardgraph.grounding.words import list_stems
from guardgraph.grounding.workings import evaluate_workings

VERDICTS: Final = ("contradicted", "unsupported", "doubtful", "unchecked", "supported")  # the worst first
SUPPORTED_FROM: Final = 0.6  # the cover from which a sentence without a finding is supported
CONFLICT_FROM: Final = 0.2
"""How much of a sentence a source sentence has, by weight, for its count of the same things to be another one."""
_WHOLE: Final = 0.8
_WITH_UNIT: Final = ("quantity", "money", "percent")
_AROUND: Final = ".,;:!?()[]{}\"'“”‘’«»*_"
_MOST: Final = 100  # values of a sentence that are compared with each other; one with more is a table or no sentence


class Source(NamedTuple):
    """A text that another text rests on."""

    id: str
    text: str
    about: tuple[str, ...] = ()  # title, section, source, date: it belongs to every sentence of the text


class Checks(NamedTuple):
    """Which rules judge a text."""

    values: bool = True
    names: bool = True
    opposites: bool = True
    cover: bool = True
    min_cover: float = 0.35  # the share of a sentence's words under which it is doubtful
    links: bool = True
    known_links: tuple[str, ...] = ()  # hosts, URLs and mail addresses that need no source
    markup: tuple[str, ...] = ()  # active markup that a text may have: ``html``, ``images``, ``scripts``
    label_patterns: tuple[str, ...] = ()
    """Regular expressions of an application's own labels and names; each has to stand in a source as it is."""
    places: bool = True
    """Whether sentences get the source sentences that are nearest, and their cover; `opposites` and `cover` need it."""


ALL_CHECKS: Final = Checks()


class Finding(NamedTuple):
    """Something of a sentence that its sources contradict or do not have."""

    rule: str
    """``value``, ``count``, ``bound``, ``name``, ``link``, ``opposite``, ``cover``."""
    verdict: str
    text: str
    start: int
    """In the whole text, as `end`."""
    end: int
    source: str = ""
    """The id of the source that says otherwise; `source_start` and `source_end` are places in it, -1 for none."""
    source_start: int = -1
    source_end: int = -1
    told: str = ""
    """What the source says instead; of a link what is wrong: ``unsupported_link``, ``active_markup``."""


class CheckedSentence(NamedTuple):
    """A sentence of a text with its verdict."""

    text: str
    start: int
    end: int
    verdict: str  # one of `VERDICTS`
    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...]  # the source sentences that are nearest
    cover: float  # the share of its words that neighbouring source sentences have


class CheckedText(NamedTuple):
    """A text with the verdicts of its sentences."""

    verdict: str  # the worst of its sentences
    sentences: tuple[CheckedSentence, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all sentences, in their order."""
        return tuple(finding for sentence in self.sentences for finding in sentence.findings)


def check_text(
    text: str,
    sources: Sequence[Source],
    *,
    question: str = "",
    turns: Sequence[str] = (),
    known_names: Collection[str] = (),
    workings: Sequence[str] = (),
    checks: Checks = ALL_CHECKS,
    sentences: Sequence[CitingSentence] | None = None,
) -> CheckedText:
    """Judge the sentences of a text.

    Args:
        text: what was written.
        sources: what it rests on; they are read once.
        question: whose numbers, names and words it may repeat.
        turns: what the user said before, likewise.
        known_names: names that need no source.
        workings: how it comes to numbers that no source has, as `evaluate_workings` reads them.
        checks: which rules judge.
        sentences: where its sentences stand and what each cites; each is held against what it cites. By default they
            are split here, and each is held against all sources.

    Returns:
        The verdict of the text and of its sentences, with findings and the nearest places of the sources.
    """
    if sentences is None:
        every = tuple(source.id for source in sources)
        sentences = [CitingSentence(start, end, every) for start, end in find_quoting_sentences(text)]
    beside = (question, *turns)
    held = dict[tuple[str, ...], _Held]()
    judged = list[CheckedSentence]()
    for sentence in sentences:
        if sentence.ids not in held:
            cited = [source for source in sources if source.id in sentence.ids]
            held[sentence.ids] = _Held(text, cited, beside, known_names=known_names, workings=workings, checks=checks)
        judged.append(held[sentence.ids].judge(sentence.start, sentence.end))
    if checks.links:
        named = {name for sentence in sentences for name in sentence.ids}
        told = [said for each in sources if each.id in named for said in (each.text, each.id, *each.about)]
        judged = _judge_links(text, judged, [*beside, *told], checks, known_names)
    verdict = min((each.verdict for each in judged), key=VERDICTS.index, default="unchecked")
    return CheckedText(verdict, tuple(judged))


def _judge_links(
    text: str, judged: list[CheckedSentence], told: list[str], checks: Checks, known_names: Collection[str]
) -> list[CheckedSentence]:
    """Put the links that nothing has, or else active markup, to the sentences that they stand in."""
    from guardgraph.grounding.links import find_link_problem  # reads Markdown and the list of public suffixes

    problem = find_link_problem(
        [text], told, known_links=checks.known_links, markup=checks.markup, known_names=known_names
    )
    if problem is None:
        return judged
    judged = judged or [CheckedSentence(text, 0, len(text), "unchecked", (), (), 1.0)]
    for shown in problem.shown:
        start = max(text.find(shown), 0)  # what is hidden or spelled otherwise stands somewhere
        finding = Finding("link", "unsupported", shown, start, min(start + len(shown), len(text)), told=problem.kind)
        at = next((number for number, each in enumerate(judged) if start < each.end), len(judged) - 1)
        worst = min(judged[at].verdict, "unsupported", key=VERDICTS.index)
        judged[at] = judged[at]._replace(verdict=worst, findings=(*judged[at].findings, finding))
    return judged


class _Held:
    """A text held against some sources."""

    def __init__(
        self,
        text: str,
        sources: Sequence[Source],
        beside: Sequence[str],
        *,
        known_names: Collection[str],
        workings: Sequence[str],
        checks: Checks,
    ) -> None:
        self.text, self.beside, self.known_names, self.workings = text, beside, known_names, workings
        self.checks = checks
        self.sources: Sources = read_sources(
            tuple(source.id for source in sources),
            tuple(source.text for source in sources),
            tuple(source.about for source in sources),
        )
        self.read = read_text(text)
        self.language = self.read.language

    @cached_property
    def asked(self) -> frozenset[str]:
        """The stems of what stands beside the sources."""
        return frozenset().union(*(list_stems(said, self.language) for said in self.beside))

    @cached_property
    def beside_values(self) -> ValueIndex:
        """What the question and the turns say in numbers, and what workings come to."""
        return ValueIndex([*(value for each in self.beside for value in read_text(each).values), *self.results])

    @cached_property
    def results(self) -> list[Value]:
        """What workings come to."""
        said = [value for each in self.beside for value in read_text(each).values] if self.workings else ()
        return evaluate_workings(self.workings, [*self.sources.index.values, *said]) if self.workings else []

    @cached_property
    def labels(self) -> dict[str, Value]:
        """A label of the sources for each kind: P1 for all of P and digits."""
        told = (value for value in self.sources.index.values if value.kind == "label")
        return {letters: value for value in told if (letters := _take_label_letters(value.unit))}

    @cached_property
    def written(self) -> str:
        """All that may be repeated as it stands."""
        return "\n".join((self.sources.text, *self.beside))

    @cached_property
    def written_words(self) -> set[str]:
        """What stands between blanks there, a label in lower case too: "3D" of "3d"."""
        words = {word.strip(_AROUND) for word in self.written.split()}
        return words | {word.lower() for word in words if not word.isalpha()}

    @cached_property
    def names(self) -> Names:
        """The names that the text may have."""
        return join_names([self.sources.names, *map(read_names, (*self.beside, *self.known_names))])

    @cached_property
    def is_same_language(self) -> bool:
        """Whether names can be looked for: a source is in the language of the text, or there is none."""
        return not self.sources.read or is_language_of(self.language, [each.text for each in self.sources.read])

    def judge(self, start: int, end: int) -> CheckedSentence:
        """Return a sentence with its verdict."""
        sentence = self.read.text[start:end]
        near, cover = list[tuple[float, int]](), 1.0
        stems = list_stems(sentence, self.language)
        if self.checks.places:
            near = self.sources.find_nearest(stems)
            cover = self.sources.measure_cover(stems, self.asked, self.language)
        values = [value for value in self.read.list_values_between(start, end) if value.mark != "implied"]
        is_statement = not sentence.rstrip("*_ ").endswith(("?", ":")) and not is_heading(sentence)
        findings = list[Finding]()
        labels = list(self._judge_labels(start, end))
        findings += (finding for _, finding in labels if finding)
        values = [v for v in values if not any(a <= v.start < b for (a, b), _ in labels)]
        if self.checks.values:
            misplaced = list(self._judge_places(start, end, values))
            placed = {finding.start for finding in misplaced}
            findings += misplaced
            findings += self._judge_values([value for value in values if value.start not in placed], stems)
        if self.checks.names and self.is_same_language:
            findings += self._judge_names(start, end, values)
        if self.checks.opposites and is_statement:
            findings += self._judge_opposites(start, end, near)
        if self.checks.cover and cover < self.checks.min_cover and not sentence.rstrip("*_ ").endswith("?"):
            findings.append(Finding("cover", "doubtful", self.text[start:end], start, end, told=f"{cover:.2f}"))
        verdict = min((finding.verdict for finding in findings), key=VERDICTS.index, default="supported")
        if verdict == "supported" and (cover < SUPPORTED_FROM or not near):
            verdict = "unchecked"
        evidence = self.sources.show_evidence(near)
        return CheckedSentence(self.text[start:end], start, end, verdict, tuple(findings), evidence, round(cover, 3))

    # ---- values

    def _judge_labels(self, start: int, end: int) -> Iterator[tuple[tuple[int, int], Finding | None]]:
        """Yield where labels of the application stand, with a finding for each that no source has."""
        for pattern in self.checks.label_patterns:
            for match in re.compile(pattern).finditer(self.text, start, end):
                is_known = re.search(rf"(?<!\w){re.escape(match[0])}(?!\w)", self.written) is not None
                finding = None if is_known else Finding("value", "unsupported", match[0], *match.span())
                yield match.span(), finding

    def _judge_values(self, values: list[Value], stems: frozenset[str]) -> Iterator[Finding]:
        told = [(value, self._find_told(value)) for value in values]
        stated = [value for value, hit in told if hit]
        for value, hit in told:
            is_bare = hit and hit.kind == "number" and value.kind in _WITH_UNIT and hit not in self.results
            if hit and is_bare and not value.nouns & hit.nouns:
                yield Finding("value", "unchecked", value.text, value.start, value.end, told=hit.text)
        missing = [v for v, hit in told if not hit and (v.kind != "quantity" or not find_support(v, stated[:_MOST]))]
        bounds = [v for v in stated if v.mark in ("more", "less") and v.kind != "ordinal"]
        if not (missing or bounds):
            return
        beside = [
            (share, place, each)
            for share, at in self.sources.find_nearest(stems)
            for place in [self.sources.find_place(at)]
            for each in self.sources.read[place[0]].list_values_between(place[1], place[2])[:_MOST]
        ]
        for value in bounds:
            yield from self._judge_bound(value, beside)
        if not missing:
            return
        own = ValueIndex([each for _, _, each in beside])
        said = {each.said_anywhere for v in values for each in own.find_like(v) if find_support(v, [each])}
        free = [each for each in beside if each[2].said_anywhere not in said]
        for value in missing:
            conflict = next((each for each in free if _is_conflict(value, each[2], each[0] >= CONFLICT_FROM)), None)
            letters = _take_label_letters(value.text) if value.kind == "label" else ""
            if conflict:
                yield self._tell_contradiction(
                    "count" if value.is_small else "value", value, conflict[1][0], conflict[2]
                )
            elif value.is_small or (len(letters) > 1 and self.names.has_name(letters)):  # the word of "COVID-19"
                yield Finding("count", "unchecked", value.text, value.start, value.end)
            elif letters and (other := self.labels.get(_take_label_letters(value.unit))):
                yield Finding("value", "contradicted", value.text, value.start, value.end, told=other.text)
            else:
                yield Finding("value", "unsupported", value.text, value.start, value.end)

    def _judge_places(self, start: int, end: int, values: Sequence[Value]) -> Iterator[Finding]:
        """Find values that tables have elsewhere than the sentence says."""
        seen = set[int]()
        for table in _join_tables(self.sources) if values else ():
            for value, told, source in find_misplaced_values(self.read.text[start:end], start, values, table):
                if value.start not in seen:
                    seen.add(value.start)
                    yield self._tell_contradiction("count" if value.is_small else "value", value, source, told)

    def _find_told(self, value: Value) -> Value | None:
        """Return what is told of a value: the value of a source, the value itself where it stands there as written."""
        like = self.sources.index.find_like(value)
        if hit := next((each for each in like if supports(value, each)), None):
            return hit
        like += self.beside_values.find_like(value)
        if like and (hit := find_support(value, like)):
            return hit
        if value.kind == "score":
            return None
        said = value.text.lower() if value.kind == "label" else value.text
        is_there = is_written(value, self.written) if " " in said else said in self.written_words
        return value if is_there else None

    def _tell_contradiction(self, rule: str, value: Value, source: int, told: Value, words: str = "") -> Finding:
        place = (self.sources.ids[source], told.start, told.end)
        return Finding(rule, "contradicted", value.text, value.start, value.end, *place, words or told.text)

    def _judge_bound(
        self, value: Value, beside: Sequence[tuple[float, tuple[int, int, int], Value]]
    ) -> Iterator[Finding]:
        """Find a bound that is turned round: "more than 5" of "less than 5"."""
        same = [
            (place, told)
            for _, place, told in beside
            if told.mark in ("more", "less") and is_same_kind(value, told) and set(value.amounts) & set(told.amounts)
        ]
        if same and all(told.mark != value.mark for _, told in same):
            place, told = same[0]
            words = "at least" if told.mark == "more" else "at most"
            yield self._tell_contradiction("bound", value, place[0], told, f"{words} {told.text}")

    # ---- names and opposites

    def _judge_names(self, start: int, end: int, values: Sequence[Value]) -> Iterator[Finding]:
        sentence = self.read.text[start:end]
        if end - start <= _WHOLE * len(self.text) and is_heading(sentence):
            return
        found = [name for name in find_names(sentence, self.language) if name.text not in self.written_words]
        for name in list_unknown_names(found, sentence, self.names) if found else ():
            first, last = start + name.start, start + name.end
            if not any(value.start <= first < value.end for value in values):
                alike = find_spelled_alike(name.text, self.names)
                yield Finding("name", "doubtful" if alike else "unsupported", name.text, first, last, told=alike)

    def _judge_opposites(self, start: int, end: int, near: Sequence[tuple[float, int]]) -> Iterator[Finding]:
        if self.language != "en":
            return
        sentence, compared = self.read.text[start:end], list[tuple[tuple[int, int, int], bool]]()
        for _, at in near:
            source, first, last = self.sources.find_place(at)
            other = self.sources.read[source].text[first:last]
            opposite = None if other.endswith("?") else is_opposite(sentence, other)
            if opposite is not None:
                compared.append(((source, first, last), opposite))
        if compared and all(opposite for _, opposite in compared):
            (source, first, last), _ = compared[0]
            told = self.sources.read[source].text[first:last]
            yield Finding(
                "opposite", "doubtful", self.text[start:end], start, end, self.sources.ids[source], first, last, told
            )


@lru_cache(maxsize=64)
def _join_tables(sources: Sources) -> list[Table]:
    return join_tables(sources.read)


def _take_label_letters(label: str) -> str:
    return re.sub(r"[\W\d_]", "", label)


def _list_counted(value: Value) -> frozenset[str]:
    """Return what a number counts; a small number behind a word only names one of several, as "step 4" does."""
    return frozenset(noun for noun in value.nouns if not (value.is_small and "#" in noun))


def _is_conflict(value: Value, source: Value, is_near: bool) -> bool:
    """Say whether a source sentence, near or not, says another number of the same than a value that no source has."""
    if source.mark == "implied" or value.kind != source.kind or value.is_year != source.is_year:
        return False
    if not is_same_kind(value, source) or value.kind in ("label", "score"):
        return value.kind == source.kind == "score"
    is_unit = value.kind not in ("number", "ordinal") and (value.kind != "quantity" or value.factor == source.factor)
    is_same = value.is_year or is_unit or bool(_list_counted(value) & source.nouns)
    return is_same and (not value.is_small or is_near)


WORST_FIRST: Final = ("contradicted", "unsupported", "doubtful")
"""The verdicts after which a sentence may be refused or marked."""


class Decision(NamedTuple):
    """What becomes of a text."""

    reason: str
    """``active_markup``, ``unsupported_link``, ``contradicts_source``, ``unsupported_number``, ``unsupported_name`` or
    ``doubtful``: what its writer is asked again for; "" where nothing is refused or marked."""
    stops: bool  # whether it is refused where nobody is asked again; else it goes on with its marks
    findings: tuple[Finding, ...]  # those of the sentences that the reason is about
    unsupported: tuple[str, ...]  # what of the text the reason is about
    marked: tuple[CheckedSentence, ...]  # the sentences that are marked where the text goes on


def decide(checked: CheckedText, *, on_unsupported: str, on_doubt: str) -> Decision:
    """Say what becomes of a text whose sentences were held against their sources."""
    if links := tuple(finding for finding in checked.findings if finding.rule == "link"):
        return Decision(links[0].told, True, links, tuple(dict.fromkeys(each.text for each in links)), ())
    ways: Mapping[str, str] = {"contradicted": on_unsupported, "unsupported": on_unsupported, "doubtful": on_doubt}
    found = [item for item in checked.sentences if ways.get(item.verdict, "ignore") != "ignore"]
    stops = any(ways[item.verdict] == "stop" for item in found)
    counted = [item for item in found if not stops or ways[item.verdict] == "stop"]
    if not counted:
        return Decision("", False, (), (), ())
    findings = tuple(each for item in counted for each in item.findings if ways.get(each.verdict, "ignore") != "ignore")
    worst = min(findings, key=lambda finding: WORST_FIRST.index(finding.verdict))
    is_doubt = worst.verdict == "doubtful"
    about = tuple(dict.fromkeys(each.text for each in findings if is_doubt or each.verdict != "doubtful"))
    marked = tuple(item for item in found if ways[item.verdict] == "mark")
    return Decision(_name_refusal_reason(worst), stops, findings, about, marked)


def _name_refusal_reason(finding: Finding) -> str:
    if finding.verdict == "unsupported":
        return "unsupported_name" if finding.rule == "name" else "unsupported_number"
    return "contradicts_source" if finding.verdict == "contradicted" else "doubtful"

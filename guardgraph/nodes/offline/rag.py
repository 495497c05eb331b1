"""The RAG agent's offline proposers: the question as query, an answer from the chunks' sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import detect_language, read_terms
from guardgraph.guards import rag as guards
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.stop import Stop
from guardgraph.nodes.offline.follow_ups import leans_on_text_before
from guardgraph.nodes.offline.statements import Statement, read_statements
from guardgraph.nodes.offline.wanted import CODE_KINDS, CODE_TERM, find_wanted_kind, score_sentence_fit
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import ContextChunk, RagPolicy
from guardgraph.world.call import mark_as_instant

QUERY_CHARS = 240
"""max_query_chars of the default budget, where the view does not say."""

_INSUFFICIENT: Final[JsonObject] = {"answer": "", "citations": [], "insufficient": True}
_RANKED: Final = 20
"""From which a chunk's rank is taken: what was found first is preferred a little."""
_PRECISION: Final = 1000
"""Weights are whole numbers, so that the order of adding changes nothing."""
_PREFERENCE: Final = 4
"""To which a fit of 0 to 2 is added: a sentence that has what is wanted counts half as much again."""
_FITS: Final = 2
"""The fit of a sentence that has what is wanted."""
_LEAST_GAIN: Final = 0.2
"""What a further sentence covers of the question at least, as a share of its weight."""
_RUNNER_UP: Final = 0.6
"""How well a sentence answers at least, as a share of the best one, that is said beside it."""
_MOST_SENTENCES: Final = 3
"""Sentences up to which such ones are added."""
_TRIES: Final = 16
"""Sentences that are tried at most, those that the guards would refuse among them."""
_PASSAGE: Final = 600
"""Characters of the sentences that are taken together with the best one."""
_OFTEN_MORE: Final = ("value", "place")
"""Kinds where a sentence that has what is wanted may have another such thing; the next ones often say which holds."""
_SHORT_PASSAGE: Final = 320
"""Characters of such a paragraph where nothing says that its other sentences are wanted."""
_AROUND: Final = 3
"""Sentences behind the best one, or before it, that are looked at for what is wanted."""
_UNSPACED_END: Final = ("。", "！", "？", "｡")
_END: Final = (*".!?…।۔؟:;,", *(f"{mark}{close}" for mark in ".!?" for close in "\"'”’»)"))


@mark_as_instant
def plan_offline_retrieval(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question itself, or by as many of its content words as a query may have.

    Args:
        view: ``{question, available_sources}``, and the run's limits, ``{top_k, max_query_chars}``, where they are
            known.

    Returns:
        A retrieval intent that leaves the sources to the policy; it asks for `top_k` candidates.
    """
    query, limit = " ".join(view["question"].split()), view.get("max_query_chars", QUERY_CHARS)
    if len(query) > limit:
        words = [word for word in query.split() if read_terms(word, detect_language(query))] or query.split()
        query = words[0][:limit]
        for word in words[1:]:
            if len(query) + 1 + len(word) > limit:
                break
            query = f"{query} {word}"
    asked: JsonObject = {"kind": "retrieve", "query": query}
    return {**asked, "top_k": view["top_k"]} if "top_k" in view else asked


@dataclass(frozen=True, slots=True)
class _ChunkLine:
    """A sentence of the context."""

    rank: int
    """Its chunk's."""
    text: str
    own: frozenset[str]
    """The question's terms that it has."""
    inherited: frozenset[str]
    """Those that only the title, the section, or the question, heading or table's head before it have."""
    fit: int
    """How well it answers what the question wants."""
    said: Statement
    """Where it stands in its chunk, and under what."""


@mark_as_instant
def write_offline_answer(view: JsonObject) -> JsonObject:
    """Propose the sentences that say most about the question, word for word.

    Sentences are taken one by one, each the one that covers most of what none before it covers: a term weighs the more
    the fewer sentences of the context have it, and half where only the words above the sentence have it. Where a
    question asks how long, when, who or how much, a sentence that says so counts half as much again. A sentence that
    asks, or that the guards would refuse, is passed over; what it asks for is said by what stands behind it. What
    stands under a term is said with the term, and a row with the heads of its columns. Where one sentence says
    it all, those that answer nearly as well are said beside it, three at most.

    Args:
        view: ``{question, context_chunks}``, the chunks best first; and ``sentence_citations`` where every sentence
            must be marked with what it cites.

    Returns:
        ``{answer, citations}``; the answer reads in the chunks' order and cites exactly the chunks it takes from. Or
        ``{answer, citations, insufficient}`` where no sentence covers the question.
    """
    question: str = view["question"]
    chunks = [_parse_shown_chunk(item) for item in view["context_chunks"]]
    language = detect_language("\n".join(chunk["text"] for chunk in chunks))
    asked = frozenset(read_terms(question, language))
    lines = list(_read_context_lines(question, asked, language, chunks))
    marked = view.get("sentence_citations") is True
    chosen = _choose_answer_sentences(question, asked, chunks, lines, marked=marked)
    whole = sorted({*chosen, *_choose_passage(question, language, lines, chosen)})
    for taken in (whole, sorted(chosen), chosen[:1]):
        used = list(dict.fromkeys(lines[place].rank for place in taken))
        text = _join_answer_lines([lines[place] for place in taken], chunks if marked else None)
        if taken and _is_supported_answer(text, question, [chunks[rank] for rank in used], chunks, marked=marked):
            return {"answer": text, "citations": list(dict.fromkeys(chunks[rank]["doc_id"] for rank in used))}
    return _INSUFFICIENT


def _parse_shown_chunk(item: JsonObject) -> ContextChunk:
    """Return a chunk as the guards read it; an answerer is not shown where it comes from and how relevant it is."""
    return ContextChunk(
        doc_id=item["doc_id"],
        source="",
        title=item["title"],
        section=item["section"],
        updated_at=item["updated_at"],
        text=item["text"],
        score=1.0,
    )


def _read_context_lines(
    question: str, asked: frozenset[str], language: str, chunks: list[ContextChunk]
) -> Iterator[_ChunkLine]:
    """Read the context as what may be said alone, with the question's terms that it has, and that stand over it."""
    kind = find_wanted_kind(question)
    for rank, chunk in enumerate(chunks):
        titled = asked.intersection(read_terms(f"{chunk['title']}\n{chunk['section']}", language))
        heading = _read_heading_term(chunk, question) if kind == "term" else ""
        for said in read_statements(chunk["text"], language):
            label = said.label or heading
            text = f"{label}: {said.text}" if label and label not in said.text else said.text
            first = said.text.partition("\n")[0]  # what a list or code says is not said of all of it
            own = asked.intersection(read_terms(f"{label}\n{first}\n{said.question}", language))
            led = asked.intersection(read_terms(said.lead, language)) if said.lead else frozenset()
            fit = score_sentence_fit(text, kind, question) if own else 0
            if said.leads_on and fit < _FITS:
                continue
            yield _ChunkLine(rank, text, own, (titled | led) - own, fit, said)


def _read_heading_term(chunk: ContextChunk, question: str) -> str:
    """Return the last heading above a chunk where it is a term, which its text often does not repeat.

    It is one word that reads like a name of code, or a name with the kind of thing that the question asks for
    (*Listen Directive*).
    """
    heading = chunk["section"].rpartition(" > ")[2]
    _, _, kind = heading.partition(" ")
    if not kind:
        return heading if not heading[:1].isupper() or CODE_TERM.fullmatch(heading) else ""
    is_asked = re.fullmatch(CODE_KINDS, kind, re.IGNORECASE) and kind.casefold() in question.casefold()
    return heading if is_asked else ""


def _choose_answer_sentences(
    question: str, asked: frozenset[str], chunks: list[ContextChunk], lines: list[_ChunkLine], *, marked: bool
) -> list[int]:
    """Return the places of the sentences that answer, the best first."""
    holders = Counter(term for line in lines for term in line.own)
    weights = {term: round(_PRECISION * math.log(1 + len(lines) / (holders[term] + 0.5))) for term in asked}
    whole, open_terms = sum(weights.values()), set(asked)

    def rate_answer_sentence(place: int) -> int:
        line = lines[place]
        own = sum(weights[term] for term in line.own & open_terms)
        inherited = sum(weights[term] for term in line.inherited & open_terms)
        many = 1 + len(line.own & open_terms)
        return (2 * own + inherited) * many * (_PREFERENCE + line.fit) * (_RANKED - line.rank) if own else 0

    chosen: list[int] = []
    rest = list(range(len(lines)))
    rated = [rate_answer_sentence(place) for place in rest]
    for _ in range(min(len(rest), _TRIES)):
        best = max(rest, key=rate_answer_sentence)
        rest.remove(best)
        gain = sum(weights[term] for term in lines[best].own & open_terms)
        if not gain or (chosen and gain < _LEAST_GAIN * whole):
            break
        text = _join_answer_lines([lines[best]], chunks if marked else None)
        if any(lines[best].text in lines[place].text or lines[place].text in lines[best].text for place in chosen):
            continue
        if _is_supported_answer(text, question, [chunks[lines[best].rank]], chunks, marked=marked):
            chosen.append(best)
            open_terms -= lines[best].own
    if len(chosen) == 1:
        chosen += _choose_runners_up(question, chunks, lines, chosen, rated=rated, weights=weights, marked=marked)
    return chosen


def _choose_runners_up(
    question: str,
    chunks: list[ContextChunk],
    lines: list[_ChunkLine],
    chosen: list[int],
    *,
    rated: list[int],
    weights: dict[str, int],
    marked: bool,
) -> list[int]:
    """Return the sentences that answer nearly as well as the best one: which of them is the right one, nothing tells.

    They stand in its chunk: two sources that differ are not one answer. With what stands above them they have as much
    of the question and fit it as well, and they say something else.
    """
    best, taken = lines[chosen[0]], list[int]()
    weight = sum(weights[term] for term in best.own | best.inherited)
    alike = [
        place
        for place, line in enumerate(lines)
        if line.rank == best.rank
        and rated[place] >= _RUNNER_UP * rated[chosen[0]]
        and sum(weights[term] for term in line.own | line.inherited) >= weight
        and line.fit >= best.fit
        and len(line.text) <= _SHORT_PASSAGE
    ]
    for place in sorted(alike, key=rated.__getitem__, reverse=True)[:_TRIES]:
        said = [lines[other].text for other in (*chosen, *taken)]
        text = lines[place].text
        if len(said) >= _MOST_SENTENCES:
            break
        if any(text in other or other in text for other in said):
            continue
        shown = _join_answer_lines([lines[place]], chunks if marked else None)
        if _is_supported_answer(shown, question, [chunks[lines[place].rank]], chunks, marked=marked):
            taken.append(place)
    return taken


def _choose_passage(question: str, language: str, lines: list[_ChunkLine], chosen: list[int]) -> list[int]:
    """Return the sentences around the best one that say what that one leaves open; nothing where none does.

    A question that wants a name, a time, a number or a term is often answered by a sentence near by, which does not
    repeat its words: the sentences up to that one are taken. To any other, what goes on from the best sentence
    ("They lack ...") belongs.
    """
    kind = find_wanted_kind(question)
    if not chosen:
        return []
    best = chosen[0]
    behind, before = (list(_walk_from_line(lines, best, step)) for step in (1, -1))
    of_paragraph = [place for place in behind if lines[place].said.paragraph == lines[best].said.paragraph]
    if lines[best].fit == _FITS:
        return _limit_passage(lines, best, of_paragraph) if len(chosen) == 1 and kind in _OFTEN_MORE else []
    if not kind or kind == "list":
        return list(takewhile(lambda place: leans_on_text_before(lines[place].said.text, language), behind[:1]))
    for near in (behind, before):
        for count, place in enumerate(near, start=1):
            if score_sentence_fit(lines[place].text, kind, question) == _FITS:
                return near[:count]
    return [] if any(lines[place].fit == _FITS for place in chosen) else of_paragraph


def _limit_passage(lines: list[_ChunkLine], best: int, places: list[int]) -> list[int]:
    """Return the first of some places, as many as make a short paragraph with the best sentence."""
    chars, taken = len(lines[best].text), list[int]()
    for place in places:
        chars += len(lines[place].text)
        if chars > _SHORT_PASSAGE:
            break
        taken.append(place)
    return taken


def _walk_from_line(lines: list[_ChunkLine], place: int, step: int) -> Iterator[int]:
    """Yield the places beside a sentence, one way, as long as they are about the same and short enough together."""
    chars = len(lines[place].text)
    for nearby in range(place + step, place + step * (_AROUND + 1), step):
        if not 0 <= nearby < len(lines):
            return
        here, last = lines[nearby], lines[nearby - step]
        chars += len(here.text)
        if (here.rank, here.said.at, here.said.label) != (
            last.rank,
            last.said.at + step,
            last.said.label,
        ) or chars > _PASSAGE:
            return
        yield nearby


def _is_supported_answer(
    text: str, question: str, cited: list[ContextChunk], packed: list[ContextChunk], *, marked: bool
) -> bool:
    """Say whether the guards let a text pass that cites these chunks."""
    try:
        read = guards.read_answer(text, [chunk["doc_id"] for chunk in cited], packed, must_cite=marked)
        guards.check_cited_links(read.text, question=question, chunks=read.used, policy=RagPolicy())
        checked = guards.check_answer_sentences(read, task={"question": question}, workings=[], policy=RagPolicy())
    except Stop:
        return False
    return judge_answer(checked, RagPolicy()).refusal is None


def _join_answer_lines(lines: list[_ChunkLine], marked_by: list[ContextChunk] | None) -> str:
    """Join sentences as their script does, with marks of these chunks; a line that no mark ends stays a line."""
    joined, before, label = "", "", ""
    for line in lines:
        between = "" if not before or before.endswith(_UNSPACED_END) else " " if before.endswith(_END) else "\n"
        text = line.said.text if label and label == _read_said_label(line) else line.text
        joined += between + (
            text if marked_by is None else _mark_answer_sentences(text, marked_by[line.rank]["doc_id"])
        )
        before, label = line.text, _read_said_label(line)
    return joined


def _read_said_label(line: _ChunkLine) -> str:
    """Return what is said before a sentence that is not in it; blank where nothing is."""
    return line.text.removesuffix(line.said.text)


def _mark_answer_sentences(text: str, doc_id: str) -> str:
    """Mark a text behind every sentence that it may be read as, out of its context."""
    return " ".join(f"{sentence} [{doc_id}]" for sentence in split_sentences(text))

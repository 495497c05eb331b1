"""What an answer cites, and whether its numbers and names stand there: as a whole, and sentence by sentence.

A sentence is held against what it cites by its marks, or what its words suggest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from guardgraph.grounding.marks import Mark, Sentence, find_answer_sentences, read_marks
from guardgraph.grounding.quotes import Quote, find_quotes, is_quote_in_text
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import detect_language, find_nearest_texts
from guardgraph.guards.stop import Stop, evidence, shown_name
from guardgraph.guards.support import SENTENCE_CHARS
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.state.rag import CitationDetail, ContextChunk, RagPolicy

_SAYING: Final = ("text", "title", "section", "source", "doc_id")
"""What of a chunk may have a name or a link."""


def is_abstaining_answer(proposed: JsonValue) -> bool:
    """Say whether an answerer says that its context does not answer the question.

    Args:
        proposed: any JSON value; ``{"insufficient": true}`` is enough, whatever else it holds.
    """
    return isinstance(proposed, dict) and proposed.get("insufficient") is True


def parse_citations(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> tuple[list[str], list[str]]:
    """Split citations into those that name a packed chunk and those that do not.

    Returns:
        Valid ids in the order given and invalid ids sorted; stripped, blanks dropped, without duplicates.
    """
    known = {chunk["doc_id"] for chunk in chunks}
    given = list(dict.fromkeys(item.strip() for item in citations if item.strip()))
    return [item for item in given if item in known], sorted(item for item in given if item not in known)


def check_citations(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> list[CitationDetail]:
    """Return the details of citations, in their order.

    Args:
        citations: as the model gave them.
        chunks: the packed context.

    Raises:
        Stop: ``invalid_answer:citations_out_of_context`` or ``invalid_answer:missing_citations``.
    """
    valid, invalid = parse_citations(citations, chunks)
    if invalid:
        known = sorted({chunk["doc_id"] for chunk in chunks})
        raise Stop("invalid_answer:citations_out_of_context", invalid_citations=invalid, context_doc_ids=known)
    if not valid:
        raise Stop("invalid_answer:missing_citations")
    by_id = {chunk["doc_id"]: chunk for chunk in reversed(chunks)}
    return [_make_citation_detail(by_id[doc_id]) for doc_id in valid]


def _make_citation_detail(chunk: ContextChunk) -> CitationDetail:
    detail = CitationDetail(
        doc_id=chunk["doc_id"],
        title=chunk["title"],
        section=chunk["section"],
        updated_at=chunk["updated_at"],
        source=chunk["source"],
        score=chunk["score"],
    )
    return CitationDetail(**{**detail, "duplicates": chunk["duplicates"]}) if "duplicates" in chunk else detail


def check_cited_links(answer: str, *, question: str, chunks: Sequence[ContextChunk], policy: RagPolicy | None) -> None:
    """Refuse an answer with active markup, or with a link that no cited chunk, question or policy has.

    Args:
        answer: the answer's text.
        question: the user's question.
        chunks: the chunks that the answer cites.
        policy: the run's, None where links are not judged.

    Raises:
        Stop: ``invalid_answer:active_markup``, ``invalid_answer:unsupported_link``.
    """
    from guardgraph.guards.links import check_links  # reads Markdown and the list of public suffixes

    cited = [question, *(chunk[key] for chunk in chunks for key in _SAYING)]
    check_links(
        [answer], "invalid_answer", cited=cited, policy=policy, known_names=policy.known_names if policy else ()
    )


def check_cited_numbers(
    answer: str, *, question: str, chunks: Sequence[ContextChunk], documents: int = 0, derive: bool = True
) -> None:
    """Refuse an answer that states a number or a severity that neither a cited chunk nor the question has.

    A severity is refused only where they name others of its scale ("P1" beside "P2"), and no range that holds it.

    Args:
        answer: the answer's text.
        question: the user's question.
        chunks: the chunks that the answer cites.
        documents: how many chunks the answerer was shown; an answer may speak of "Document 2".
        derive: whether what follows from the numbers of the chunks may be said.

    Raises:
        Stop: ``invalid_answer:unsupported_number``.
    """
    from guardgraph.guards.facts import (  # the largest part of an import
        facts_in_text,
        facts_in_texts,
        unsupported_of_answer,
    )
    from guardgraph.guards.facts.references import find_severities_between

    licence = facts_in_text(question)
    for chunk in chunks:
        licence |= facts_in_texts(chunk[name] for name in ("text", "title", "section", "updated_at"))
    texts = [chunk["text"] for chunk in chunks]
    missing = unsupported_of_answer(answer, licence, texts=texts, documents=documents, derive=derive)
    scales = {severity[:-1] for severity in licence.severities}  # where a source has none, it may say "Priority 1"
    other = [severity for severity in missing.severities if severity[:-1] in scales]
    if other:
        between = {severity for text in texts for severity in find_severities_between(text)}
        other = [severity for severity in other if severity not in between]
    if unsupported := missing.numbers or other:
        raise Stop("invalid_answer:unsupported_number", unsupported=list(unsupported))


def check_cited_names(
    answer: str,
    *,
    question: str,
    chunks: Sequence[ContextChunk],
    packed: Sequence[ContextChunk],
    known_names: Collection[str] = (),
    within: str = "",
) -> None:
    """Refuse an answer with a name that neither a cited chunk, nor the question, nor the policy has.

    Args:
        answer: the answer's text.
        question: the user's question.
        chunks: the chunks that the answer cites.
        packed: every chunk of the context; a word that stands there in lower case is no name.
        known_names: names that any answer may say.
        within: the answer, where only a sentence of it is held.

    Raises:
        Stop: ``invalid_answer:unsupported_name``.
    """
    from guardgraph.guards.names import find_unsupported_names  # reads tables of languages

    cited = ["\n".join(chunk[key] for key in _SAYING) for chunk in chunks]
    read = [chunk["text"] for chunk in packed]
    if missing := find_unsupported_names(
        answer, cited=cited, beside=[question, *known_names], read=read, within=within
    ):
        raise Stop("invalid_answer:unsupported_name", unsupported=list(map(shown_name, missing)))


_BESIDE = ("title", "section", "source", "doc_id", "updated_at")
"""What belongs to every sentence of a chunk."""

Terms = Callable[[str, str], Collection[str]]
"""Reads a text in a language as the terms that the retriever searches by."""


def match_sentences_to_chunks(text: str, chunks: Sequence[ContextChunk], *, terms: Terms) -> list[Sentence]:
    """Return the sentences of an answer with the cited chunks that they most likely rest on.

    One cited chunk is what every sentence rests on: the whole answer was held against it. Of several, a sentence
    rests on the one that shares the most of its words, on each of them where they share as many, and on none where
    none shares any.

    Args:
        text: the answer.
        chunks: those that it cites.
        terms: reads a text in a language as terms.
    """
    spans = [(start, end) for start, end, *_ in find_answer_sentences(text)]
    if len({chunk["doc_id"] for chunk in chunks}) == 1:
        return [Sentence(start, end, (chunks[0]["doc_id"],)) for start, end in spans]
    language = detect_language("\n".join(chunk["text"] for chunk in chunks))
    texts = [f"{chunk['title']}\n{chunk['section']}\n{chunk['text']}" for chunk in chunks]
    nearest = find_nearest_texts([text[start:end] for start, end in spans], texts, language=language, terms=terms)
    return [
        Sentence(*span, tuple(dict.fromkeys(chunks[at]["doc_id"] for at in places)))
        for span, places in zip(spans, nearest, strict=True)
    ]


def check_cited_sentences(
    text: str, sentences: Sequence[Sentence], *, question: str, chunks: Sequence[ContextChunk], policy: RagPolicy
) -> None:
    """Hold every sentence of an answer against the chunks that it cites itself: numbers, names, then quotes.

    Args:
        text: the answer without its marks.
        sentences: its sentences, in order.
        question: the user's question.
        chunks: the packed context.
        policy: which checks run; quotes are always held.

    Raises:
        Stop: ``invalid_answer:unsupported_number``, ``invalid_answer:unsupported_name`` or
            ``invalid_answer:quote_not_in_source``, with the sentence.
    """
    quotes = list(find_quotes(text))
    for ids in dict.fromkeys(item.ids for item in sentences):
        alike = [item for item in sentences if item.ids == ids]
        own = [chunk for chunk in chunks if chunk["doc_id"] in ids]
        said = [text[item.start : item.end] for item in alike]
        with _show_refused_sentence(said):
            _check_sentence_support(
                "\n".join(said), question=question, cited=own, packed=chunks, policy=policy, within=text
            )
        for item, sentence in zip(alike, said, strict=True):
            first, last = (bisect_left(quotes, at, key=_get_quote_start) for at in (item.start, item.end))
            with evidence(sentence=excerpt_value(sentence, SENTENCE_CHARS)):
                check_answer_quotes([quote.text for quote in quotes[first:last]], own)


def _check_sentence_support(
    said: str,
    *,
    question: str,
    cited: Sequence[ContextChunk],
    packed: Sequence[ContextChunk],
    policy: RagPolicy,
    within: str,
) -> None:
    """Hold sentences that cite the same together: the chunks are read once, and more words tell the language."""
    if policy.check_numbers:
        may_derive = policy.derived == "allow"
        check_cited_numbers(said, question=question, chunks=cited, documents=len(packed), derive=may_derive)
    if policy.check_names:
        known = policy.known_names
        check_cited_names(said, question=question, chunks=cited, packed=packed, known_names=known, within=within)


def make_sentence_check(
    text: str,
    sentences: Sequence[Sentence] | None,
    *,
    question: str,
    cited: Sequence[ContextChunk],
    chunks: Sequence[ContextChunk],
    policy: RagPolicy,
) -> Callable[[int, int], Stop | None]:
    """Return what says why a stretch of an answer is refused, None where its numbers and names stand in what it cites.

    Of sentences that cite themselves, those of the stretch are read that cite the same as its last one.

    Args:
        text: the answer without its marks.
        sentences: those that cite themselves; None where each rests on all that the answer cites.
        question: the user's question.
        cited: the chunks that the answer cites.
        chunks: the packed context.
        policy: which checks run.
    """
    starts = [item.start for item in sentences or ()]

    def refuse_stretch(start: int, end: int) -> Stop | None:
        own, said = cited, text[start:end]
        if sentences is not None:
            last = sentences[bisect_left(starts, end) - 1]
            within = sentences[bisect_left(starts, start) : bisect_left(starts, end)]
            said = "\n".join(text[item.start : item.end] for item in within if item.ids == last.ids)
            own = [chunk for chunk in chunks if chunk["doc_id"] in last.ids]
        try:
            _check_sentence_support(said, question=question, cited=own, packed=chunks, policy=policy, within=text)
        except Stop as stop:
            return stop
        return None

    return refuse_stretch


@contextmanager
def _show_refused_sentence(said: Sequence[str]) -> Iterator[None]:
    """Add to a stop the sentence that says what is unsupported."""
    try:
        yield
    except Stop as stop:
        found = (item for item in said if any(name in item for name in stop.evidence["unsupported"]))
        shown = excerpt_value(next(found, said[0]), SENTENCE_CHARS)
        raise Stop(stop.reason, **{**stop.evidence, "sentence": shown}) from None


def check_sentences_together(
    text: str, sentences: Sequence[Sentence], *, question: str, chunks: Sequence[ContextChunk], policy: RagPolicy
) -> None:
    """Hold every sentence of an answer against two neighbouring sentences of what it cites.

    Its numbers and names, as far as the policy checks them, stand within two such sentences, with the chunk's title and
    section and the question. So a figure of one product is not told of another that the same chunk names elsewhere.

    Args:
        text: the answer without its marks.
        sentences: its sentences, in order.
        question: the user's question.
        chunks: the packed context.
        policy: which checks run, and the known names.

    Raises:
        Stop: ``invalid_answer:not_together``, with the first such sentence.
    """
    read = [chunk["text"] for chunk in chunks]
    for item in sentences:
        said, cited = text[item.start : item.end], [chunk for chunk in chunks if chunk["doc_id"] in item.ids]
        beside = [question, *policy.known_names]
        if not any(
            _is_said_within(said, window, beside=beside, read=read, within=text, policy=policy)
            for chunk in cited
            for window in _list_windows(chunk)
        ):
            raise Stop("invalid_answer:not_together", sentence=excerpt_value(said, SENTENCE_CHARS))


def _list_windows(chunk: ContextChunk) -> Iterator[list[str]]:
    """Yield every two sentences that follow each other, with what belongs to all of them."""
    beside = [chunk[key] for key in _BESIDE]  # type: ignore[literal-required]
    sentences = split_sentences(unwrap_text_lines(chunk["text"]))
    yield from ([*pair, *beside] for pair in pairwise(sentences))
    if len(sentences) < 2:
        yield [*sentences, *beside]


def _is_said_within(
    said: str, window: Sequence[str], *, beside: Collection[str], read: Sequence[str], within: str, policy: RagPolicy
) -> bool:
    from guardgraph.guards.facts import facts_in_text, facts_in_texts, unsupported  # the largest part of an import
    from guardgraph.guards.names import find_unsupported_names  # reads tables of languages

    if policy.check_numbers and unsupported(facts_in_text(said), facts_in_texts([*window, *beside])).numbers:
        return False
    if not policy.check_names:
        return True
    return not find_unsupported_names(said, cited=["\n".join(window)], beside=beside, read=read, within=within)


def check_answer_quotes(quotes: Sequence[str], chunks: Sequence[ContextChunk]) -> None:
    """Refuse a quote that does not stand in a chunk, word for word.

    Args:
        quotes: what is quoted.
        chunks: the chunks that it is cited from.

    Raises:
        Stop: ``invalid_answer:quote_not_in_source``.
    """
    texts = [chunk[key] for chunk in chunks for key in ("text", "title", "section")]
    if missing := [quote for quote in quotes if not any(is_quote_in_text(quote, text) for text in texts)]:
        raise Stop("invalid_answer:quote_not_in_source", unsupported=[excerpt_value(quote) for quote in missing])


def _get_quote_start(quote: Quote) -> int:
    return quote.start


def read_citation_marks(answer: str, chunks: Sequence[ContextChunk]) -> tuple[str, list[Mark]]:
    """Take the marks out of an answer, as `read_marks` does.

    Args:
        answer: as the model wrote it.
        chunks: the packed context.

    Returns:
        The text without marks and without the blanks before them, and the marks in order.

    Raises:
        Stop: ``invalid_answer:citations_out_of_context``, ``llm_empty`` where nothing but marks was written.
    """
    ids = {chunk["doc_id"] for chunk in chunks}
    text, marks, unknown = read_marks(answer, ids, [chunk["text"] for chunk in chunks])
    if unknown:
        raise Stop("invalid_answer:citations_out_of_context", invalid_citations=unknown, context_doc_ids=sorted(ids))
    if not text:
        raise Stop("llm_empty", details={"field": "answer"})
    return text, marks

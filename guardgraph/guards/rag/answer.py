"""What an answer cites, and whether its numbers and names stand there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonValue
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

"""The RAG agent's offline proposers: a query from the question's terms, an answer from the chunks' sentences."""

from __future__ import annotations

from guardgraph.guards.sentences import sentences
from guardgraph.state.instant import instant
from guardgraph.state.json import JsonObject
from guardgraph.tools.terms import content_words, terms

__all__ = ["answer", "plan"]

QUERY_CHARS = 240
"""max_query_chars of the default budget; a tighter budget refuses a longer query."""


@instant
def plan(view: JsonObject) -> JsonObject:
    """Propose to retrieve by the question's content words.

    Args:
        view: ``{question, available_sources}``.

    Returns:
        A retrieval intent that leaves sources and top_k to the policy.
    """
    words = content_words(view["question"]) or view["question"].split()
    query = ""
    for word in words:
        if len(query) + len(word) + 1 > QUERY_CHARS:
            break
        query = f"{query} {word}".strip()
    return {"kind": "retrieve", "query": query or words[0][:QUERY_CHARS]}


@instant
def answer(view: JsonObject) -> JsonObject:
    """Propose the sentences that say most about the question, word for word.

    Sentences are taken one by one, each the one that covers most terms of the question that none has covered yet;
    equal ones in the order of relevance.

    Args:
        view: ``{question, context_chunks}``, the chunks best first.

    Returns:
        ``{answer, citations}``; the answer reads in the chunks' order and cites exactly the chunks it takes from.
    """
    lines = [
        (rank, place, sentence, set(terms(sentence)))
        for rank, chunk in enumerate(view["context_chunks"])
        for place, sentence in enumerate(sentences(chunk["text"]))
    ]
    open_terms = set(terms(view["question"]))
    chosen = []
    while lines and (best := max(lines, key=lambda line: len(line[3] & open_terms)))[3] & open_terms:
        chosen.append(best)
        open_terms -= best[3]
    chosen = sorted(chosen or lines[:1], key=lambda line: line[:2])
    cited = dict.fromkeys(view["context_chunks"][rank]["doc_id"] for rank, *_ in chosen)
    return {"answer": " ".join(line[2] for line in chosen), "citations": list(cited)}

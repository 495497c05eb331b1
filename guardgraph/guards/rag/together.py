"""Whether what one sentence of an answer says stands together in what it cites, and not in parts that lie far apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from guardgraph.guards.rag.sentences import SENTENCE_CHARS, Sentence
from guardgraph.guards.stop import Stop
from guardgraph.languages.sentences import split_sentences, unwrap_text_lines
from guardgraph.plain.json import excerpt_value
from guardgraph.state.rag import ContextChunk, RagPolicy

_BESIDE = ("title", "section", "source", "doc_id", "updated_at")
"""What belongs to every sentence of a chunk."""


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

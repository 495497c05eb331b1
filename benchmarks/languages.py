"""How does it work in languages other than English: the retriever, the offline RAG agent, and the check of names?

The texts and questions are those of XQuAD (Artetxe, Ruder and Yogatama 2020, CC BY-SA 4.0), a file with ``{language:
{"paragraphs": {id: text}, "questions": [{question, paragraph, answer}]}}``, where a paragraph's id begins with its
article's and "#".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from measure import Figure
from sections import Meaning, Section, run_alone

from guardgraph import Document, GuardedGraph, LexicalRetriever, create_rag_agent
from guardgraph.state.rag import Candidate, RagBudget

FIRST = 3

Paragraphs = dict[str, str]
Questions = list[dict[str, str]]


def read_languages(path: Path) -> Iterator[tuple[str, Paragraphs, Questions]]:
    """Yield each language with its paragraphs and questions."""
    for language, data in json.loads(path.read_text(encoding="utf-8")).items():
        yield language, data["paragraphs"], data["questions"]


def article_of(paragraph: str) -> str:
    return paragraph.partition("#")[0]


def make_retriever(paragraphs: Iterable[tuple[str, str]]) -> LexicalRetriever:
    return LexicalRetriever(
        [Document(id=name, source="xquad", title="", section="", updated_at="", text=text) for name, text in paragraphs]
    )


def measure_retriever(path: Path) -> Iterator[Figure]:
    """Yield how often the paragraph of a question is found, and how often a question is taken for a related one.

    A question is related to the base of all paragraphs, and unrelated to the same base without its article.
    """
    for language, paragraphs, questions in read_languages(path):
        retrieve = make_retriever(paragraphs.items())
        found = [_ask(retrieve, asked["question"]) for asked in questions]
        gold = sum(
            asked["paragraph"] in {candidate["doc_id"] for candidate in candidates}
            for asked, candidates in zip(questions, found, strict=True)
        )
        passed = sum(map(_is_relevant, _ask_others(paragraphs, questions)))
        yield f"{language}_found_in_first_{FIRST}", gold / len(questions)
        yield f"{language}_related_clarified_share", 1 - sum(map(_is_relevant, found)) / len(questions)
        yield f"{language}_unrelated_passing_share", passed / len(questions)


def _ask(retrieve: LexicalRetriever, question: str) -> list[Candidate]:
    return retrieve({"query": question, "sources": ["xquad"], "top_k": FIRST})


def _is_relevant(found: list[Candidate]) -> bool:
    return bool(found) and found[0]["score"] >= RagBudget().min_chunk_score


def _ask_others(paragraphs: Paragraphs, questions: Questions) -> Iterator[list[Candidate]]:
    """Yield what is found for every question where its own article is left out."""
    for left_out in sorted(set(map(article_of, paragraphs))):
        others = make_retriever(item for item in paragraphs.items() if article_of(item[0]) != left_out)
        about_it = (asked for asked in questions if article_of(asked["paragraph"]) == left_out)
        yield from (_ask(others, asked["question"]) for asked in about_it)


def measure_agent(path: Path) -> Iterator[Figure]:
    """Yield how runs of the offline agent end, whose base is every other article; the others are unrelated to it.

    Each half of the articles is the base once, so that every question is asked of both.
    """
    for language, paragraphs, questions in read_languages(path):
        articles = list(dict.fromkeys(map(article_of, paragraphs)))
        ours, others = Counter[str](), Counter[str]()
        for half in (articles[::2], articles[1::2]):
            base = {name: text for name, text in paragraphs.items() if article_of(name) in half}
            agent = create_rag_agent(retriever=make_retriever(base.items()))
            ours += _count_endings(agent, [item for item in questions if item["paragraph"] in base])
            others += _count_endings(agent, [item for item in questions if item["paragraph"] not in base])
        counts = {
            "related_clarified": (len(questions) - ours["grounded_answer"] - ours["stopped"], len(questions)),
            "unrelated_grounded": (others["grounded_answer"], len(questions)),
            "cited_right": (ours["cited"], ours["grounded_answer"]),
            "answered_right": (ours["right"], ours["grounded_answer"]),
            "stopped": (ours["stopped"] + others["stopped"], 2 * len(questions)),
        }
        for name, (count, of) in counts.items():
            yield f"{language}_{name}_pct", 100 * count / max(of, 1)


def _count_endings(agent: GuardedGraph, questions: Questions) -> Counter[str]:
    """Count how runs end, and of the answered ones how many have the answer, and cite the paragraph, of the data."""
    ended = Counter[str]()
    for item in questions:
        result: Any = agent.invoke({"question": item["question"]})
        ended[result.get("clarify_reason") or result.get("outcome") or "stopped"] += 1
        if result.get("outcome") == "grounded_answer":
            ended["right"] += item["answer"].lower() in result["answer"].lower()
            ended["cited"] += item["paragraph"] in result["citations"]
    return ended


SECTIONS = (
    Section(
        "languages",
        "The retriever in several languages",
        "XQuAD's questions on the paragraphs of all articles (related), and of all but their own (unrelated).",
        (
            Meaning("*_found_in_first_3", "Share of questions whose paragraph is among the first three.", at_least=0.9),
            Meaning("*_related_clarified_share", "Share of related questions that end in clarify.", at_most=0.2),
            Meaning("*_unrelated_passing_share", "Share of unrelated questions that pass.", at_most=0.03),
        ),
        data="xquad",
        figures=measure_retriever,
    ),
    Section(
        "rag_languages",
        "The offline RAG agent in five languages",
        "Questions of XQuAD to a base of half of its articles: those about the base (related), and those about the "
        "other half (unrelated), which nothing in the base answers.",
        (
            Meaning("*_related_clarified_pct", "Per cent of the related ones that end in a clarification.", at_most=20),
            Meaning("*_unrelated_grounded_pct", "Per cent of the unrelated ones that are answered.", at_most=3),
            Meaning("*_cited_right_pct", "Per cent of the answers that cite the paragraph of the data."),
            Meaning("*_answered_right_pct", "Per cent of the answers that have the words of the data's answer."),
            Meaning("*_stopped_pct", "Per cent of all questions whose run is stopped.", at_most=0),
        ),
        data="xquad",
        figures=measure_agent,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)

"""How the default retriever finds paragraphs in several languages, and how often it takes an unrelated question.

    python benchmarks/languages.py xquad_languages.json

The file holds for each language paragraphs {"article#number": text} and questions [{"question", "paragraph"}], as
XQuAD has them (Artetxe, Ruder and Yogatama 2020). A question is related to the base of all paragraphs, and unrelated
to the same base without its article. A question clarifies where no paragraph reaches the default threshold. Prints
`name value` lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from guardgraph.state.rag import Candidate, RagBudget
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

FIRST = 3

Paragraphs = dict[str, str]


def retriever(paragraphs: Iterable[tuple[str, str]]) -> LexicalRetriever:
    return LexicalRetriever(
        [Document(id=name, source="xquad", title="", section="", updated_at="", text=text) for name, text in paragraphs]
    )


def ask(retrieve: LexicalRetriever, question: str) -> list[Candidate]:
    return retrieve({"query": question, "sources": ["xquad"], "top_k": FIRST})


def is_relevant(found: list[Candidate]) -> bool:
    return bool(found) and found[0]["score"] >= RagBudget().min_chunk_score


def article(paragraph: str) -> str:
    return paragraph.partition("#")[0]


def unrelated(paragraphs: Paragraphs, questions: list[dict[str, str]]) -> Iterable[list[Candidate]]:
    for left_out in sorted(set(map(article, paragraphs))):
        others = retriever(item for item in paragraphs.items() if article(item[0]) != left_out)
        yield from (ask(others, asked["question"]) for asked in questions if article(asked["paragraph"]) == left_out)


def measure(paragraphs: Paragraphs, questions: list[dict[str, str]]) -> tuple[float, float, float]:
    retrieve = retriever(paragraphs.items())
    found = [ask(retrieve, asked["question"]) for asked in questions]
    gold = sum(
        asked["paragraph"] in {candidate["doc_id"] for candidate in candidates}
        for asked, candidates in zip(questions, found, strict=True)
    )
    clarified = sum(not is_relevant(candidates) for candidates in found)
    passed = sum(map(is_relevant, unrelated(paragraphs, questions)))
    return gold / len(questions), clarified / len(questions), passed / len(questions)


def main(path: str) -> None:
    for language, data in json.loads(Path(path).read_text(encoding="utf-8")).items():
        found, clarified, passed = measure(data["paragraphs"], data["questions"])
        print(f"{language}_found_in_first_{FIRST} {found:.4f}")
        print(f"{language}_related_clarified_share {clarified:.4f}")
        print(f"{language}_unrelated_passing_share {passed:.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/languages.py PATH_OF_XQUAD_LANGUAGES_JSON")
    main(sys.argv[1])

"""How the offline RAG agent answers questions in several languages, and which it does not answer.

Usage: ``python benchmarks/rag_languages.py xquad_languages.json``, with texts and questions of XQuAD (Artetxe et al.
2020, CC BY-SA 4.0) as ``{language: {"paragraphs": {id: text}, "questions": [{question, paragraph, answer}]}}``, where a
paragraph's id begins with its article's and "#". Prints ``name value`` lines. Every other article is the knowledge
base; questions about the others are unrelated to it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from guardgraph import Document, GuardedGraph, LexicalRetriever, create_rag_agent


def base_of(paragraphs: dict[str, str]) -> dict[str, str]:
    """Return the paragraphs of every other article."""
    articles = list(dict.fromkeys(map(article_of, paragraphs)))[::2]
    return {name: text for name, text in paragraphs.items() if article_of(name) in articles}


def article_of(paragraph: str) -> str:
    return paragraph.partition("#")[0]


def agent_over(paragraphs: dict[str, str]) -> GuardedGraph:
    """Return the offline agent of a base."""
    documents = [
        Document(id=name, source="xquad", title="", section="", updated_at="", text=text)
        for name, text in paragraphs.items()
    ]
    return create_rag_agent(retriever=LexicalRetriever(documents))


def endings(agent: GuardedGraph, questions: list[dict[str, Any]]) -> Counter[str]:
    """Count how runs end, and of the answered ones how many have the answer, and cite the paragraph, of the data."""
    ended = Counter[str]()
    for item in questions:
        result = agent.invoke({"question": item["question"]})
        ended[result.get("clarify_reason") or result.get("outcome") or "stopped"] += 1
        if result.get("outcome") == "grounded_answer":
            ended["right"] += item["answer"].lower() in result["answer"].lower()
            ended["cited"] += item["paragraph"] in result["citations"]
    return ended


def main(path: str) -> None:
    """Measure every language of the file."""
    for language, data in json.loads(Path(path).read_text(encoding="utf-8")).items():
        base = base_of(data["paragraphs"])
        agent = agent_over(base)
        related = [item for item in data["questions"] if item["paragraph"] in base]
        unrelated = [item for item in data["questions"] if item["paragraph"] not in base]
        ours, others = endings(agent, related), endings(agent, unrelated)
        figures = {
            "related_clarified": (len(related) - ours["grounded_answer"] - ours["stopped"], len(related)),
            "unrelated_grounded": (others["grounded_answer"], len(unrelated)),
            "cited_right": (ours["cited"], ours["grounded_answer"]),
            "answered_right": (ours["right"], ours["grounded_answer"]),
            "stopped": (ours["stopped"] + others["stopped"], len(data["questions"])),
        }
        for name, (count, of) in figures.items():
            print(f"{language}_{name}_pct {100 * count / max(of, 1):.1f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/rag_languages.py PATH_OF_XQUAD_LANGUAGES_JSON")
    main(sys.argv[1])

"""Whether one threshold means the same on bases of different sizes.

    python benchmarks/relevance.py cranfield.json [--other PASSAGES.json]

Bases are drawn from the Cranfield collection: 5, 240 and all 1,400 abstracts, and 3,000 and 10,000 passages, the
abstracts and single sentences (with `--other`, a list of texts, as many of these as of the sentences). Related
questions are Cranfield's that have a judged abstract in the base; unrelated ones are those of
`tests/data/off_topic_questions.txt`. A question passes where a passage reaches the default threshold. Prints
`name value` lines.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from guardgraph.state.rag import RagBudget
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

OFF_TOPIC = Path(__file__).parent.parent / "tests" / "data" / "off_topic_questions.txt"
ABSTRACTS, PASSAGES = (5, 240, 1_400), (3_000, 10_000)
SHORTEST = 40
"""Characters of a sentence that is a passage."""

Abstracts = dict[str, str]


def sentences(abstracts: Abstracts) -> list[str]:
    found = (sentence for text in abstracts.values() for sentence in re.split(r"\s\.\s", text))
    return list(dict.fromkeys(sentence for sentence in found if len(sentence) >= SHORTEST))


def sample(passages: Sequence[str], size: int) -> list[str]:
    """Draw passages, the same ones every time, so that figures can be compared."""
    return random.Random(size).sample(list(passages), max(min(size, len(passages)), 0))


def bases(abstracts: Abstracts, others: Sequence[str]) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield size, names of the abstracts and passages of each base."""
    for size in ABSTRACTS:
        names = sample(list(abstracts), size)
        yield size, names, [abstracts[name] for name in names]
    for size in PASSAGES:
        more = sample(others, (size - len(abstracts)) // 2)
        more += sample(sentences(abstracts), size - len(abstracts) - len(more))
        yield size, list(abstracts), [*abstracts.values(), *more]


def passing(passages: Sequence[str], questions: Sequence[str]) -> float:
    retrieve = LexicalRetriever(
        [
            Document(id=str(at), source="base", title="", section="", updated_at="", text=text)
            for at, text in enumerate(passages)
        ]
    )
    least = RagBudget().min_chunk_score
    found = (retrieve({"query": question, "sources": ["base"], "top_k": 1}) for question in questions)
    return 100 * sum(bool(best) and best[0]["score"] >= least for best in found) / len(questions)


def main(path: Path, other: Path | None) -> None:
    collection = json.loads(path.read_text(encoding="utf-8"))
    unrelated = [line for line in OFF_TOPIC.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    others = json.loads(other.read_text(encoding="utf-8")) if other else []
    shares = []
    for size, names, passages in bases(collection["docs"], others):
        judged = collection["qrels"]
        related = [query for name, query in collection["queries"].items() if set(names) & set(judged[name])]
        print(f"unrelated_passing_pct_{size} {passing(passages, unrelated):.2f}", flush=True)
        if related:
            shares.append(passing(passages, related))
            print(f"related_passing_pct_{size} {shares[-1]:.2f}", flush=True)
    average = sum(shares) / max(len(shares), 1)
    print(f"related_passing_pct {average:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Whether one threshold means the same on bases of different sizes.")
    parser.add_argument("path", type=Path, metavar="CRANFIELD_JSON")
    parser.add_argument("--other", type=Path, metavar="PASSAGES_JSON", help="a list of texts of something else")
    given = parser.parse_args()
    main(given.path, given.other)

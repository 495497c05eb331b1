"""How well the checks of names and numbers tell made-up answers from right ones.

Usage: ``python benchmarks/names.py halueval_qa.json``, with question-answer pairs of HaluEval (Li et al. 2023, MIT
licence) as ``[{knowledge, question, right_answer, hallucinated_answer}, ...]``. Prints ``name value`` lines. The
knowledge is the cited text. Many answers are one name: the first word of a sentence is not checked.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

from guardgraph.guards import rag
from guardgraph.guards.stop import Stop


def chunk_of(text: str) -> dict[str, object]:
    """Return a text as a chunk of a context."""
    return {"doc_id": "a", "source": "", "title": "", "section": "", "updated_at": "", "text": text, "score": 1.0}


def flagged(answer: str, *, question: str, texts: list[str]) -> set[str]:
    """Return which of the two checks refuse an answer that cites all texts."""
    chunks, refused = [*map(chunk_of, texts)], {"numbers", "names"}
    with suppress(Stop):
        rag.check_cited_numbers(answer, question=question, chunks=chunks)
        refused.remove("numbers")
    with suppress(Stop):
        rag.check_cited_names(answer, question=question, chunks=chunks, packed=chunks)
        refused.remove("names")
    return refused


def main(path: str) -> None:
    """Measure both checks on both kinds of answers."""
    pairs = json.loads(Path(path).read_text(encoding="utf-8"))
    print(f"pairs {len(pairs)}")
    for kind in ("right", "hallucinated"):
        found = [
            flagged(pair[f"{kind}_answer"], question=pair["question"], texts=[pair["knowledge"]]) for pair in pairs
        ]
        for name, which in (("numbers", {"numbers"}), ("names", {"names"}), ("flagged", {"numbers", "names"})):
            print(f"{kind}_{name}_pct {100 * sum(bool(each & which) for each in found) / len(pairs):.1f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/names.py PATH_OF_HALUEVAL_QA_JSON")
    main(sys.argv[1])

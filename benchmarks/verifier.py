"""What a verifier adds to the rules on texts of language models: the most that it can, and what recorded judges do.

Usage: ``python benchmarks/verifier.py faithbench.json``, with FaithBench as benchmarks/faithbench.py has it, and what
two judges said of a text: ``gpt_4o``, 1 for faithful and 0 for not, and ``hhem``, the score of a cross-encoder. Prints
``name value`` lines; 95 of 100 samples of the sources lie between ``_low`` and ``_high``.

Each text is the answer of a RAG agent to whose one document it cites. The oracle finds a sentence unsupported where
people marked something in it as unwanted: what it does not refuse, no verifier could make the agent refuse. The judges
say the same of every sentence of a text.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from faithbench import Tally, find_refused, list_sentences
from langchain_core.cross_encoders import BaseCrossEncoder
from names import chunk_of

from guardgraph import RagPolicy, create_rag_agent

ON_LISTS = {"allowed_sources_policy": ["news"], "allowed_sources_execution": ["news"]}
UNSUPPORTED = "invalid_answer:unsupported_claim"


def judge_by_annotations(row: dict, view: dict) -> dict:
    """Return what the people who read a summary say of its claims."""
    text, at, judged = row["summary"], 0, []
    for item in view["claims"]:
        start = text.find(item["claim"], at)
        at = end = start + len(item["claim"])
        unwanted = any(label == "Unwanted" and first < end and last > start for first, last, label in row["spans"])
        judged.append({"number": item["number"], "supported": not unwanted})
    return {"claims": judged}


def judge_by_model(row: dict, view: dict) -> dict:
    """Return what GPT-4o says of the whole text, for each claim."""
    return {"claims": [{"number": item["number"], "supported": row["gpt_4o"] == 1} for item in view["claims"]]}


class RecordedEncoder(BaseCrossEncoder):
    """A cross-encoder that scores every claim as HHEM scored the whole text."""

    def __init__(self, row: dict) -> None:
        self._score = row["hhem"]

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Score pairs of evidence and claim."""
        return [self._score] * len(text_pairs)


def answer_with_verifier(row: dict, verifier, *, checks: bool) -> dict:
    """Return the result of a RAG agent that answers with a summary of its one document."""
    document = {**chunk_of(row["source"]), "source": "news"}
    agent = create_rag_agent(
        planner=lambda view: {"kind": "retrieve", "query": "news"},
        answerer=lambda view: {"answer": row["summary"], "citations": ["a"]},
        retriever=lambda request: [document],
        verifier=verifier,
        policy=RagPolicy(**ON_LISTS, check_numbers=checks, check_names=checks, check_turned=checks),
    )
    return agent.invoke({"question": "What is new?"})


def measure(rows: list[dict]) -> None:
    """Measure sentences and texts."""
    tally = Tally()
    for row in rows:
        source, labels = row["source"], {label for _, _, label in row["spans"]}
        alone = answer_with_verifier(row, partial(judge_by_annotations, row), checks=False)
        refused = alone.get("unsupported", []) if alone["stop_reason"] == UNSUPPORTED else []
        for sentence, kind in list_sentences(row):
            if kind != "between":
                by_rule = bool(find_refused(sentence, source))
                by_verifier = any(sentence[:270].strip() in item or item in sentence for item in refused)
                tally.add(f"{kind}_refused_by_rules", source, by_rule)
                tally.add(f"{kind}_refused_with_oracle", source, by_rule or by_verifier)
        kind = "unfaithful" if "Unwanted" in labels else "faithful" if not labels & {"Questionable"} else ""
        if kind:
            tally.add(f"{kind}_texts_stopped_by_rules", source, _is_stopped(row, None))
            tally.add(f"{kind}_texts_stopped_with_oracle", source, _is_stopped(row, partial(judge_by_annotations, row)))
            tally.add(f"{kind}_texts_stopped_with_gpt_4o", source, _is_stopped(row, partial(judge_by_model, row)))
            tally.add(f"{kind}_texts_stopped_with_hhem", source, _is_stopped(row, RecordedEncoder(row)))
    tally.show()


def _is_stopped(row: dict, verifier) -> bool:
    return answer_with_verifier(row, verifier, checks=True)["status"] == "stopped"


def main(path: str) -> None:
    """Measure all texts."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))
    print(f"texts {len(rows)}")
    print(f"sources {len({row['source'] for row in rows})}")
    measure(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/verifier.py PATH_OF_FAITHBENCH_JSON")
    main(sys.argv[1])

"""An agent over many inputs with the workers of an executor, each run recorded, and then judged by a stricter one.

Any executor of `concurrent.futures` does: the processes of this machine here, or a cluster's. A worker makes its agent
and opens the store by itself; what is sent are inputs and names.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from guardgraph import GuardedGraph, RagBudget, create_rag_agent, sql_store, what_if

QUESTIONS = [
    "What is the P1 first response target?",
    "What uptime SLA applies to the enterprise plan?",
    "How many days does a refund take?",
    "Who painted the office?",
]


@cache
def agent(store: str) -> GuardedGraph[Any, Any, Any]:
    """Return the agent of a worker, made once, which records its runs."""
    return create_rag_agent(recorder=sql_store(store))


def answered(store: str, question: str) -> str:
    """Answer a question in a worker, and return how the run ended."""
    result = agent(store).invoke({"question": question})
    return result.get("outcome") or result["stop_reason"]


def answer_all(executor: Executor, store: str, questions: list[str]) -> list[str]:
    """Return how the runs of many questions ended, in their order."""
    return list(executor.map(answered, [store] * len(questions), questions))


def main() -> None:
    """Answer questions in two processes, then ask what a higher threshold would have made of the runs."""
    with TemporaryDirectory() as folder, ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        url = f"sqlite:///{Path(folder) / 'runs.db'}"
        sql_store(url).head()  # makes the database before anybody writes to it
        print(dict(Counter(answer_all(pool, url, QUESTIONS * 3))))
        stricter = RagBudget(min_chunk_score=0.5)
        judged = what_if(create_rag_agent(budget=stricter), sql_store(url).runs())
        print({kind: count for kind, count in judged.counts.items() if count})


if __name__ == "__main__":
    main()

"""What does a small model get right behind the guards, beside a plain chain with the same passages?

It asks a real server with OpenAI's interface, such as llama.cpp's, 44 questions over a handbook, six of which it does
not answer, and twelve tasks with three tools. It is no part of the results page: it needs a model. ``make local``
starts one from packages; ``--base-url`` names another.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import HumanMessage, SystemMessage

from guardgraph import RagBudget, ToolBudget, ToolPolicy, create_rag_agent, create_tool_agent
from guardgraph.tools.knowledge_base import load_folder
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.world.models import chat_model

HERE: Final = Path(__file__).parent
HANDBOOK: Final = HERE.parent / "tests" / "data" / "handbook"
SECONDS: Final = 120.0
"""Of one run: what is measured is the model, not the machine."""
SERVE: Final = """
import sys, time, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port = sys.argv[1], int(sys.argv[2])
given.n_ctx, given.n_parallel, given.cpuparams.n_threads, given.warmup = 8192, 1, 1, False
server = xllamacpp.Server(given)
time.sleep(86_400)
"""


@contextmanager
def serving(python: str, weights: str, port: int) -> Iterator[str]:
    """Serve weights with llama.cpp by a Python that has its package, and yield the base URL."""
    served = subprocess.Popen([python, "-c", SERVE, weights, str(port)], stderr=subprocess.DEVNULL)
    try:
        time.sleep(5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        served.terminate()
        served.wait()


def ask_chain(model: Any, retriever: LexicalRetriever, question: str) -> dict[str, Any]:
    """Answer as a plain chain does: the same passages, one prompt, no guard."""
    found = retriever({"query": question, "sources": list(retriever.sources), "top_k": 6})
    shown = "\n\n".join(item["text"] for item in found if item["score"] >= RagBudget().min_chunk_score)
    told = "Answer the question from the context. If the context does not answer it, say that you do not know."
    reply = model.invoke([SystemMessage(told), HumanMessage(f"Context:\n{shown}\n\nQuestion: {question}")])
    usage = reply.usage_metadata or {}
    return {"answer": reply.text, "usage": {"calls": 1, "tokens": usage.get("total_tokens", 0)}}


def judge(result: dict[str, Any], expected: str | None) -> str:
    """Say what came of a question: right, wrong passed, stopped, or clarified."""
    if result.get("status") == "stopped":
        return "stopped"
    is_open = re.search(r"\b(?:not know|don't know|no information|not (?:contain|mention))", result["answer"])
    if result.get("outcome") == "clarify" or ("outcome" not in result and is_open):
        return "clarified" if expected is None else "clarified, though answerable"
    is_right = expected is not None and re.search(expected, result["answer"], re.IGNORECASE)
    return "right" if is_right else "wrong passed"


def measure_questions(ask: Callable[[str], dict[str, Any]], seen: list[Any]) -> Counter[str]:
    """Ask every question, and return what came of them with calls and tokens."""
    given, tally = json.loads((HERE / "local_questions.json").read_text()), Counter[str]()
    for question, expected in [*given["answered"], *((question, None) for question in given["unanswered"])]:
        result = ask(question)
        said = judge(result, expected)
        if result.get("outcome") == "grounded_partial":
            tally["of these marked"] += 1
        tally.update({said: 1, "calls": result["usage"]["calls"], "tokens": result["usage"]["tokens"]})
        reason = result.get("stop_reason")
        seen.append({"question": question, "came": said, "reason": reason, "answer": result.get("answer")})
    return tally


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"It is sunny in {city}."


def find_customer(name: str) -> str:
    """Find a customer by name."""
    return f"{name} is a customer since 2021."


def get_invoice(number: int) -> str:
    """Return an invoice by its number."""
    return f"Invoice {number} is paid."


def measure_tasks(model: str, seen: list[Any]) -> Counter[str]:
    """Give every task, and return how many begin with a well-formed call, and with that of the right tool."""
    tools, tally = [get_weather, find_customer, get_invoice], Counter[str]()
    policy = ToolPolicy(rules={tool.__name__: {"effect": "read"} for tool in tools})
    budget = ToolBudget(max_seconds=SECONDS, max_output_tokens=300)
    agent = create_tool_agent(model, tools=tools, policy=policy, budget=budget)
    for task, tool in json.loads((HERE / "local_questions.json").read_text())["tasks"]:
        result = agent.invoke({"task": task})
        steps = [step for step in result["timeline"] if step["node"] in ("plan", "read")]
        is_formed = len(steps) > 1 and steps[1]["node"] == "read"
        first = steps[0].get("proposal") if steps else None
        named = first["calls"][0]["tool"] if is_formed else None
        tally.update({"well-formed first call": is_formed, "of the right tool": named == tool})
        tally.update({"answered": result.get("outcome") == "answered", "tasks": 1})
        seen.append({"task": task, "first": first, "reason": result["stop_reason"], "answer": result.get("answer")})
    return tally


def main() -> None:
    """Print what came of each way, as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="of a server that runs already")
    parser.add_argument("--python", default=sys.executable, help="that has xllamacpp, to serve --weights")
    parser.add_argument("--weights", help="a GGUF file")
    parser.add_argument("--port", type=int, default=18_181)
    parser.add_argument("--model", default="local")
    parser.add_argument("--seen", type=Path, help="a file for every question and what came of it")
    parser.add_argument("--ways", default="chain,none,schema,planned,tools")
    given = parser.parse_args()
    if given.base_url is not None:
        measure(given, given.base_url)
        return
    with serving(given.python, given.weights, given.port) as url:
        measure(given, url)


def measure(given: argparse.Namespace, url: str) -> None:
    """Measure every way on a server."""
    os.environ |= {"OPENAI_API_KEY": "local", "OPENAI_BASE_URL": url, "OPENAI_TIMEOUT_SECONDS": str(SECONDS)}
    name, seen = f"openai:{given.model}", dict[str, list[Any]]()
    retriever = LexicalRetriever(load_folder(HANDBOOK))
    budget = RagBudget(max_seconds=SECONDS, max_output_tokens=300)
    ways: dict[str, Callable[[], Callable[[str], dict[str, Any]]]] = {
        "chain": lambda: lambda question: ask_chain(chat_model(name).bind(max_tokens=300), retriever, question),
        "none": lambda: make_agent(name, budget, "none", "rules"),
        "schema": lambda: make_agent(name, budget, "schema", "rules"),
        "planned": lambda: make_agent(name, budget, "none", None),
    }
    for way in given.ways.split(","):
        began = time.monotonic()
        kept = seen.setdefault(way, [])
        os.environ["OPENAI_STRUCTURED_OUTPUT"] = "none" if way in ("none", "planned") else "schema"
        tally = measure_tasks(name, kept) if way == "tools" else measure_questions(ways[way](), kept)
        print(f"{way}: {dict(tally)}, {time.monotonic() - began:.0f} s", flush=True)
        if given.seen is not None:
            given.seen.write_text(json.dumps(seen, ensure_ascii=False, indent=1))


def make_agent(name: str, budget: RagBudget, form: str, planner: Any) -> Callable[[str], dict[str, Any]]:
    """Return an agent whose model is held to its form so."""
    os.environ["OPENAI_STRUCTURED_OUTPUT"] = form
    agent = create_rag_agent(name, planner=planner, knowledge_base=str(HANDBOOK), budget=budget)
    return lambda question: dict(agent.invoke({"question": question}))


if __name__ == "__main__":
    main()

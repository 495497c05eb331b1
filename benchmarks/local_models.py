"""What does a small model get right behind the guards, beside a plain chain with the same passages?

It asks a real server with OpenAI's interface, such as llama.cpp's, 44 questions over a handbook, six of which it does
not answer, gives it twelve tasks with three tools, and runs the research and the self-critique agent five times each;
in turn as calls, coroutines and streams. It is no part of the results page: it needs a model. ``make local`` starts one
from packages; ``--base-url`` names another.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

from langchain_core.messages import HumanMessage, SystemMessage

from guardgraph import (
    RagBudget,
    ResearchBudget,
    SelfCritiqueBudget,
    ToolBudget,
    ToolPolicy,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    create_tool_agent,
)
from guardgraph.tools.demo import CRITIQUE_GOAL, load_demo_incident
from guardgraph.tools.knowledge_base import load_folder
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.world.models import chat_model

HERE: Final = Path(__file__).parent
HANDBOOK: Final = HERE.parent / "tests" / "data" / "handbook"
SECONDS: Final = 600.0
"""Of one run: what is measured is the model, not the machine."""
SHORT, LONG = 300, 400
"""Tokens of a reply: a model of this size repeats itself until it is cut off."""
FORM: Final = re.compile(
    r"^(?:llm_|invalid_(?:action|intent|plan|critique|gaps|outline)\b)"
    r"|:(?:empty|missing_citations|citations_out_of_context|uncited_sentence|too_long)$"
)
"""Reasons of runs that ended by the form of a proposal, and not by what it says."""
SERVE: Final = """
import sys, time, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port = sys.argv[1], int(sys.argv[2])
given.n_ctx, given.n_parallel, given.cpuparams.n_threads, given.warmup = 8192, 1, 1, False
server = xllamacpp.Server(given)
time.sleep(86_400)
"""


@contextmanager
def serving(python: str, weights: str) -> Iterator[str]:
    """Serve weights with llama.cpp by a Python that has its package, and yield the base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = subprocess.Popen([python, "-c", SERVE, weights, str(port)], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        while served.poll() is None:
            with suppress(OSError), urlopen(f"{url}/models"):
                break
            time.sleep(0.2)
        else:
            raise SystemExit(f"{python} cannot serve {weights}: it ended with {served.returncode}")
        yield url
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


def drive(agent: Any, given: dict[str, Any], at: int) -> dict[str, Any]:
    """Run an agent: in turn as a call, as a coroutine, and as a stream of its channels."""
    if at % 3 == 0:
        return dict(agent.invoke(given))
    if at % 3 == 1:
        return dict(asyncio.run(agent.ainvoke(given)))
    return dict([*agent.stream(given, stream_mode="values")][-1])


def judge(result: dict[str, Any], expected: str | None) -> str:
    """Say what came of a question: right, wrong passed, stopped, stopped by form, or clarified."""
    if result.get("status") == "stopped":
        return "ended by form" if FORM.search(result["stop_reason"]) else "stopped"
    is_open = re.search(r"\b(?:not know|don't know|no information|not (?:contain|mention))", result["answer"])
    if result.get("outcome") == "clarify" or ("outcome" not in result and is_open):
        return "clarified" if expected is None else "clarified, though answerable"
    is_right = expected is not None and re.search(expected, result["answer"], re.IGNORECASE)
    return "right" if is_right else "wrong passed"


def measure_questions(ask: Callable[[str, int], dict[str, Any]], seen: list[Any]) -> Counter[str]:
    """Ask every question, and return what came of them with calls and tokens, and what asking again won."""
    given, tally = json.loads((HERE / "local_questions.json").read_text()), Counter[str]()
    asked = [*given["answered"], *((question, None) for question in given["unanswered"])]
    for at, (question, expected) in enumerate(asked):
        result = ask(question, at)
        said = judge(result, expected)
        tally["of these marked"] += result.get("outcome") == "grounded_partial"
        tally.update({said: 1, "calls": result["usage"]["calls"], "tokens": result["usage"]["tokens"]})
        if attempts := result.get("attempts", []):
            tally.update({"asked again": 1, f"asked again: {said}": 1})
        told = {"reason": result.get("stop_reason"), "answer": result.get("answer"), "attempts": attempts}
        seen.append({"question": question, "came": said, **told})
    return tally


def measure_runs(agent: Any, inputs: Iterable[dict[str, Any]], seen: list[Any]) -> Counter[str]:
    """Run an agent on every input, and return how its runs ended."""
    tally = Counter[str]()
    for at, given in enumerate(inputs):
        result = drive(agent, given, at)
        reason = result["stop_reason"]
        is_formless = FORM.search(reason) is not None
        tally.update({"runs": 1, "ended by form": is_formless, "ended well": result["status"] == "ok"})
        tally.update({"calls": result["usage"]["calls"], "tokens": result["usage"]["tokens"]})
        said = {key: result.get(key) for key in ("outcome", "answer", "details", "attempts")}
        seen.append({"at": at, "reason": reason, **said})
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
    budget = ToolBudget(max_seconds=SECONDS, max_output_tokens=SHORT, max_llm_calls=4)
    agent = create_tool_agent(model, tools=tools, policy=policy, budget=budget)
    for at, (task, tool) in enumerate(json.loads((HERE / "local_questions.json").read_text())["tasks"]):
        result = drive(agent, {"task": task}, at)
        steps = [step for step in result["timeline"] if step["node"] in ("plan", "read")]
        is_formed = len(steps) > 1 and steps[1]["node"] == "read"
        first = steps[0].get("proposal") if steps else None
        named = first["calls"][0]["tool"] if is_formed else None
        reason = result["stop_reason"]
        tally.update({"well-formed first call": is_formed, "of the right tool": named == tool})
        tally.update({"answered": result.get("outcome") == "answered", "tasks": 1})
        tally.update({"ended by form": FORM.search(reason) is not None, "calls": result["usage"]["calls"]})
        seen.append({"task": task, "first": first, "reason": reason, "answer": result.get("answer")})
    return tally


def list_research_inputs() -> list[dict[str, Any]]:
    """Return the requests of the research agent, on the pages that come with guardgraph."""
    return [
        {"goal": "Summarise the incident with citations.", "request": {"request": {"question": question}}}
        for question in json.loads((HERE / "local_questions.json").read_text())["researched"]
    ]


def list_critique_inputs() -> list[dict[str, Any]]:
    """Return the incidents of the self-critique agent: one, at several stages."""
    incident = load_demo_incident()
    return [
        {
            "goal": CRITIQUE_GOAL,
            "incident_context": {**incident, "incident": {**incident["incident"], "status": status}},
        }
        for status in ("investigating", "identified", "degraded", "monitoring", "resolved")
    ]


def main() -> None:
    """Print what came of each way, as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="of a server that runs already")
    parser.add_argument("--python", default=sys.executable, help="that has xllamacpp, to serve --weights")
    parser.add_argument("--weights", help="a GGUF file")
    parser.add_argument("--model", default="local")
    parser.add_argument("--seen", type=Path, help="a file for every question and what came of it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", default="chain,text,again,warm,tools,research,critique")
    given = parser.parse_args()
    if given.base_url is not None:
        measure(given, given.base_url)
        return
    with serving(given.python, given.weights) as url:
        measure(given, url)


def measure(given: argparse.Namespace, url: str) -> None:
    """Measure every way on a server."""
    os.environ |= {"OPENAI_API_KEY": "local", "OPENAI_BASE_URL": url, "OPENAI_TIMEOUT_SECONDS": str(SECONDS)}
    name, seen = f"openai:{given.model}", dict[str, list[Any]]()
    warm: Any = chat_model(name).bind(temperature=0.7, seed=given.seed)
    retriever = LexicalRetriever(load_folder(HANDBOOK))
    plain = chat_model(name).bind(max_tokens=SHORT)
    print(f"{given.model}: temperature 0, warm 0.7 and seed {given.seed}; {SHORT} tokens a reply, {LONG} of drafts")
    ways: dict[str, tuple[str, Callable[[list[Any]], Counter[str]]]] = {
        "chain": ("", lambda kept: measure_questions(lambda item, _: ask_chain(plain, retriever, item), kept)),
        "text": ("none", lambda kept: measure_rag(name, "rules", kept, attempts=1)),
        "again": ("none", lambda kept: measure_rag(name, "rules", kept)),
        "warm": ("none", lambda kept: measure_rag(warm, "rules", kept)),
        "schema": ("schema", lambda kept: measure_rag(name, "rules", kept)),
        "planned": ("none", lambda kept: measure_rag(name, None, kept)),
        "tools": ("", lambda kept: measure_tasks(name, kept)),
        "research": ("", lambda kept: measure_runs(make_researcher(name), list_research_inputs(), kept)),
        "critique": ("", lambda kept: measure_runs(make_critic(name), list_critique_inputs(), kept)),
    }
    for way in given.ways.split(","):
        began, (form, run) = time.monotonic(), ways[way]
        os.environ["OPENAI_STRUCTURED_OUTPUT"] = form
        tally = run(seen.setdefault(way, []))
        print(f"{way}: {dict(tally)}, {time.monotonic() - began:.0f} s", flush=True)
        if given.seen is not None:
            given.seen.write_text(json.dumps(seen, ensure_ascii=False, indent=1))


def measure_rag(model: Any, planner: Any, kept: list[Any], attempts: int = 2) -> Counter[str]:
    """Ask the RAG agent every question."""
    budget = RagBudget(max_seconds=SECONDS, max_output_tokens=SHORT, max_attempts=attempts)
    agent = create_rag_agent(model, planner=planner, knowledge_base=str(HANDBOOK), budget=budget)
    return measure_questions(lambda question, at: drive(agent, {"question": question}, at), kept)


def make_researcher(name: str) -> Any:
    """Return the research agent, which takes its notes and writes its answer with a model."""
    return create_research_agent(
        name, planner="rules", budget=ResearchBudget(max_seconds=SECONDS, max_output_tokens=LONG)
    )


def make_critic(name: str) -> Any:
    """Return the self-critique agent."""
    return create_self_critique_agent(name, budget=SelfCritiqueBudget(max_seconds=SECONDS, max_output_tokens=LONG))


if __name__ == "__main__":
    main()

"""What does a small model get right behind the guards, beside a plain chain with the same passages?

It asks a real server with OpenAI's interface, such as llama.cpp's: 44 questions over a handbook, six of which it does
not answer; twelve tasks with three tools; twelve researches over the pages of the handbook; and updates on ten
incidents. Runs are in turn calls, coroutines and streams, and each is recorded and decided again from its recording. It
is no part of the results page: it needs a model. ``make local`` starts one from packages; ``--base-url`` names another.
Its last lines are a table and what is wanted, each line ``ok`` or ``missed``; where one is missed, it ends with 1.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.request import urlopen

from langchain_core.messages import HumanMessage, SystemMessage

from guardgraph import (
    RagBudget,
    ResearchBudget,
    ResearchPolicy,
    SelfCritiqueBudget,
    ToolBudget,
    ToolPolicy,
    ToolRule,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    create_tool_agent,
    replay,
)
from guardgraph.testing import InMemoryRecorder
from guardgraph.tools.knowledge_base import load_folder
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.world.named_models import chat_model

HERE: Final = Path(__file__).parent
HANDBOOK: Final = HERE.parent / "tests" / "data" / "handbook"
GIVEN: Final = json.loads((HERE / "local_questions.json").read_text())
SECONDS: Final = 600.0
"""Of one run: what is measured is the model, not the machine."""
SHORT, LONG = 300, 400
"""Tokens of a reply: a model of this size repeats itself until it is cut off."""
FORM: Final = re.compile(
    r"^(?:llm_|invalid_(?:action|intent|plan|critique|gaps|outline|notes)\b)"
    r"|:(?:empty|citations|missing_citations|citations_out_of_context|uncited_sentence|too_long|quote_too_short)$"
)
"""Reasons of runs that ended by the form of a proposal, and not by what it says."""
PARTS: Final = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}
SERVE: Final = """
import sys, time, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port = sys.argv[1], int(sys.argv[2])
given.n_ctx, given.n_parallel, given.cpuparams.n_threads, given.warmup = 8192, 1, int(sys.argv[3]), False
server = xllamacpp.Server(given)
time.sleep(86_400)
"""


@contextmanager
def serving(python: str, weights: str, threads: int) -> Iterator[str]:
    """Serve weights with llama.cpp by a Python that has its package, and yield the base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = subprocess.Popen([python, "-c", SERVE, weights, str(port), str(threads)], stderr=subprocess.DEVNULL)
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


class Way:
    """What came of the runs of one way, their cost, and the replies of the model."""

    def __init__(self, part: slice) -> None:
        self.part = part
        self.came, self.cost = Counter[str](), Counter[str]()
        self.seen = list[dict[str, Any]]()

    def count_run(self, about: str, came: str, result: dict[str, Any], replies: Sequence[Any] = ()) -> None:
        """Count a run."""
        usage, attempts = result["usage"], result.get("attempts", [])
        is_formless = result.get("status") == "stopped" and FORM.search(result["stop_reason"]) is not None
        self.came.update({came: 1, "ended by form": is_formless})
        self.cost.update({"runs": 1, "calls": usage["calls"], "tokens": usage["tokens"]})
        if attempts:
            self.came.update({"asked again": 1, f"asked again, then {came}": 1})
        said = {key: result.get(key) for key in ("stop_reason", "answer", "details")}
        self.seen.append({"about": about, "came": came, **said, "attempts": attempts, "replies": [*replies]})

    def count_won(self) -> tuple[int, int]:
        """Return how many refused answers came right when they were asked for again, and how many passed wrong."""
        return self.came["asked again, then right"], self.came["asked again, then wrong passed"]

    def run_agent(self, agent: Any, kept: InMemoryRecorder, inputs: Iterable[Input], judge: Judge) -> None:
        """Run an agent on every input, in turn as a call, a coroutine and a stream, and decide each run again."""
        for at, (about, given, expected) in enumerate([*inputs][self.part]):
            if at % 3 == 0:
                result = dict(agent.invoke(given))
            elif at % 3 == 1:
                result = dict(asyncio.run(agent.ainvoke(given)))
            else:
                result = dict([*agent.stream(given, stream_mode="values")][-1])
            recording = kept.runs[-1]
            self.cost["replayed"] += replay(agent, recording) == recording["result"]
            replies = [(call["node"], json.loads(call["outcome"])) for call in recording["calls"] if "prompt" in call]
            self.count_run(about, judge(result, expected), result, replies)


Input: TypeAlias = tuple[str, dict[str, Any], str | None]
"""What a run is about, what it is given, and a pattern of what is right; None where nothing is."""
Judge: TypeAlias = Callable[[dict[str, Any], str | None], str]


def judge_answer(result: dict[str, Any], expected: str | None) -> str:
    """Say what came of a question: right, wrong passed, stopped, or clarified."""
    if result.get("status") == "stopped":
        return "stopped"
    is_open = re.search(r"\b(?:not know|don't know|no information|not (?:contain|mention))", result["answer"])
    if result.get("outcome") == "clarify" or ("outcome" not in result and is_open):
        return "clarified" if expected is None else "clarified, though answerable"
    is_right = expected is not None and re.search(expected, result["answer"], re.IGNORECASE)
    return "right" if is_right else "wrong passed"


def judge_task(result: dict[str, Any], expected: str | None) -> str:
    """Say how a task begins: with a well-formed call, of the right tool or of another one, or with none."""
    steps = [step for step in result["timeline"] if step["node"] in ("plan", "read")]
    if len(steps) < 2 or steps[1]["node"] != "read":
        return "no call first"
    named = [call["tool"] for call in steps[0]["proposal"]["calls"]]
    return "right tool first" if named[0] == expected else "well-formed first"


def judge_ending(result: dict[str, Any], expected: str | None) -> str:
    """Say how a run ended."""
    return str(result["outcome"]) if result["status"] == "ok" else "stopped"


def list_questions() -> list[Input]:
    """Return what is asked about the handbook."""
    asked = [*GIVEN["answered"], *((question, None) for question in GIVEN["unanswered"])]
    return [(question, {"question": question}, expected) for question, expected in asked]


def ask_chain(way: Way, model: Any) -> None:
    """Answer as a plain chain does: the same passages, one prompt, no guard."""
    retriever = LexicalRetriever(load_folder(HANDBOOK))
    told = "Answer the question from the context. If the context does not answer it, say that you do not know."
    for question, _, expected in list_questions()[way.part]:
        found = retriever({"query": question, "sources": list(retriever.sources), "top_k": 6})
        shown = "\n\n".join(item["text"] for item in found if item["score"] >= RagBudget().min_chunk_score)
        reply = model.invoke([SystemMessage(told), HumanMessage(f"Context:\n{shown}\n\nQuestion: {question}")])
        usage = {"calls": 1, "tokens": (reply.usage_metadata or {}).get("total_tokens", 0)}
        result = {"answer": reply.text, "usage": usage}
        way.count_run(question, judge_answer(result, expected), result)


def ask_rag(way: Way, model: Any) -> None:
    """Ask the RAG agent every question."""
    kept, budget = InMemoryRecorder(), RagBudget(max_seconds=SECONDS, max_output_tokens=SHORT)
    agent = create_rag_agent(model, planner="rules", knowledge_base=str(HANDBOOK), budget=budget, recorder=kept)
    way.run_agent(agent, kept, list_questions(), judge_answer)


def ask_warm(way: Way, name: str, seeds: Sequence[int]) -> None:
    """Ask the RAG agent every other question of a model at temperature 0.7, once for each seed."""
    way.part = PARTS["odd"]
    for seed in seeds:
        ask_rag(way, chat_model(name).bind(temperature=0.7, seed=seed))


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"It is sunny in {city}."


def find_customer(name: str) -> str:
    """Find a customer by name."""
    return f"{name} is a customer since 2021."


def get_invoice(number: int) -> str:
    """Return an invoice by its number."""
    return f"Invoice {number} is paid."


def give_tasks(way: Way, model: Any) -> None:
    """Give the tool agent every task."""
    kept, tools = InMemoryRecorder(), list[Callable[..., str]]([get_weather, find_customer, get_invoice])
    policy = ToolPolicy(rules={tool.__name__: ToolRule(effect="read") for tool in tools})
    budget = ToolBudget(max_seconds=SECONDS, max_output_tokens=SHORT, max_llm_calls=2)
    agent = create_tool_agent(model, tools=tools, policy=policy, budget=budget, recorder=kept)
    way.run_agent(agent, kept, [(task, {"task": task}, tool) for task, tool in GIVEN["tasks"]], judge_task)


HOST: Final = "handbook.example"


def research(way: Way, model: Any) -> None:
    """Have questions researched on the pages of the handbook: notes are taken and an answer is written by the model."""
    documents, kept = load_folder(HANDBOOK), InMemoryRecorder()
    retriever = LexicalRetriever(documents)

    def search(request: dict[str, Any]) -> list[dict[str, str]]:
        """Return the pages of what is found, each once."""
        found = retriever({"query": request["query"], "sources": list(retriever.sources), "top_k": 6})
        paths = dict.fromkeys(item["doc_id"].partition("#")[0] for item in found if item["score"] >= 0.1)
        return [{"url": f"https://{HOST}/{path}"} for path in paths]

    def read(request: dict[str, Any]) -> dict[str, str]:
        """Return a page of the handbook."""
        body = (HANDBOOK / request["url"].partition(f"{HOST}/")[2]).read_text().rpartition("---\n")[2]
        return {"title": body.strip().partition("\n")[0].strip("# "), "published_at": "", "body": body}

    agent = create_research_agent(
        model,
        planner="rules",
        search=search,
        reader=read,
        policy=ResearchPolicy(allowed_domains_policy=(HOST,), allowed_domains_execution=(HOST,)),
        budget=ResearchBudget(max_seconds=SECONDS, max_output_tokens=LONG),
        recorder=kept,
    )
    asked = [
        (question, {"goal": "Answer with citations.", "request": {"request": {"question": question}}}, expected)
        for question, expected in GIVEN["researched"]
    ]
    way.run_agent(agent, kept, asked, judge_answer)


def draft_updates(way: Way, model: Any) -> None:
    """Have updates on incidents drafted, reviewed and revised."""
    kept, budget = InMemoryRecorder(), SelfCritiqueBudget(max_seconds=SECONDS, max_output_tokens=LONG)
    agent = create_self_critique_agent(model, budget=budget, recorder=kept)
    inputs = [
        (each["incident"]["summary"], {"goal": "Write an update for customers.", "incident_context": each}, None)
        for each in GIVEN["incidents"]
    ]
    way.run_agent(agent, kept, inputs, judge_ending)


def main() -> None:
    """Print what came of each way, as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="of a server that runs already")
    parser.add_argument("--python", default=sys.executable, help="that has xllamacpp, to serve --weights")
    parser.add_argument("--weights", help="a GGUF file")
    parser.add_argument("--threads", type=int, default=1, help="two wait for each other on a busy machine")
    parser.add_argument("--model", default="local")
    parser.add_argument("--seen", type=Path, help="a file for every run, what came of it, and the model's replies")
    parser.add_argument("--seeds", default="1,2,3,4", help="of the warm model")
    parser.add_argument(
        "--form", choices=("schema", "json", "none"), help="of every reply, in place of that of the way"
    )
    parser.add_argument("--part", choices=[*PARTS], default="all", help="of what is asked")
    parser.add_argument("--ways", default="chain,again,warm,tools,research,critique")
    given = parser.parse_args()
    if given.base_url is not None:
        measure(given, given.base_url)
        return
    with serving(given.python, given.weights, given.threads) as url:
        measure(given, url)


def measure(given: argparse.Namespace, url: str) -> None:
    """Measure every way on a server."""
    os.environ |= {"OPENAI_API_KEY": "local", "OPENAI_BASE_URL": url, "OPENAI_TIMEOUT_SECONDS": str(SECONDS)}
    name, measured = f"openai:{given.model}", dict[str, Way]()
    seeds = [int(seed) for seed in given.seeds.split(",")]
    ways: dict[str, tuple[str, Callable[[Way], None]]] = {
        "chain": ("", partial(ask_chain, model=chat_model(name).bind(max_tokens=SHORT))),
        "again": ("none", partial(ask_rag, model=name)),
        "warm": ("none", partial(ask_warm, name=name, seeds=seeds)),
        "tools": ("schema", partial(give_tasks, model=name)),
        "research": ("none", partial(research, model=name)),
        "critique": ("none", partial(draft_updates, model=name)),
    }
    print(
        f"{given.model}: temperature 0; warm: 0.7, seeds {given.seeds}, every other question; tokens: {SHORT}, {LONG}"
    )
    print(
        "| way | runs | what came of them | calls | tokens | decided again alike | seconds |",
        "| --- " * 7 + "|",
        sep="\n",
    )
    for asked in given.ways.split(","):
        began, (form, run) = time.monotonic(), ways[asked]
        os.environ["OPENAI_STRUCTURED_OUTPUT"] = given.form or form
        way = measured[asked] = Way(PARTS[given.part])
        run(way)
        print(write_row(asked, way, measured.get("chain"), time.monotonic() - began), flush=True)
        if given.seen is not None:
            told = {each: item.seen for each, item in measured.items()}
            given.seen.write_text(json.dumps(told, ensure_ascii=False, indent=1))
    goals = [*list_goals(measured)] if given.part == "all" else []
    print(*(f"{'ok' if is_held else 'missed'}: {said}" for said, is_held in goals), sep="\n")
    sys.exit(not all(is_held for _, is_held in goals))


def list_goals(measured: Mapping[str, Way]) -> Iterator[tuple[str, bool]]:
    """Yield what is wanted of the ways that were measured, with the figures, and whether it holds."""
    chain, rag = measured.get("chain"), measured.get("again")
    if chain and rag:
        right, wrong, open_ = (rag.came[said] for said in ("right", "wrong passed", "clarified"))
        calls, tokens = (rag.cost[kind] / chain.cost[kind] for kind in ("calls", "tokens"))
        unanswered = len(GIVEN["unanswered"])
        yield f"rag right {right} (chain {chain.came['right']}), at least 11", right >= 11
        yield f"rag wrong passed {wrong} (chain {chain.came['wrong passed']}), at most 15", wrong <= 15
        yield f"rag clarified {open_} of the {unanswered} that the handbook does not answer, all", open_ == unanswered
        yield f"rag calls {calls:.2f} of the chain's, at most 1.3", calls <= 1.3
        yield f"rag tokens {tokens:.2f} of the chain's, at most 1.5", tokens <= 1.5
    if tools := measured.get("tools"):
        formed = tools.came["right tool first"] + tools.came["well-formed first"]
        yield f"tools well-formed first call {formed} of {tools.cost['runs']}, at least 8 of 12", formed >= 8
    for name, way in measured.items():
        form, runs = way.came["ended by form"], way.cost["runs"]
        if name not in ("chain", "warm"):
            yield f"{name} ended by form {form} of {runs}, at most 1 in 10", form <= runs / 10
        if name != "chain":
            yield f"{name} decided again alike {way.cost['replayed']} of {runs}, all", way.cost["replayed"] == runs
        if name in ("again", "warm"):
            won, lost = way.count_won()
            yield (
                f"{name} asked again won {won}, lost {lost}: more won than lost, or none asked",
                won > lost or not (won or lost),
            )


def write_row(asked: str, way: Way, chain: Way | None, seconds: float) -> str:
    """Return what came of a way as a row; calls and tokens of questions beside those of the chain."""
    came = "; ".join(f"{said} {count}" for said, count in way.came.most_common() if count)
    calls, tokens = (
        f"{way.cost[kind]}"
        + (f" ({way.cost[kind] / chain.cost[kind]:.2f} x)" if chain and chain.cost["runs"] == way.cost["runs"] else "")
        for kind in ("calls", "tokens")
    )
    again = "" if asked == "chain" else way.cost["replayed"]
    return f"| {asked} | {way.cost['runs']} | {came} | {calls} | {tokens} | {again} | {seconds:.0f} |"


if __name__ == "__main__":
    main()

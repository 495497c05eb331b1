"""Load: hundreds of runs against a model server of which one call in twenty fails; nothing leaks and no run is lost."""

import asyncio
import gc
import os
import random
import re
import threading
from collections import Counter, defaultdict
from pathlib import Path

from openai_server import OpenAIServer, answer, status

from guardgraph import RagBudget, create_rag_agent, sql_store
from guardgraph.grammar import chat_model

QUESTION = "What is the P1 first response target?"
INTENT = {"kind": "retrieve", "query": "P1 first response target"}
ANSWER = {"answer": "The first response target of P1 is 15 minutes.", "citations": ["doc_sla_enterprise_v3"]}
RUNS, AT_ONCE, WARM = 400, 16, 100
SECONDS = 30.0
TOKENS = 18
"""Of every answer of the server."""
ENDINGS = {"success", "llm_timeout", "llm_rate_limited", "llm_error", "llm_unavailable", "max_seconds"}
ANSWERED, HUNG, UNSEEN = "answered", "hung", "unseen"
FAILING = {"500": status(500), "429": status(429), HUNG: answer(INTENT, delay=2 * SECONDS)}
"""How a call fails, by the name under which the server notes it."""


class FlakyServer(OpenAIServer):
    """A server that plans and answers, and fails one time in twenty: an error, too many requests, or no reply."""

    def __init__(self):
        super().__init__()
        self.chance = random.Random(23)
        self.said = defaultdict(list)

    def next_behaviour(self, request):
        """Return what the request gets, and note it for the run whose question names its ticket."""
        said = request["body"]["messages"]
        plans = "citations" not in str(request["body"].get("response_format", said))
        (ticket,) = set(re.findall(r"ticket (\d+)", str(said)))
        with self._lock:
            kind = self.chance.choice(list(FAILING)) if self.chance.random() < 0.05 else ANSWERED
            self.said[int(ticket)].append(kind)
        return FAILING[kind] if kind in FAILING else answer(INTENT if plans else ANSWER)


def count_open():
    gc.collect()
    return len(asyncio.all_tasks()), threading.active_count(), len(os.listdir("/proc/self/fd"))


def read_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def make_runs(agent, tickets):
    """Make a run for each ticket, so many at once, and return their results."""
    asked = [{"question": f"{QUESTION} It is for ticket {ticket}."} for ticket in tickets]
    return await agent.abatch(asked, {"max_concurrency": AT_ONCE})


async def settle(most):
    """Wait until calls that were left behind have ended."""
    for _ in range(100):
        if all(now <= then for now, then in zip(count_open(), most, strict=True)):
            break
        await asyncio.sleep(0.2)
    return count_open()


def test_hundreds_of_runs_leak_nothing_and_lose_nothing(tmp_path):
    """Every run ends once on record, usage is what the server counted, and tasks, threads, files and memory stay."""
    store = sql_store(f"sqlite:///{tmp_path / 'runs.db'}", timeout=60.0)  # longer than a loaded machine stands still

    async def main(agent):
        first = await make_runs(agent, range(WARM))
        most = (1, threading.active_count() + 8, len(os.listdir("/proc/self/fd")) + 8)
        held = read_memory()
        rest = await make_runs(agent, range(WARM, RUNS))
        return first + rest, most, await settle(most), read_memory() - held

    with FlakyServer() as server:
        model = chat_model("openai:test-model", environ=server.environ())
        agent = create_rag_agent(model, recorder=store, budget=RagBudget(max_seconds=SECONDS))
        results, most, now, grown = asyncio.run(main(agent))
        said = dict(server.said)
    endings = Counter(result["stop_reason"] for result in results)
    assert set(endings) <= ENDINGS, endings
    assert endings["success"] > RUNS * 0.8, endings
    assert len(endings) > 2, endings
    assert all(here <= bound for here, bound in zip(now, most, strict=True)), (now, most)
    assert grown < 40 * 2**20, grown
    assert sorted(run.run_id for run in store.runs()) == sorted(result["run_id"] for result in results)
    assert len({result["run_id"] for result in results}) == RUNS
    assert (store.open_runs(), store.verify().ok) == ([], True)
    calls = {run.run_id: run.recording["calls"] for run in store.runs()}
    for ticket, result in enumerate(results):
        check_calls(said.get(ticket, []), [call for call in calls[result["run_id"]] if "usage" in call], result)


def check_calls(said, calls, result):
    """Hold each call of a run against what the server said to it; a reply that came too late is in no record."""
    if len(said) < len(calls):  # the machine stood still and the deadline passed before the server read the last call
        said = [*said, UNSEEN]
    assert result["usage"]["calls"] == len(calls) == len(said), (said, calls)
    for at, (kind, call) in enumerate(zip(said, calls, strict=True), 1):
        usage = call["usage"]
        if kind == ANSWERED and not usage.get("estimated"):
            assert usage["tokens"] == TOKENS, (at, call)
            continue
        assert usage.get("estimated"), (kind, call)
        assert (at, result["status"]) == (len(calls), "stopped"), (kind, result)
        if kind in {ANSWERED, UNSEEN}:  # behind the deadline of the run, which ended for that alone
            assert result["stop_reason"] == "llm_timeout", (kind, result)
    assert result["usage"]["tokens"] == sum(call["usage"]["tokens"] for call in calls)

"""`max_reply_bytes`: what a proposer or a tool brings is refused as soon as it is too large, and is kept nowhere."""

import itertools
import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from rag_agents import CANDIDATE, INTENT, QUESTION, agent, agent_with
from recorded_runs import Kept
from research_cases import asked
from runs import BOTH, run
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph import create_research_agent, reply_bytes
from guardgraph.grammar import Budget
from guardgraph.plain.json import REPLY_BYTES
from guardgraph.testing import scripted_tool

LARGE = "x" * (REPLY_BYTES + 1)
DETAILS = {"cause": "max_reply_bytes", "limit": REPLY_BYTES}


class Endless(list):
    def __iter__(self):
        return itertools.repeat("again")


class EndlessMapping(dict):
    def items(self):
        return ((f"{at:099}", at) for at in itertools.count())  # long keys: soon there are too many


LAUGHS = ["ha"]
for _ in range(40):
    LAUGHS = [LAUGHS, LAUGHS]


def check(result, reason):
    assert (result["stop_reason"], result["details"], len(json.dumps(result)) < 5_000) == (reason, DETAILS, True)


PROPOSERS = {
    "a text of a model": RunnableLambda(lambda view: AIMessage(LARGE)),
    "a value of a Runnable": RunnableLambda(lambda view: {**INTENT, "note": [LARGE[:9], LARGE[9:]]}),
    "a value of a function": lambda view: {LARGE: 1},
    "a list without an end": lambda view: Endless([1]),
    "a mapping without an end": lambda view: EndlessMapping(a=1),
    "a list that holds itself twice, again and again": lambda view: LAUGHS,
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", PROPOSERS)
def test_a_large_reply_is_a_bad_response(name, mode):
    """Whatever form a proposal has, it is refused by its size, and no part of it is kept."""
    kept = Kept()
    check(run(agent(planner=PROPOSERS[name], recorder=kept), QUESTION, mode), "llm_bad_response")
    assert len(kept.texts[0]) < 20_000


@each_row("mode", *BOTH)
def test_a_large_result_of_a_tool_is_invalid(mode):
    """A retriever and a search that bring too much are stopped, however they are run."""
    check(run(agent_with({**CANDIDATE, "text": LARGE}), QUESTION, mode), "tool_invalid_output:retrieve")
    search = create_research_agent(search=scripted_tool([{"url": LARGE}], loop=True))
    check(run(search, asked(), mode), "tool_invalid_output:search_sources")


@each_row("mode", "invoke", "ainvoke")
def test_whoever_is_called_may_ask_how_much_is_read(mode):
    """`reply_bytes` tells a client when to stop reading; inside another run's tool the smaller cap holds."""
    seen = []

    def duty(view):
        seen.append(reply_bytes())
        triage(lambda view: seen.append(reply_bytes()) or {"label": "bug"}).invoke(TICKET)
        return "Ada"

    result = run(triage(tool=duty, budget=Budget(max_reply_bytes=5000)), TICKET, mode)
    assert result["stop_reason"] == "success"
    assert (seen, reply_bytes()) == ([5000, 5000], None)

"""U+0000, which PostgreSQL's texts do not have: wherever it comes from, no run raises and no state keeps it."""

import json
from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command, interrupt
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, QUESTION
from research_cases import asked, hits, quotes, reads, vendor
from self_critique_cases import GIVEN, REVISE, agent
from ticket_pattern import TICKET, triage

from guardgraph import InputError, create_rag_agent, create_research_agent
from guardgraph.grammar import Pass, Stop

NUL = "\x00"
THREADS = count()


@pytest.fixture(scope="module")
def address(new_postgres):
    where = new_postgres()
    with PostgresSaver.from_conn_string(where) as saver:
        saver.setup()
    return where


def says(value):
    return lambda request: value


def stops(state, run):
    raise Stop("invalid_label", raw_label=NUL, details={NUL: NUL})


def rag(**parts):
    planner = {"planner": says(INTENT)} if "planner" not in parts else {}
    return lambda saver: create_rag_agent(policy=POLICY, checkpointer=saver, **planner, **parts), QUESTION


def research(**parts):
    return lambda saver: create_research_agent(checkpointer=saver, **parts), asked()


def critique(**parts):
    return lambda saver: agent(checkpointer=saver, **parts), GIVEN


def ticket(given=TICKET, **parts):
    return lambda saver: triage(checkpointer=saver, **parts), given


SOURCE = {**INTENT, "sources": [f"support{NUL}"]}
PAGE = {"title": NUL, "published_at": "", "body": f"This page says that {NUL} is none."}
FOUND = {"search": hits(*vendor("a")), "extractor": quotes()}
CHANNEL = {"label_guard": lambda state, run: Pass({"accepted_label": NUL}, "lookup")}
RUNS = {
    "a planner's source": (*rag(planner=says(SOURCE)), "invalid_intent:source_not_allowed:support\ufffd"),
    "a model's raw text": (*rag(planner=says(AIMessage(f"no JSON{NUL}"))), "invalid_intent:kind"),
    "a retriever": (*rag(retriever=says([{**CANDIDATE, "text": f"P1{NUL}", f"k{NUL}": NUL}])), "success"),
    "an answer": (*rag(answerer=says({**ANSWER, "answer": f"99.95%{NUL}", NUL: 1})), "success"),
    "a page": (*research(**FOUND, reader=reads(a=PAGE)), None),
    "a critique": (*critique(critique={**REVISE, "reason": NUL, NUL: {NUL: NUL}}), "success"),
    "a revision": (*critique(critique=REVISE, revised=(NUL,)), None),
    "a tool": (*ticket(tool=says(f"Ada{NUL}")), "success"),
    "a stop": (*ticket(bodies={"label_guard": stops}), "invalid_label"),
    "a channel": (*ticket(bodies=CHANNEL), "guard_error:label_guard"),
    "a question": (*ticket(tool=lambda request: interrupt({NUL: f"Who{NUL}?"})), "success"),
}
"""Runs by where U+0000 comes from, with the reason that they end with, None where this is not what is tested."""


@pytest.mark.parametrize("name", RUNS)
def test_no_channel_breaks_a_database(name, address):
    """What comes back has U+FFFD in its place, what is given is refused; a run that waits goes on."""
    make, given, reason = RUNS[name]
    config = {"configurable": {"thread_id": str(next(THREADS))}}
    with PostgresSaver.from_conn_string(address) as saver:
        graph = make(saver)
        result = graph.invoke(given, config)
        if "__interrupt__" in result:
            result = graph.invoke(Command(resume="Ada"), config)
        kept = json.dumps([result, graph.get_state(config).values])
    assert "\\u0000" not in kept.replace("\\\\", "")
    assert result["stop_reason"]
    assert reason in (None, result["stop_reason"])


def test_an_answer_that_cannot_be_kept_is_refused_at_the_door(address):
    """Nobody's decision is changed: the answer is refused with a clear error, and the run still waits for one."""
    config = {"configurable": {"thread_id": str(next(THREADS))}}
    with PostgresSaver.from_conn_string(address) as saver:
        graph = triage(tool=lambda request: interrupt("Who?"), checkpointer=saver)
        graph.invoke(TICKET, config)
        for answer in (f"Ada{NUL}", ["Ada", NUL], {NUL: "Ada"}, {"by": {"name": NUL}}):
            with pytest.raises(InputError, match=r"plain JSON; given: a text with lone surrogates or U\+0000$"):
                graph.invoke(Command(resume=answer), config)
        assert graph.get_state(config).next == ("lookup",)
        assert graph.invoke(Command(resume="Ada"), config)["on_duty"] == "Ada"

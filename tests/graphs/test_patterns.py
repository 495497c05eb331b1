"""The shipped patterns in the registry, and the agents by hand that the benchmarks hold them against."""

import subprocess
import sys

import pytest
from by_hand_agents import BY_HAND
from measured import offline_agent

import guardgraph
from guardgraph import SelfCritiquePolicy, create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.patterns import PATTERNS


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=lambda item: item.name)
def test_the_demo_of_a_pattern_ends_well(pattern):
    """The factory of an entry makes its agent, whose demo ends with an outcome that the entry explains."""
    agent = pattern.create_agent()
    assert guardgraph.verify(agent) == []
    given = pattern.demo()
    result = agent.invoke(given)
    assert (result["status"], result["outcome"] in pattern.outcomes) == ("ok", True)
    assert pattern.read_request(given).strip()


def test_the_registry_is_read_at_no_cost():
    """Names and commands are known without LangGraph, Pydantic or any pattern's own modules."""
    code = "import sys, guardgraph.graphs.patterns; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    loaded = done.stdout.split()
    assert not {"langgraph", "langchain_core", "pydantic", "guardgraph.state.rag"} & {*loaded}


CREATE = {"rag": create_rag_agent, "research": create_research_agent, "self_critique": create_self_critique_agent}
ANSWER = {
    "rag": ("answer", "citations", "citation_details", "passages", "clarify_reason", "best_score", "unverified"),
    "research": (
        *("answer", "citations", "citation_details", "passages", "aggregate", "dropped_urls", "failed_sources"),
        "unverified",
    ),
    "self_critique": ("answer", "critique_decision", "severity", "risks", "required_changes", "audit"),
}
OURS_ALONE = ("run_id", "pattern", "path", "timeline", "trace", "history", "asked_question", "usage", "so_far")


def business(result):
    told = [
        {key: value for key, value in entry.items() if key not in ("elapsed_ms", "proposer", "attempts")}
        for entry in result["history"]
    ]
    return {"history": told, **{key: value for key, value in result.items() if key not in OURS_ALONE}}


def business_by_hand(pattern, state):
    kept = {
        key: state[key] for key in (*("status", "stop_reason", "phase", "outcome"), *ANSWER[pattern]) if key in state
    }
    return {"history": state["history"], **kept, **state.get("evidence", {})}


CASES = {
    "rag": {
        "grounded_answer": {},
        "clarify": {"retriever": lambda asked: []},
        "invalid_answer:contradicts_source": {
            "answerer": lambda view: {
                "answer": "The enterprise plan has a 99.5% monthly uptime SLA.",
                "citations": ["doc_sla_enterprise_v3"],
            }
        },
    },
    "research": {
        "grounded_research_answer": {},
        "no_sources_after_dedupe": {"search": lambda asked: []},
        "invalid_answer:citation_unknown": {"writer": lambda view: {"answer": "Yes.", "citations": ["n99"]}},
    },
    "self_critique": {
        "revised_once": {},
        "critique_decision_denied_execution": {"policy": SelfCritiquePolicy(allowed_decisions_execution=["approve"])},
        "patch_violation:too_large_edit": {"reviser": lambda view: {"revised_answer": "Nothing to see here."}},
    },
}
"""By pattern: how a run ends, and what makes it end so."""


@pytest.mark.parametrize("pattern", CASES)
def test_an_agent_written_by_hand_decides_the_same(pattern):
    """Ending, evidence, answer and history are those of our agent, whatever proposers and tools say."""
    offline = offline_agent(pattern)
    for case, changed in CASES[pattern].items():
        arguments, given = {**offline.arguments, **changed}, offline.given()
        ours = business(CREATE[pattern](**arguments).invoke(given))
        assert business_by_hand(pattern, BY_HAND[pattern](**arguments).invoke(given)) == ours
        assert ours.get("outcome", ours["stop_reason"]).startswith(case)

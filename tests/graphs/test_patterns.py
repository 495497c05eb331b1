"""The shipped patterns in the registry, and the agents by hand that the benchmarks hold them against."""

import subprocess
import sys

import pytest
from by_hand_agents import BY_HAND
from measured import offline_agent

import guardgraph
from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.catalogues import catalogue_markdown
from guardgraph.graphs.patterns import PATTERNS, find_shipped_pattern


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=lambda item: item.name)
def test_the_demo_of_a_pattern_ends_well(pattern):
    """The factory of an entry makes its agent, whose demo ends with an outcome that the entry explains."""
    agent = pattern.create_agent()
    assert guardgraph.verify(agent) == []
    assert (type(agent.frame.policy), type(agent.frame.budget)) == pattern.settings_classes
    given = pattern.demo()
    result = agent.invoke(given)
    assert (result["status"], pattern.explain_outcome(result)) == ("ok", pattern.outcomes[result["outcome"]])
    named = [pattern.explain_outcome({"outcome": "clarify", "clarify_reason": why}) for why in pattern.reasons_named]
    assert (named, pattern.explain_outcome({"outcome": []})) == ([*pattern.reasons_named.values()], None)
    assert pattern.read_request(given) in str(given)
    assert find_shipped_pattern(pattern.name) is find_shipped_pattern(pattern.command) is pattern
    assert find_shipped_pattern(pattern.title + "s") is None


def test_the_registry_is_read_at_no_cost():
    """Names and commands are known without LangGraph, Pydantic or any pattern's own modules."""
    code = "import sys, guardgraph.graphs.patterns; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert not {"langgraph", "langchain_core", "pydantic", "guardgraph.state.rag"} & {*done.stdout.split()}


def test_all_reasons_are_listed_by_family_and_pattern():
    """Each stands once in its family, under the patterns that have it, with its meaning, its advice and its marks."""
    families = dict(part.split("\n", 1) for part in catalogue_markdown().removeprefix("## ").split("\n## "))
    for pattern, reasons in guardgraph.CATALOGUES.items():
        for item in reasons:
            groups = [group.partition(":") for group in families[item.family].split("\nOf ")]
            held = [told for names, _, told in groups if names == "all patterns" or pattern in names.split(", ")]
            [line] = [line for told in held for line in told.splitlines() if f"`{item.reason}`" in line]
            head = line.removesuffix(f": {item.meaning} *{item.advice}*")
            assert (head != line, "asked again" in head, "defensive" in head) == (True, item.again, item.defensive)


CREATE = {"rag": create_rag_agent, "research": create_research_agent, "self_critique": create_self_critique_agent}
OURS_ALONE = ("run_id", "pattern", "path", "timeline", "trace", "asked_question", "usage", "so_far")
CASES = [
    *(("rag", "grounded_answer", {}), ("rag", "clarify", {"retriever": lambda asked: []})),
    *(("research", "grounded_research_answer", {}), ("self_critique", "revised_once", {})),
    ("research", "no_sources_after_dedupe", {"search": lambda asked: []}),
    ("rag", "invalid_answer:citations_out_of_context", {"answerer": lambda view: {"answer": "a", "citations": ["z"]}}),
    ("research", "invalid_answer:citation_unknown", {"writer": lambda view: {"answer": "Yes.", "citations": ["n99"]}}),
    ("self_critique", "patch_violation:too_large_edit", {"reviser": lambda view: {"revised_answer": "No more here."}}),
]
"""By pattern: how a run ends, and what makes it end so."""


@pytest.mark.parametrize(("pattern", "ending", "changed"), CASES, ids=[case[1] for case in CASES])
def test_an_agent_written_by_hand_decides_the_same(pattern, ending, changed):
    """Ending, evidence, answer and history are those of our agent, whatever proposers and tools say."""
    offline = offline_agent(pattern)
    arguments, given = {**offline.arguments, **changed}, offline.given()
    ours = CREATE[pattern](**arguments).invoke(given)
    state = BY_HAND[pattern](**arguments).invoke(given)
    varies = {"elapsed_ms", "proposer", "attempts"}
    assert state["history"] == [{name: entry[name] for name in entry.keys() - varies} for entry in ours["history"]]
    kept = {**state, **state.get("evidence", {})}
    business = {name: value for name, value in ours.items() if name not in (*OURS_ALONE, "history")}
    assert {name: kept.get(name) for name in business} == business
    assert ours.get("outcome", ours["stop_reason"]) == ending

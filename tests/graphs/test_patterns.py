"""The shipped patterns in the registry, and the agents by hand that the benchmarks hold them against."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

import pytest
from by_hand_agents import BY_HAND
from cli_runs import run
from measured import offline_agent, scripted_agent

import guardgraph
from guardgraph import (
    RagPolicy,
    SelfCritiquePolicy,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
)
from guardgraph.graphs.patterns import COMMANDS, PATTERNS
from guardgraph.testing import scripted_tool

EVERY_PATTERN = pytest.mark.parametrize("pattern", PATTERNS.values(), ids=lambda item: item.name)


@EVERY_PATTERN
def test_the_demo_of_a_pattern_ends_well(pattern):
    """The factory of an entry makes its agent, whose demo ends with an outcome that the entry explains."""
    agent = pattern.create_agent()
    assert guardgraph.verify(agent) == []
    given = pattern.demo()
    result = agent.invoke(given)
    assert (result["status"], result["outcome"] in pattern.outcomes) == ("ok", True)
    assert pattern.read_request(given).strip()


@EVERY_PATTERN
def test_an_entry_has_its_catalogue(pattern):
    """The catalogue has the name of the entry, and the public catalogues are those of the entries, in order."""
    assert pattern.catalogue.pattern == pattern.name
    assert guardgraph.CATALOGUES[pattern.name] is pattern.catalogue
    assert list(guardgraph.CATALOGUES) == list(PATTERNS)


@EVERY_PATTERN
def test_the_command_line_knows_every_pattern(pattern):
    """Help names the command of an entry wherever a pattern is asked for, and lists its reasons by either name."""
    assert re.search(f"Usage: .* {pattern.command} ", run(pattern.command, "--help").stdout)
    for command in ("draw", "report", "reasons"):
        assert "|".join(COMMANDS) in run(command, "--help").stdout
    assert run("reasons", pattern.name).stdout == run("reasons", pattern.command).stdout


def test_the_registry_is_read_at_no_cost():
    """Names and commands are known without LangGraph, Pydantic or any pattern's own modules."""
    code = "import sys, guardgraph.graphs.patterns; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    loaded = done.stdout.split()
    assert not {"langgraph", "langchain_core", "pydantic", "guardgraph.state.rag"} & {*loaded}


CREATE = {"rag": create_rag_agent, "research": create_research_agent, "self_critique": create_self_critique_agent}
ENDING = ("status", "stop_reason", "phase", "outcome")
ANSWER = {
    "rag": ("answer", "citations", "citation_details", "passages", "clarify_reason", "best_score", "unverified"),
    "research": (
        *("answer", "citations", "citation_details", "passages", "aggregate", "dropped_urls", "failed_sources"),
        "unverified",
    ),
    "self_critique": ("answer", "critique_decision", "severity", "risks", "required_changes", "audit"),
}
OURS_ALONE = ("run_id", "pattern", "path", "timeline", "trace", "history", "asked_question", "usage", "so_far")
RECORDED = ("elapsed_ms", "proposer", "attempts")
"""What only our history says."""


def business(result):
    """Return the business result of one of our agents."""
    told = [{key: value for key, value in entry.items() if key not in RECORDED} for entry in result["history"]]
    return {"history": told, **{key: value for key, value in result.items() if key not in OURS_ALONE}}


def business_by_hand(pattern, state):
    """Return the business result in the last state of an agent written by hand."""
    kept = {key: state[key] for key in (*ENDING, *ANSWER[pattern]) if key in state}
    return {"history": state["history"], **kept, **state.get("evidence", {})}


def said(*values):
    """Return a proposer or tool that says one thing after the other, the last again and again."""
    return scripted_tool(*values, loop=True)


def intent(**fields):
    """Return a planner whose intent is the demo's but for these fields."""
    return said({"kind": "retrieve", "query": "enterprise SLA first response target", **fields})


def lists(execution):
    """Return a policy with all sources on the policy list and these on the execution list."""
    sources = ("support_policy", "security_policy", "billing_policy")
    return RagPolicy(allowed_sources_policy=sources, allowed_sources_execution=execution)


def pages(**by_word):
    """Return a reader that raises or returns what is said for a word of the URL, else the recorded page."""
    recorded = offline_agent("research").arguments["reader"]

    def read(request):
        for word, value in by_word.items():
            if word in request["url"]:
                return value() if callable(value) else value
        return recorded(request)

    return read


def lost():
    """Raise what a reader raises."""
    raise OSError("no such page")


def hinted(**hints):
    """Return the demo's request with other hints."""
    request = offline_agent("research").given()["request"]
    return {"request": {**request, "policy_hints": hints}}


def noted(**fields):
    """Return an extractor whose notes have these fields instead of the recorded ones."""
    recorded = offline_agent("research").arguments["extractor"]
    return lambda request: [{**note, **fields} for note in recorded(request)]


CRITIQUE = {"decision": "revise", "severity": "low", "risks": [], "reason": ""}
ADD = {**CRITIQUE, "required_changes": ['ADD "very soon"']}
APPROVE = {**CRITIQUE, "decision": "approve", "required_changes": []}
SHORT = "we investigate failed payments of some merchants, check every log that we have, and share what we find here."
DRAFT = "We are investigating failed payments. " * 30
OTHER_SLA = "The enterprise plan includes a 99.5% monthly uptime SLA."

RAG = {
    "grounded_answer": ({}, {}),
    "clarify": ({"retriever": said([])}, {}),
    "clarify, answerer abstains": ({"answerer": said({"insufficient": True})}, {}),
    "invalid_request:question": ({}, {"question": "  "}),
    "invalid_intent:top_k": ({"planner": intent(top_k=99)}, {}),
    "source_denied": ({"planner": intent(sources=["billing_policy"]), "policy": lists(("support_policy",))}, {}),
    "tool_invalid_output:retrieve": ({"retriever": said(OSError("down"))}, {}),
    "llm_empty": ({"answerer": said({"answer": " ", "citations": []})}, {}),
    "invalid_answer:citations_out_of_context": ({"answerer": said({"answer": "Yes.", "citations": ["other"]})}, {}),
    "invalid_answer:unsupported_number": (
        {"answerer": said({"answer": "It is 77 %.", "citations": ["doc_sla_enterprise_v3"]})},
        {},
    ),
    "invalid_answer:contradicts_source": (
        {"answerer": said({"answer": OTHER_SLA, "citations": ["doc_sla_enterprise_v3"]})},
        {},
    ),
}
RESEARCH = {
    "grounded_research_answer": ({}, {}),
    "grounded_research_answer, one page lost": ({"reader": pages(sla=lost)}, {}),
    "invalid_request:goal": ({}, {"goal": ""}),
    "invalid_plan:steps": ({"planner": said({"steps": []})}, {}),
    "invalid_search:query": ({"planner": lambda view: {"steps": [{**step, "args": {}} for step in _plan(view)]}}, {}),
    "no_sources_after_dedupe": ({"search": said([])}, {}),
    "tool_invalid_output:search_sources": ({"search": said(ValueError("quota"))}, {}),
    "no_reliable_sources, denied": ({}, hinted(allowed_domains_execution=[])),
    "no_reliable_sources, no notes": ({"extractor": said([])}, {}),
    "invalid_notes:claim": ({"extractor": noted(claim="")}, {}),
    "verification_failed:quote_not_in_source": ({"extractor": noted(quote="Nobody has ever said these words.")}, {}),
    "invalid_answer:citation_unknown": ({"writer": said({"answer": "Yes.", "citations": ["n99"]})}, {}),
    "invalid_answer:unsupported_number": ({"writer": said({"answer": "It took 77 days.", "citations": ["n1"]})}, {}),
}
SELF_CRITIQUE = {
    "revised_once": ({}, {}),
    "approved_direct": ({"critic": said(APPROVE)}, {}),
    "revised_once, by rule": (
        {
            "drafter": said({"draft": SHORT}),
            "critic": said(ADD),
            "reviser": said({"revised_answer": SHORT.replace("share", "tell")}),
        },
        {},
    ),
    "approved_direct, shortened": (
        {"drafter": said({"draft": DRAFT}), "shortener": said({"draft": SHORT}), "critic": said(APPROVE)},
        {},
    ),
    "invalid_request:incident_context": ({}, {"incident_context": []}),
    "invalid_draft:too_long": ({"drafter": said({"draft": DRAFT}), "shortener": said({"draft": DRAFT})}, {}),
    "invalid_draft:unsupported_link": ({"drafter": said({"draft": "See attacker.io."})}, {}),
    "invalid_critique:not_object": ({"critic": said([])}, {}),
    "critique_decision_denied_execution": ({"policy": SelfCritiquePolicy(allowed_decisions_execution=["approve"])}, {}),
    "policy_escalation": (
        {"critic": said({**CRITIQUE, "decision": "escalate", "required_changes": [], "reason": "Ask legal."})},
        {},
    ),
    "patch_violation:too_large_edit": ({"reviser": said({"revised_answer": "Nothing to see here."})}, {}),
}
CASES = {"rag": RAG, "research": RESEARCH, "self_critique": SELF_CRITIQUE}


def _plan(view):
    return offline_agent("research").arguments["planner"](view)["steps"]


def _drop_places(value):
    """Return a result without the files and lines of functions that failed, which an agent by hand does not tell."""
    if isinstance(value, dict):
        return {key: _drop_places(item) for key, item in value.items() if key != "at"}
    return [_drop_places(item) for item in value] if isinstance(value, list) else value


def _both(pattern, changed, given):
    """Return the results of our agent and of the one written by hand."""
    offline = offline_agent(pattern)
    arguments, given = {**offline.arguments, **changed}, {**offline.given(), **given}
    ours = CREATE[pattern](**arguments).invoke(given)
    return _drop_places(business(ours)), business_by_hand(pattern, BY_HAND[pattern](**arguments).invoke(given))


@pytest.mark.parametrize("pattern", CASES)
def test_an_agent_written_by_hand_decides_the_same(pattern):
    """Ending, evidence, answer and history are those of our agent, whatever proposers and tools say."""
    for case, parts in CASES[pattern].items():
        ours, theirs = _both(pattern, *parts)
        assert theirs == ours, case
        assert ours.get("outcome", ours["stop_reason"]).startswith(case.partition(",")[0]), case


@pytest.mark.paired
@pytest.mark.parametrize("way", ["threads", "coroutines", "inline"])
@pytest.mark.parametrize("pattern", CASES)
def test_an_agent_written_by_hand_can_be_awaited(pattern, way):
    """With calls in threads, awaited, or made where they stand, a run ends as it does with `invoke`."""
    scripted = scripted_agent(pattern, coroutines=way == "coroutines")
    theirs = asyncio.run(BY_HAND[pattern](**scripted.arguments, way=way).ainvoke(scripted.given()))
    expected = business(scripted.result)
    assert business_by_hand(pattern, theirs).keys() == expected.keys()
    assert theirs["outcome"] == expected["outcome"]
    assert [sorted(entry) for entry in theirs["history"]] == [sorted(entry) for entry in expected["history"]]

"""Every reason why a run of the Research agent can stop, each produced by a whole run."""

from functools import partial

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from research_cases import ANSWER, NOTES, PLAN, QUESTION, RUMORS, SLA, STEPS, asked, hits, notes, research
from runs import ASKED_ONCE, THREAD, StopCase, check_stop, reasons_without_a_run, write_state
from stop_cases import MODEL_FAILURES, cases, common_cases, limit_cases, shut_out, told

from guardgraph import LiveWorld, ResearchBudget, ResearchPolicy, create_research_agent
from guardgraph.guards.research.request import RESEARCH_ACTIONS
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, ScriptedClock, scripted_tool, scripted_verifier
from guardgraph.tools.demo import load_research_demo
from guardgraph.tools.recordings import make_recorded_reader


def late():
    """Make a run whose time is over once notes were taken."""
    clock, context = ScriptedClock(), {"budget": {"max_seconds": 20.0}}
    return research(extractor=lambda _: clock.advance(30) or NOTES[:1], world=LiveWorld(clock=clock), context=context)


def missing(proposal):
    policy = ResearchPolicy(denied_query_terms=("zephyr",))
    return lambda: research(gaps=lambda view: proposal, budget=ResearchBudget(max_queries=2), policy=policy)


def edited():
    graph = create_research_agent(checkpointer=InMemorySaver())
    graph.invoke(asked(), THREAD, interrupt_before=["query_guard"])
    write_state(graph, THREAD, {"accepted_plan": 5, "route": "query_guard"}, as_node="plan_guard")
    return graph.invoke(None, THREAD)


def said(*replies, **parts):
    return research(model=ScriptedChatModel(PLAN, *replies), context=ASKED_ONCE, **parts)


def planned(steps, **evidence):
    raw = {"steps": steps}
    return StopCase("plan", lambda: research(planner=lambda view: raw), {"raw_plan": raw, **evidence})


def noted(**change):
    return lambda: research(extractor=notes(change))


def written(policy=None, **change):
    return lambda: research(writer=lambda view: {**ANSWER, **change}, policy=policy)


def must_cite(answer):
    policy = ResearchPolicy(require_sentence_citations=True)
    return lambda: research(writer=lambda view: {**ANSWER, "answer": answer}, policy=policy)


def verified(*unsupported):
    return lambda: research(verifier=scripted_verifier(*unsupported))


def outlined(proposal):
    return lambda: research(outline=lambda view: proposal, budget=TWO)


def titled(*sections):
    return outlined({"sections": [*sections]})


def unavailable(**part):
    return lambda: research(world=LiveWorld(max_abandoned=0), **part)


def lose(request):
    raise ConnectionError("lost")


REPLIES = {**MODEL_FAILURES, "llm_invalid_schema": {**ANSWER, "citations": ""}, "llm_empty": {**ANSWER, "answer": ""}}
LOST = {"url": SLA, "reason": "read_failed", "details": {"type": "LookupError", "message": "lost"}}
DOUBTING = ResearchPolicy(on_doubt="stop")
TWO = ResearchBudget(max_sections=2)
DETAILS = {"details": ...}
UNVERIFIED = {"verification": {"ok": False, "checked_notes": 1}}
UNSUPPORTED = {"unsupported": ...}
SAID = {**UNSUPPORTED, "findings": ...}
STOPS = {
    **common_cases(research, "plan", "synthesize"),
    "invalid_request:<field>": StopCase("plan", lambda: research(input={}), DETAILS, "invalid_request:goal"),
    "max_seconds": StopCase("synthesize", late, DETAILS),
    "guard_error:<guard>": StopCase("search", edited, DETAILS, "guard_error:query_guard"),
    **{name: StopCase("synthesize", partial(said, reply), DETAILS) for name, reply in REPLIES.items()},
    "invalid_plan:steps": planned([]),
    "invalid_plan:too_many_steps": planned(STEPS * 2),
    "invalid_step:not_object": planned([*STEPS[:4], "synthesize"]),
    "invalid_step:id": planned([{**STEPS[0], "id": " "}, *STEPS[1:]]),
    "invalid_step:action": planned([{**STEPS[0], "action": None}, *STEPS[1:]]),
    "invalid_step:args": planned([{**STEPS[0], "args": [QUESTION]}, *STEPS[1:]]),
    "invalid_plan:step_sequence": planned(STEPS[::-1], details={"received": [*RESEARCH_ACTIONS[::-1]]}),
    "invalid_search:query": planned([{**STEPS[0], "args": {"query": " "}}, *STEPS[1:]])._replace(phase="search"),
    "tool_circuit_open:search_sources": StopCase("search", partial(shut_out, research, search=lose), DETAILS),
    "tool_circuit_open:extract_notes": StopCase("read_extract", partial(shut_out, research, extractor=lose), DETAILS),
    "tool_unavailable:search_sources": StopCase("search", unavailable(search=hits()), DETAILS),
    "tool_unavailable:read_source": StopCase("read_extract", unavailable(reader=scripted_tool({})), DETAILS),
    "tool_unavailable:extract_notes": StopCase("read_extract", unavailable(extractor=notes({})), DETAILS),
    "tool_invalid_output:search_sources": StopCase("search", lambda: research(search=scripted_tool(None)), DETAILS),
    "no_sources_after_dedupe": StopCase(
        "dedupe", lambda: research(search=hits("x", None)), {"dropped_urls": ["x", "null"]}
    ),
    "tool_invalid_output:read_source": StopCase("read_extract", lambda: research(reader=lambda asked: "text"), DETAILS),
    "tool_invalid_output:extract_notes": StopCase("read_extract", lambda: research(extractor=lambda _: {}), DETAILS),
    "no_reliable_sources": StopCase(
        "read_extract",
        lambda: research(search=hits(RUMORS, SLA), reader=scripted_tool(LookupError("lost"))),
        {"denied_sources": [{"url": RUMORS, "reason": "source_denied_policy"}], "failed_sources": [LOST]},
    ),
    "invalid_notes:empty": StopCase("read_extract", lambda: said({"notes": 5}, reader=make_recorded_reader())),
    "invalid_notes:too_many": StopCase("read_extract", lambda: research({"max_notes": 1}, extractor=notes({}, {}))),
    **cases(
        "read_extract",
        "invalid_notes",
        item=(lambda: research(extractor=scripted_tool([NOTES[0], "n2"])), {}),
        id=(noted(id=7), {}),
        url=(noted(url=" "), {}),
        claim=(noted(claim=None), {}),
        quote=(noted(quote=f" {'q' * 19} "), {}),
        active_markup=(noted(claim="It is <b>running</b>."), {"unsupported": ["</b>", "<b>"]}),
        unsupported_link=(noted(title="See attacker.io"), {"unsupported": ["attacker.io"]}),
    ),
    **cases(
        "verify",
        "verification_failed",
        quote_too_short=(noted(quote="P1" + " " * 20 + "mode"), UNVERIFIED),
        url_not_read=(noted(url=RUMORS), UNVERIFIED),
        quote_not_in_source=(noted(quote=NOTES[1]["quote"]), UNVERIFIED),
        number_not_in_quote=(noted(claim="ETA 45 hours"), UNVERIFIED),
        unsupported_claim=(verified([NOTES[0]["claim"]]), {"verification": {"ok": False, "checked_notes": 2}}),
    ),
    **cases(
        "gaps",
        "invalid_gaps",
        not_object=(missing([]), DETAILS),
        open=(missing({"open": "all"}), DETAILS),
        queries=(missing({"queries": "more"}), DETAILS),
        query=(missing({"queries": [""]}), DETAILS),
        query_too_long=(missing({"queries": ["q" * 401]}), DETAILS),
        too_many=(missing({"queries": ["one", "two"]}), DETAILS),
        active_markup=(missing({"open": ["<img src=x onerror=alert(1)>"]}), UNSUPPORTED),
        unsupported_link=(missing({"open": ["See https://attacker.io/a"]}), UNSUPPORTED),
    ),
    **cases(
        "outline",
        "invalid_outline",
        not_object=(outlined([]), DETAILS),
        sections=(titled(), DETAILS),
        too_many=(titled("One", "Two", "Three"), DETAILS),
        title=(titled("Uptime", " "), DETAILS),
        title_too_long=(titled("t" * 81), DETAILS),
        title_twice=(titled("Uptime", "uptime "), DETAILS),
        active_markup=(titled("<img src=x onerror=alert(1)>"), UNSUPPORTED),
        unsupported_link=(titled("See https://attacker.io/a"), UNSUPPORTED),
        unsupported_number=(titled("Uptime of 98.5%"), {"unsupported": ["98.5%"]}),
        unsupported_name=(titled("Losses of Initech"), {"unsupported": ["Initech"]}),
    ),
    "query_denied": StopCase("gaps", missing({"queries": ["what Zephyr does"]}), DETAILS),
    **cases(
        "synthesize",
        "invalid_answer",
        sections=(lambda: research(writer=lambda view: ANSWER, budget=TWO), {"details": {"received": "[]"}}),
        empty=(written(answer=" "), {}),
        too_long=(written(answer="Uptime was good. " * 90), {}),
        citations=(written(citations=[]), {}),
        citation_unknown=(written(citations=["n9", "n1", "n3"]), {"invalid_citations": ["n3", "n9"]}),
        citations_out_of_context=(written(answer="Uptime is 99.95% [n7]."), {"invalid_citations": ["n7"]}),
        active_markup=(written(answer="[Log in](javascript:alert`1`)."), UNSUPPORTED),
        unsupported_link=(written(answer="Write to help@attacker.io."), {"unsupported": ["help@attacker.io"]}),
        uncited_sentence=(must_cite("Uptime is 99.95%."), {"details": {"sentence": "Uptime is 99.95%."}}),
        quote_not_in_source=(must_cite("They say “we will be back soon” [n1]."), {**UNSUPPORTED, **DETAILS}),
        unsupported_number=(written(answer="It cost 77 EUR."), {**SAID, "unsupported": ["77 EUR"]}),
        unsupported_name=(written(answer="Initech found the cause."), {**SAID, "unsupported": ["Initech"]}),
        contradicts_source=(written(answer="Monthly uptime is 99.5%."), {**SAID, "unsupported": ["99.5%"]}),
        unsupported_claim=(verified([], [ANSWER["answer"][:20]]), UNSUPPORTED),
        doubtful=(written(DOUBTING, answer="The US payment gateway is not in P1 degraded mode."), SAID),
    ),
}


def limited(phase, world=None, **budget):
    model = ScriptedChatModel(told({"steps": STEPS}))
    return create_research_agent(model, budget=ResearchBudget(**budget), world=world).invoke(load_research_demo())


STOPS |= dict(limit_cases(limited, {"plan": (0, 0)}, {"search": (0, 1)}))
REVIEWED = ("review_rejected", "review_unavailable", "review_expired")
OF_PERSONS_AND_SOURCES = ("conflicting_sources", "insufficient_corroboration:<n>", *REVIEWED)
"""Reasons that the runs of test_research_trust.py end with."""


def test_every_reason_has_a_run():
    """The catalogue and the runs below name the same reasons, but for those that no run can reach."""
    assert reasons_without_a_run(RESEARCH_REASONS, {*STOPS, *OF_PERSONS_AND_SOURCES}) == []
    defensive = [item.reason for item in RESEARCH_REASONS if item.defensive]
    assert defensive == ["result_differs:<key>", "verification_failed:claim_missing"]


@pytest.mark.parametrize("entry", STOPS)
def test_a_run_stops(entry):
    """A run stops with every reason of the catalogue, in its phase and with its evidence."""
    check_stop(RESEARCH_REASONS, entry, STOPS[entry])

"""Every reason why a run of the Research agent can stop, each produced by a whole run."""

import pytest
from guard_cases import stop_of
from langchain_core.exceptions import ModelAPIError
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Failing
from research_cases import (
    ANSWER,
    NOTES,
    PAGES,
    PLAN,
    QUESTION,
    REQUEST,
    RUMORS,
    SLA,
    STATUS,
    STEPS,
    asked,
    hits,
    notes,
    plans,
    research,
)
from runs import ASKED_ONCE, StopCase, check_stop, reasons_without_a_run, write_state
from stop_cases import MODEL_FAILURES, OFF, fragile, limit_cases, second_run, switching, told

from guardgraph import LiveWorld, ResearchBudget, ResearchPolicy, create_research_agent
from guardgraph.guards.research.notes import verify_notes
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, ScriptedClock, scripted_tool, scripted_verifier
from guardgraph.tools.demo import load_research_demo
from guardgraph.tools.recordings import make_recorded_reader


def late():
    """Make a run whose time is over once notes were taken."""
    clock = ScriptedClock()
    return research(
        extractor=lambda request: clock.advance(30) or [NOTES[0]],
        world=LiveWorld(clock=clock),
        context={"budget": {"max_seconds": 20.0}},
    )


def missing(proposal):
    policy = ResearchPolicy(denied_query_terms=("zephyr",))
    return lambda: research(gaps=lambda view: proposal, budget=ResearchBudget(max_queries=2), policy=policy)


def edited(node, after, **channels):
    graph = create_research_agent(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(asked(), config, interrupt_before=[node])
    write_state(graph, config, {**channels, "route": node}, as_node=after)
    return graph.invoke(None, config)


def said(*replies, **parts):
    return research(model=ScriptedChatModel(PLAN, *replies), context=ASKED_ONCE, **parts)


def planned(steps):
    return lambda: research(planner=lambda view: {"steps": steps})


def raw_plan(steps):
    return {"raw_plan": {"steps": steps}}


def noted(**change):
    return lambda: research(extractor=notes(change))


def written(policy=None, **change):
    return lambda: research(writer=lambda view: {**ANSWER, **change}, policy=policy)


def must_cite(answer):
    policy = ResearchPolicy(require_sentence_citations=True)
    return lambda: research(writer=lambda view: {**ANSWER, "answer": answer}, policy=policy)


def outlined(proposal):
    return lambda: research(outline=lambda view: proposal, budget=ResearchBudget(max_sections=2))


def unavailable(**part):
    return lambda: research(world=LiveWorld(max_abandoned=0), **part)


def lose(request):
    raise ConnectionError("lost")


def shut_out(**parts):
    return lambda: second_run(create_research_agent(world=fragile(), **parts), asked(), context=ASKED_ONCE)


DETAILS = {"details": ...}
UNVERIFIED = {"verification": {"ok": False, "checked_notes": 1}}
BAD_STEPS = {
    "not_object": [*STEPS[:4], "synthesize"],
    "id": [{**STEPS[0], "id": " "}, *STEPS[1:]],
    "action": [{**STEPS[0], "action": None}, *STEPS[1:]],
    "args": [{**STEPS[0], "args": [QUESTION]}, *STEPS[1:]],
}

STOPS = {
    "invalid_request:<field>": StopCase(
        "plan", lambda: research(input={"goal": " ", "request": REQUEST}), DETAILS, "invalid_request:goal"
    ),
    "max_seconds": StopCase("synthesize", late, DETAILS),
    "max_visits": StopCase("plan", lambda: research(context={"budget": {"max_visits": 1}}), DETAILS),
    "audit_unavailable": StopCase(
        "synthesize",
        lambda: research(context={"policy": {"audit_required": True}}, recorder=Failing()),
        {"details": {"type": "OSError", "stop_reason": "success"}, "audit": {"status": "unavailable"}},
    ),
    "guard_error:<guard>": StopCase(
        "search", lambda: edited("query_guard", "plan_guard", accepted_plan=5), DETAILS, "guard_error:query_guard"
    ),
    **{
        name: StopCase("synthesize", lambda reply=reply: said(reply), DETAILS) for name, reply in MODEL_FAILURES.items()
    },
    "llm_invalid_schema": StopCase("synthesize", lambda: said({**ANSWER, "citations": "n1"}), DETAILS),
    "llm_empty": StopCase("synthesize", lambda: said({**ANSWER, "answer": "\n"}), DETAILS),
    "invalid_plan:steps": StopCase("plan", planned([]), raw_plan([])),
    "invalid_plan:too_many_steps": StopCase("plan", planned(STEPS * 2), raw_plan(STEPS * 2)),
    **{f"invalid_step:{name}": StopCase("plan", planned(steps), raw_plan(steps)) for name, steps in BAD_STEPS.items()},
    "invalid_plan:step_sequence": StopCase(
        "plan",
        planned(STEPS[::-1]),
        raw_plan(STEPS[::-1])
        | {
            "details": {
                "expected": [step["action"] for step in STEPS],
                "received": [step["action"] for step in STEPS[::-1]],
            }
        },
    ),
    "invalid_search:query": StopCase(
        "search",
        lambda: research(planner=plans(args={"query": " "})),
        raw_plan([{**STEPS[0], "args": {"query": " "}}, *STEPS[1:]]),
    ),
    "switched_off": StopCase("plan", lambda: research(live=switching(1)), OFF),
    "policy_unreadable": StopCase("plan", lambda: research(live=switching(1, OSError("disk"))), DETAILS),
    "llm_circuit_open": StopCase(
        "plan", shut_out(model=ScriptedChatModel(ModelAPIError("down"), loop=True)), {"details": {"failures": 1}}
    ),
    "tool_circuit_open:search_sources": StopCase("search", shut_out(search=lose), {"details": {"failures": 1}}),
    "tool_circuit_open:extract_notes": StopCase("read_extract", shut_out(extractor=lose), {"details": {"failures": 1}}),
    "tool_unavailable:search_sources": StopCase("search", unavailable(search=hits()), DETAILS),
    "tool_unavailable:read_source": StopCase("read_extract", unavailable(reader=scripted_tool({})), DETAILS),
    "tool_unavailable:extract_notes": StopCase("read_extract", unavailable(extractor=notes({})), DETAILS),
    "tool_invalid_output:search_sources": StopCase("search", lambda: research(search=scripted_tool(None)), DETAILS),
    "no_sources_after_dedupe": StopCase(
        "dedupe",
        lambda: research(search=hits("nonsense", None, "data:,x")),
        {"dropped_urls": ["nonsense", "null", "data:,x"]},
    ),
    "tool_invalid_output:read_source": StopCase(
        "read_extract", lambda: research(reader=scripted_tool("text", loop=True)), DETAILS
    ),
    "tool_invalid_output:extract_notes": StopCase(
        "read_extract", lambda: research(extractor=scripted_tool({"notes": NOTES})), DETAILS
    ),
    "no_reliable_sources": StopCase(
        "read_extract",
        lambda: research(search=hits(RUMORS, SLA), reader=scripted_tool(LookupError("gone"))),
        {
            "denied_sources": [{"url": RUMORS, "reason": "source_denied_policy"}],
            "failed_sources": [
                {"url": SLA, "reason": "read_failed", "details": {"type": "LookupError", "message": "gone"}}
            ],
        },
    ),
    "invalid_notes:empty": StopCase("read_extract", lambda: said({"notes": 5}, reader=make_recorded_reader())),
    "invalid_notes:too_many": StopCase(
        "read_extract", lambda: research({"max_notes": 1}, extractor=scripted_tool(NOTES))
    ),
    "invalid_notes:item": StopCase("read_extract", lambda: research(extractor=scripted_tool([NOTES[0], "n2"]))),
    "invalid_notes:id": StopCase("read_extract", noted(id=7)),
    "invalid_notes:url": StopCase("read_extract", noted(url=" ")),
    "invalid_notes:claim": StopCase("read_extract", noted(claim=None)),
    "invalid_notes:quote": StopCase("read_extract", noted(quote=f" {'q' * 19} ")),
    "invalid_notes:active_markup": StopCase(
        "read_extract", noted(claim="It is <b>running</b>."), {"unsupported": ["</b>", "<b>"]}
    ),
    "invalid_notes:unsupported_link": StopCase(
        "read_extract", noted(title="See attacker.io"), {"unsupported": ["attacker.io"]}
    ),
    "verification_failed:quote_too_short": StopCase("verify", noted(quote="P1" + " " * 20 + "mode"), UNVERIFIED),
    "verification_failed:url_not_read": StopCase("verify", noted(url=RUMORS), UNVERIFIED),
    "verification_failed:quote_not_in_source": StopCase("verify", noted(quote=NOTES[1]["quote"]), UNVERIFIED),
    "verification_failed:number_not_in_quote": StopCase("verify", noted(claim="ETA 45 hours"), UNVERIFIED),
    **{
        f"invalid_gaps:{what}": StopCase("gaps", missing(proposal), shown)
        for what, (proposal, shown) in {
            "not_object": ([], DETAILS),
            "open": ({"open": "all"}, DETAILS),
            "queries": ({"queries": "more"}, DETAILS),
            "query": ({"queries": [""]}, DETAILS),
            "query_too_long": ({"queries": ["q" * 401]}, DETAILS),
            "too_many": ({"queries": ["one", "two"]}, DETAILS),
            "active_markup": ({"open": ["<img src=x onerror=alert(1)>"]}, {"unsupported": ...}),
            "unsupported_link": ({"open": ["See https://attacker.io/a"]}, {"unsupported": ...}),
        }.items()
    },
    **{
        f"invalid_outline:{what}": StopCase("outline", outlined(proposal), shown)
        for what, (proposal, shown) in {
            "not_object": ([], DETAILS),
            "sections": ({"sections": []}, DETAILS),
            "too_many": ({"sections": ["One", "Two", "Three"]}, DETAILS),
            "title": ({"sections": ["Uptime", " "]}, DETAILS),
            "title_too_long": ({"sections": ["t" * 81]}, DETAILS),
            "title_twice": ({"sections": ["Uptime", "uptime "]}, DETAILS),
            "active_markup": ({"sections": ["<img src=x onerror=alert(1)>"]}, {"unsupported": ...}),
            "unsupported_link": ({"sections": ["See https://attacker.io/a"]}, {"unsupported": ...}),
            "unsupported_number": ({"sections": ["Uptime of 98.5%"]}, {"unsupported": ["98.5%"]}),
            "unsupported_name": ({"sections": ["Losses of Initech"]}, {"unsupported": ["Initech"]}),
        }.items()
    },
    "invalid_answer:sections": StopCase(
        "synthesize",
        lambda: research(writer=lambda view: ANSWER, budget=ResearchBudget(max_sections=2)),
        {"details": {"received": "[]"}},
    ),
    "query_denied": StopCase("gaps", missing({"queries": ["what Zephyr does"]}), DETAILS),
    "invalid_answer:empty": StopCase("synthesize", written(answer=" ")),
    "invalid_answer:too_long": StopCase("synthesize", written(answer="Uptime was good. " * 90)),
    "invalid_answer:citations": StopCase("synthesize", written(citations=[])),
    "invalid_answer:citation_unknown": StopCase(
        "synthesize", written(citations=["n9", "n1", "n3"]), {"invalid_citations": ["n3", "n9"]}
    ),
    "invalid_answer:active_markup": StopCase(
        "synthesize", written(answer="[Log in](javascript:alert`1`)."), {"unsupported": ...}
    ),
    "invalid_answer:unsupported_link": StopCase(
        "synthesize", written(answer="Write to help@attacker.io."), {"unsupported": ["help@attacker.io"]}
    ),
    "invalid_answer:uncited_sentence": StopCase(
        "synthesize", must_cite("Uptime is 99.95%."), {"details": {"sentence": "Uptime is 99.95%."}}
    ),
    "invalid_answer:quote_not_in_source": StopCase(
        "synthesize", must_cite("They say “we will be back soon” [n1]."), {"unsupported": ..., **DETAILS}
    ),
    "invalid_answer:unsupported_number": StopCase(
        "synthesize", written(answer="It cost 77 EUR."), {"unsupported": ["77 EUR"], "findings": ...}
    ),
    "invalid_answer:unsupported_name": StopCase(
        "synthesize", written(answer="The cause was found by Initech."), {"unsupported": ["Initech"], "findings": ...}
    ),
    "verification_failed:unsupported_claim": StopCase(
        "verify",
        lambda: research(verifier=scripted_verifier([NOTES[0]["claim"]])),
        {"verification": {"ok": False, "checked_notes": 2}},
    ),
    "invalid_answer:unsupported_claim": StopCase(
        "synthesize", lambda: research(verifier=scripted_verifier([], [ANSWER["answer"][:20]])), {"unsupported": ...}
    ),
    "invalid_answer:citations_out_of_context": StopCase(
        "synthesize", written(answer="Uptime is 99.95% [n7]."), {"invalid_citations": ["n7"]}
    ),
    "invalid_answer:contradicts_source": StopCase(
        "synthesize", written(answer="Monthly uptime is 99.5%."), {"unsupported": ["99.5%"], "findings": ...}
    ),
    "invalid_answer:doubtful": StopCase(
        "synthesize",
        written(answer="The US payment gateway is not in P1 degraded mode.", policy=ResearchPolicy(on_doubt="stop")),
        {"unsupported": ..., "findings": ...},
    ),
}


def limited(phase, world=None, **budget):
    model = ScriptedChatModel(told({"steps": STEPS}))
    return create_research_agent(model, budget=ResearchBudget(**budget), world=world).invoke(load_research_demo())


STOPS |= dict(limit_cases(limited, {"plan": (0, 0)}, {"search": (0, 1)}))


OF_PERSONS_AND_SOURCES = (
    *("conflicting_sources", "insufficient_corroboration:<n>"),
    *("review_rejected", "review_unavailable", "review_expired"),
)
"""Reasons that the runs of test_research_trust.py end with."""


def test_every_reason_has_a_run():
    """The catalogue and the runs below name the same reasons, but for those that no run can reach."""
    assert reasons_without_a_run(RESEARCH_REASONS, {*STOPS, *OF_PERSONS_AND_SOURCES}) == []
    assert [item.reason for item in RESEARCH_REASONS if item.defensive] == [
        "result_differs:<key>",
        "tool_invalid_output:verify_notes",
        "verification_failed:claim_missing",
    ]


@pytest.mark.parametrize("entry", STOPS)
def test_a_run_stops(entry):
    """A run stops with every reason of the catalogue, in its phase and with its evidence."""
    check_stop(RESEARCH_REASONS, entry, STOPS[entry])


BROKEN = {
    "no notes": {"accepted_notes": []},
    "a note without a quote": {"accepted_notes": [{**NOTES[0], "id": "n1", "quote": None}]},
    "a page without a body": {"accepted_pages": {STATUS: {"title": "", "published_at": ""}}},
}


@pytest.mark.parametrize("edit", BROKEN)
def test_notes_that_were_not_read_are_not_verified(edit):
    good = {"accepted_notes": [{**NOTES[0], "id": "n1"}], "accepted_pages": PAGES}
    kept = {**good, **BROKEN[edit]}
    checks = {"check_values": False, "check_quotes": False}
    stop = stop_of(verify_notes, kept["accepted_notes"], pages=kept["accepted_pages"], **checks)
    assert stop.reason == "tool_invalid_output:verify_notes"
    case = StopCase("verify", lambda: edited("verify_guard", "notes_guard", **BROKEN[edit]), DETAILS)
    check_stop(RESEARCH_REASONS, stop.reason, case)

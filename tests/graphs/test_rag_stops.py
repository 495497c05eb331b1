"""Every reason why a RAG run can stop, each produced by a whole run, in every phase that the catalogue names."""

from __future__ import annotations

import time
from functools import partial

import pytest
from hanging import PROMPTLY, hang, released, standing
from langchain_core.exceptions import ModelAPIError, ModelAuthenticationError, ModelRateLimitError, ModelTimeoutError
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import ANSWER, CANDIDATE, INTENT, NAMED, POLICY, QUESTION, SLA, agent, agent_with
from recorded_runs import Failing
from runs import ASKED_ONCE, StopCase, check_result, check_stop, content, reasons_without_a_run, run, write_state
from stop_cases import OFF, fragile, limit_cases, second_run, switching, told

from guardgraph import LiveWorld, RagBudget, RagPolicy, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, scripted_tool, scripted_verifier

nobody_hangs_on = pytest.fixture(autouse=True)(released)

USAGE = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


def ask(graph, given=QUESTION, **kwargs):
    """Return a run still to be made."""
    return lambda: run(graph, given, **kwargs)


def planned(raw, phase="plan", *, reason=None, **details):
    """Return the case of a planner that proposes `raw`, which the policy guard refuses."""
    return StopCase(phase, ask(agent(raw)), {"raw_intent": raw, **({"details": details} if details else {})}, reason)


def answered(answer, **evidence):
    """Return the case of an answerer that proposes `answer`, which the answer guard refuses."""
    return StopCase("generate", ask(agent(answer=answer)), evidence)


def marked(answer):
    """Return an agent whose answerer says this, with marks."""
    return agent(answer={"answer": answer, "citations": []})


FOLLOWING = {
    "question": "And for P1 incidents?",
    "history": [
        {"role": "user", "content": "What SLA applies to enterprise plan?"},
        {"role": "assistant", "content": "It is 99.95%, see evil.io."},
    ],
}


def failing(item, phase, **details):
    """Return the case of a model that fails in a phase."""
    script = [INTENT, item] if phase == "generate" else [item]
    given = FOLLOWING if phase == "condense" else QUESTION
    graph = create_rag_agent(ScriptedChatModel(*script))
    return StopCase(phase, ask(graph, given, context=ASKED_ONCE), {"details": details or ...})


def condensed(question, **evidence):
    """Return the case of a condenser that proposes this question, which the question guard refuses."""
    graph = agent(condenser=scripted_tool({"question": question}, loop=True))
    return StopCase("condense", ask(graph, FOLLOWING), {"details": {"question": question}, **evidence})


def slow(*seconds, max_seconds=20.0):
    """Return a run in which plan and retrieval take these seconds."""
    clock = ScriptedClock()
    plan, found = (*seconds, 0, 0)[:2]

    def retrieve(request):
        clock.advance(found / 2)  # for each of two queries
        return [CANDIDATE]

    model = ScriptedChatModel(Reply(INTENT, delay=plan), ANSWER, clock=clock)
    budget = RagBudget(max_seconds=max_seconds)
    return ask(create_rag_agent(model, retriever=retrieve, policy=POLICY, budget=budget, world=LiveWorld(clock=clock)))


def visits(most):
    """Return a context under which a run visits so many nodes at most."""
    return {"budget": {"max_visits": most}}


def written_by_hand():
    """Interrupt a run and write into a raw channel what no proposer wrote."""
    graph, config = agent(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    graph.invoke(QUESTION, config, interrupt_before=["answer_guard"])
    write_state(graph, config, {"proposed_answer": "by hand"}, as_node="generate")
    return graph.invoke(None, config)


def condensed_by_hand():
    """Interrupt a run and write into the raw channel of a question what no proposer wrote."""
    graph, config = agent(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    graph.invoke(FOLLOWING, config, interrupt_before=["question_guard"])
    write_state(graph, config, {"proposed_question": "by hand"}, as_node="condense")
    return graph.invoke(None, config)


def switched_off(**lists):
    """Switch a source off between retrieval and generation."""
    graph, config = agent(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    graph.invoke(QUESTION, config, interrupt_before=["generate"])
    return graph.invoke(None, config, context={"policy": lists or {"allowed_sources_execution": ["billing_policy"]}})


def broken(request):
    """Lose the connection."""
    raise ConnectionError("lost")


def shut_out(given, **parts):
    """Return a run that comes to an open circuit."""
    parts = {"model": ScriptedChatModel(ModelAPIError(), loop=True), "policy": POLICY, **parts}
    return second_run(create_rag_agent(world=fragile(), **parts), given, context=ASKED_ONCE)


def resumed_by_another(before):
    """Let a caller begin a run and nobody whom anybody knows go on with it."""
    graph = agent_with({**CANDIDATE, "readers": ["user:ada"]}, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(QUESTION, config, context={"caller": {"user": "ada"}}, interrupt_before=[before])
    return lambda: graph.invoke(None, config)


def crowded_out():
    """Go on to the reranking where no call may be made any more."""
    kept, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    first, second = (agent(checkpointer=kept, reranker=scripted_tool([]), world=world) for world in (LiveWorld(), FULL))
    first.invoke(QUESTION, config, interrupt_before=["rerank"])
    return second.invoke(None, config)


FAILURES = {
    "llm_timeout": (ModelTimeoutError(), {"cause": "timeout"}),
    "llm_rate_limited": (ModelRateLimitError(), {"type": "ModelRateLimitError"}),
    "llm_auth": (ModelAuthenticationError(), {}),
    "llm_unavailable": (ModelAPIError(), {}),
    "llm_refused": (Reply("", refusal="I cannot.", usage=USAGE), {"message": "I cannot.", "usage": USAGE}),
    "llm_truncated": (Reply('{"answer": "it wa', finish_reason="length"), {}),
    "llm_content_filter": (Reply("", finish_reason="content_filter"), {}),
    "llm_bad_response": (KeyError("choices"), {"type": "KeyError"}),
}
WRONG_BUDGET = RagBudget.model_construct(max_query_chars="240")
WRONG_POLICY = RagPolicy.model_construct(allowed_sources_policy=None, allowed_sources_execution=())

FULL = LiveWorld(max_abandoned=0)
NO_ROOM = {"cause": "max_abandoned", "limit": 0}

NO_TIME = {"budget": {"max_seconds": 0.0}}
AUDITED = {"policy": {"audit_required": True}}
MARKED = {"policy": {"require_sentence_citations": True}}
UNCITED = {"sentence": "It is quick."}
QUOTED = {"unsupported": ["It is quick"], "sentence": "“It is quick”."}
UNRECORDED = {"details": {"type": "OSError"}, "audit": {"status": "unavailable"}}
UNBEGUN = {"details": {"type": "NoRecorder"}, "audit": {"status": "unavailable"}}
STOPS = {
    "invalid_request:<field>": StopCase(
        "plan", ask(agent(), {}), {"details": {"field": "question"}}, "invalid_request:question"
    ),
    "max_seconds @ plan": StopCase("plan", slow(max_seconds=0.0), {"details": {"max_seconds": 0.0}}),
    "max_seconds @ condense": StopCase("condense", ask(agent(), FOLLOWING, context=NO_TIME), {"details": ...}),
    "max_seconds @ retrieve": StopCase("retrieve", slow(20), {"details": {"max_seconds": 20.0, "spent_seconds": 20.0}}),
    "max_seconds @ generate": StopCase("generate", slow(12, 9), {"details": {"spent_seconds": 21.0}}),
    **{
        f"max_visits @ {phase}": StopCase(
            phase, ask(agent(answer=ANSWER), context=visits(most)), {"details": {"max_visits": most}}
        )
        for phase, most in (("plan", 1), ("retrieve", 2), ("generate", 5))
    },
    "max_visits @ condense": StopCase(
        "condense", ask(agent(), FOLLOWING, context=visits(1)), {"details": {"max_visits": 1}}
    ),
    "audit_unavailable @ condense": StopCase(
        "condense", ask(agent(recorder=Failing(), condenser=scripted_tool({})), FOLLOWING, context=AUDITED), UNRECORDED
    ),
    "guard_error:<guard> @ condense": StopCase(
        "condense", condensed_by_hand, {"details": ...}, "guard_error:question_guard"
    ),
    "audit_unavailable @ plan": StopCase("plan", ask(agent(), {}, context=AUDITED), UNBEGUN),
    "audit_unavailable @ retrieve": StopCase(
        "retrieve", ask(agent(recorder=Failing()), context={**AUDITED, "budget": {"max_query_chars": 1}}), UNRECORDED
    ),
    "audit_unavailable @ generate": StopCase(
        "generate", ask(agent(answer={}, recorder=Failing()), context=AUDITED), UNRECORDED
    ),
    "guard_error:<guard> @ plan": StopCase(
        "plan", ask(agent(policy=WRONG_POLICY)), {"details": {"type": "TypeError"}}, "guard_error:plan"
    ),
    "guard_error:<guard> @ retrieve": StopCase(
        "retrieve", ask(agent(budget=WRONG_BUDGET)), {"details": {"type": "TypeError"}}, "guard_error:execution_guard"
    ),
    "guard_error:<guard> @ generate": StopCase(
        "generate", written_by_hand, {"details": ...}, "guard_error:answer_guard"
    ),
    **{
        f"{reason} @ {phase}": failing(item, phase, **details)
        for phase in ("plan", "condense", "generate")
        for reason, (item, details) in FAILURES.items()
    },
    "llm_invalid_json @ condense": failing("What about P1?", "condense", text="What about P1?"),
    "llm_invalid_schema @ condense": failing({"query": "P1"}, "condense", fields=["question"]),
    "llm_empty @ condense": failing({"question": " "}, "condense", field="question"),
    "invalid_question:too_long": StopCase(
        "condense",
        ask(agent(condenser=scripted_tool({"question": "What " * 401})), FOLLOWING),
        {"details": {"chars": 2004}},
    ),
    "invalid_question:active_markup": condensed(
        "Is P1 ![](https://a.io/x.png)?", unsupported=["![](https://a.io/x.png)"]
    ),
    "invalid_question:unsupported_link": condensed("What does evil.io say of P1?", unsupported=["evil.io"]),
    "invalid_question:unsupported_number": condensed("Is P1 answered in 15 minutes?", unsupported=["15 minutes"]),
    "invalid_question:unsupported_name": condensed("What is the target of Initech?", unsupported=["Initech"]),
    "llm_invalid_json @ generate": failing("The answer is 15 minutes.", "generate", text="The answer is 15 minutes."),
    "llm_invalid_schema @ generate": failing({"answer": "15 minutes"}, "generate", fields=["citations"]),
    "llm_empty @ generate": failing({"answer": " \n", "citations": [SLA]}, "generate", field="answer"),
    "invalid_intent:not_object": planned([INTENT]),
    "invalid_intent:kind": planned({**INTENT, "kind": "delete"}),
    "invalid_intent:query": planned({**INTENT, "query": " "}),
    "invalid_intent:top_k": planned({**INTENT, "top_k": 7}),
    "invalid_intent:sources": planned({**INTENT, "sources": []}),
    "invalid_intent:source_item": planned({**INTENT, "sources": ["support_policy", 5]}),
    "invalid_intent:source_not_allowed:<name>": planned(
        {**INTENT, "sources": ["operations_notes"]},
        reason="invalid_intent:source_not_allowed:operations_notes",
        there_are="billing_policy, security_policy, support_policy",
    ),
    "invalid_intent:query_too_long": StopCase(
        "retrieve", ask(agent({**INTENT, "query": "q" * 241})), {"intent": {**INTENT, "query": "q" * 241}}
    ),
    "source_denied:<name> @ retrieve": StopCase(
        "retrieve",
        ask(agent(NAMED), context={"policy": {"allowed_sources_execution": ["billing_policy"]}}),
        {"intent": NAMED},
        "source_denied:support_policy",
    ),
    "source_denied:<name> @ generate": StopCase("generate", switched_off, {}, "source_denied:support_policy"),
    "source_denied_listed:<name> @ retrieve": StopCase(
        "retrieve",
        ask(agent(NAMED), context={"policy": {"denied_sources": ["support_policy"]}}),
        {"intent": NAMED},
        "source_denied_listed:support_policy",
    ),
    "source_denied_listed:<name> @ generate": StopCase(
        "generate", partial(switched_off, denied_sources=["support_policy"]), {}, "source_denied_listed:support_policy"
    ),
    "access_revoked @ retrieve": StopCase("retrieve", resumed_by_another("context_guard"), {"details": ...}),
    "access_revoked @ generate": StopCase("generate", resumed_by_another("generate"), {"details": ...}),
    **{
        f"{reason} @ {phase}": StopCase(phase, ask(agent(live=switching(reading, error)), given), evidence)
        for phase, reading, given in (
            ("plan", 1, QUESTION),
            ("condense", 3, FOLLOWING),
            ("retrieve", 4, QUESTION),
            ("generate", 8, QUESTION),
        )
        for reason, error, evidence in (
            ("switched_off", None, OFF),
            ("policy_unreadable", OSError("disk"), {"details": {"type": "OSError"}}),
        )
    },
    **{
        f"llm_circuit_open @ {phase}": StopCase(phase, partial(shut_out, given, **parts), {"details": {"failures": 1}})
        for phase, given, parts in (
            ("plan", QUESTION, {}),
            ("condense", FOLLOWING, {}),
            ("generate", QUESTION, {"planner": lambda view: INTENT}),
        )
    },
    "tool_circuit_open:retrieve": StopCase(
        "retrieve", partial(shut_out, QUESTION, model=None, retriever=broken), {"details": {"failures": 1}}
    ),
    "tool_circuit_open:rerank": StopCase(
        "retrieve", partial(shut_out, QUESTION, model=None, reranker=broken), {"details": {"failures": 1}}
    ),
    "tool_unavailable:retrieve": StopCase(
        "retrieve", ask(create_rag_agent(retriever=lambda request: [], policy=POLICY, world=FULL)), {"details": NO_ROOM}
    ),
    "tool_invalid_output:retrieve": StopCase(
        "retrieve", ask(agent_with({**CANDIDATE, "score": 2})), {"details": {"given": "2"}}
    ),
    "tool_unavailable:rerank": StopCase("retrieve", crowded_out, {"details": NO_ROOM}),
    "tool_invalid_output:rerank": StopCase(
        "retrieve", ask(agent(reranker=lambda request: [{"doc_id": "z", "text": "z"}])), {"details": {"given": "z"}}
    ),
    "invalid_answer:citations_out_of_context": answered(
        {**ANSWER, "citations": ["z", SLA, "a "]},
        invalid_citations=["a", "z"],
        context_doc_ids=[SLA, "doc_sla_standard_v2"],
    ),
    "invalid_answer:empty": answered({**ANSWER, "answer": "N/A"}, details={"text": "N/A"}),
    "invalid_answer:missing_citations": answered({**ANSWER, "citations": [" "]}),
    "invalid_answer:uncited_sentence": StopCase(
        "generate", ask(marked(f"It is quick. P1 within 15 minutes [{SLA}]."), context=MARKED), UNCITED
    ),
    "invalid_answer:quote_not_in_source": StopCase(
        "generate", ask(marked(f"“It is quick” [{SLA}]."), context=MARKED), QUOTED
    ),
    "invalid_answer:active_markup": answered(
        {**ANSWER, "answer": "Within 15 minutes. ![](https://a.io/x.png)"}, unsupported=["![](https://a.io/x.png)"]
    ),
    "invalid_answer:unsupported_link": answered(
        {**ANSWER, "answer": "Within 15 minutes, see attacker.io."}, unsupported=["attacker.io"]
    ),
    "invalid_answer:unsupported_number": answered(
        {**ANSWER, "answer": "It costs 77 EUR."}, unsupported=["77 EUR"], findings=...
    ),
    "invalid_answer:unsupported_name": answered(
        {**ANSWER, "answer": "The plan is sold by Initech."}, unsupported=["Initech"], findings=...
    ),
    "invalid_answer:contradicts_source": answered(
        {**ANSWER, "answer": "The enterprise plan includes a 99.5% monthly uptime SLA."},
        unsupported=["99.5%"],
        findings=...,
    ),
    "invalid_answer:doubtful": StopCase(
        "generate",
        ask(
            agent(answer={**ANSWER, "answer": "The enterprise plan does not include the 99.95% monthly uptime SLA."}),
            context={"policy": {"on_doubt": "stop"}},
        ),
        {"unsupported": ..., "findings": ...},
    ),
    "invalid_answer:unsupported_claim": StopCase(
        "generate",
        ask(agent(verifier=scripted_verifier(["15 minutes"], loop=True))),
        {"unsupported": [ANSWER["answer"]]},
    ),
}
"""A run for every entry of the catalogue, for every phase where it has more than one."""


def limited(phase, world=None, **budget):
    """Make a run whose models say what they used up."""
    model = ScriptedChatModel(told(INTENT), told(ANSWER))
    graph = create_rag_agent(model, budget=RagBudget(**budget), world=world)
    return run(graph, FOLLOWING if phase == "condense" else QUESTION)


ASKING = {"condense": (0, 0), "plan": (0, 0), "generate": (1, 2)}
STOPS |= {f"{entry} @ {case.phase}": case for entry, case in limit_cases(limited, ASKING, {"retrieve": (0, 1)})}


def entry_of(case):
    """Return the catalogue's entry of a case in the table."""
    return case.partition(" @ ")[0]


def test_every_reason_has_a_run():
    """The table has a run for every entry of the catalogue and for every phase of it; a new one without fails."""
    assert reasons_without_a_run(RAG_REASONS, map(entry_of, STOPS)) == []
    phases = {(item.reason, phase) for item in RAG_REASONS if not item.defensive for phase in item.phases}
    assert phases == {(entry_of(case), stop.phase) for case, stop in STOPS.items()}


@pytest.mark.parametrize("case", STOPS)
def test_stops(case):
    """The run stops with the entry's reason in its phase, with its evidence and nothing else."""
    result = check_stop(RAG_REASONS, entry_of(case), STOPS[case])
    steps = ["retrieve"] if "context_guard" in result["path"][:-2] or case.endswith("s @ generate") else []
    assert [entry["phase"] for entry in result["trace"]] == steps


# Retrievers that break their contract


def fails(request):
    """Raise like a tool whose service is away."""
    raise ConnectionError("the index is away")


FAULTS = {
    "raises": fails,
    "asserts": scripted_tool(AssertionError("no index")),
    "no list": scripted_tool({"candidates": []}, loop=True),
    "none": scripted_tool(None, loop=True),
    "texts": scripted_tool(["P1 within 15 minutes."], loop=True),
    "objects": lambda request: [object()],
    "nan": scripted_tool([{**CANDIDATE, "score": float("nan")}], loop=True),
    "inf": scripted_tool([{**CANDIDATE, "score": float("inf")}], loop=True),
    "huge": scripted_tool([{**CANDIDATE, "score": 10**5000}], loop=True),
    "negative": scripted_tool([{**CANDIDATE, "score": -0.1}], loop=True),
    "distance": scripted_tool([{**CANDIDATE, "score": 1.2}], loop=True),
    "another source": scripted_tool([CANDIDATE, {**CANDIDATE, "source": "operations_notes"}], loop=True),
    "no source": scripted_tool([{key: value for key, value in CANDIDATE.items() if key != "source"}], loop=True),
    "endless": lambda request: [nested(2000)],
}


def nested(depth):
    """Return a list of lists of lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.paired
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_retriever_at_fault(fault, mode):
    """A retriever that raises or breaks its contract stops the run; details say how; the model is not asked again."""
    model = ScriptedChatModel(INTENT)
    graph = create_rag_agent(model, retriever=FAULTS[fault], policy=POLICY, checkpointer=InMemorySaver())
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode, config={"configurable": {"thread_id": "1"}}))
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")
    assert content(result).keys() == {"details"}
    assert len(str(result["details"])) < 400
    assert result["trace"] == []
    assert len(model.calls) == 1


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_retriever_slower_than_the_time_left(mode):
    """A retriever that outlasts the run's time is left behind, and the run stops with max_seconds."""
    graph = agent(retriever=hang, policy=POLICY, budget=RagBudget(max_seconds=0.1), world=standing())
    started = time.perf_counter()
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode))
    assert time.perf_counter() - started < PROMPTLY
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "retrieve")
    assert result["details"]["limit"] == "max_seconds"

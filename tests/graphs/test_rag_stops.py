"""Every reason why a RAG run can stop, each produced by a whole run."""

from functools import partial

import pytest
from hanging import hang, released, standing
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import ANSWER, CANDIDATE, INTENT, NAMED, POLICY, QUESTION, SLA, agent, agent_with
from runs import ASKED_ONCE, THREAD, StopCase, check_result, check_stop, reasons_without_a_run, run, write_state
from stop_cases import MODEL_FAILURES, common_cases, limit_cases, shut_out, told

from guardgraph import LiveWorld, RagBudget, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, scripted_tool, scripted_verifier

nobody_hangs_on = pytest.fixture(autouse=True)(released)
FOLLOWING = {
    "question": "And for P1 incidents?",
    "history": [{"role": "user", "content": "Which SLA?"}, {"role": "assistant", "content": "99.95%, see evil.io."}],
}


def ask(graph, given=QUESTION, **kwargs):
    """Return a run still to be made."""
    return lambda: run(graph, given, **kwargs)


def planned(raw, *, reason=None, **details):
    return StopCase("plan", ask(agent(raw)), {"raw_intent": raw, **({"details": details} if details else {})}, reason)


def denied(reason, **policy):
    run = ask(agent(NAMED), context={"policy": policy})
    return StopCase("retrieve", run, {"intent": NAMED}, f"{reason}:support_policy")


def answered(answer, **evidence):
    return StopCase("generate", ask(agent(answer=answer)), evidence)


def saying(text, unsupported, **evidence):
    return answered({**ANSWER, "answer": text}, unsupported=[unsupported], **evidence)


def marked(answer, **evidence):
    context = {"policy": {"require_sentence_citations": True}}
    return StopCase("generate", ask(agent(answer={"answer": answer, "citations": []}), context=context), evidence)


def failing(item, **details):
    graph = create_rag_agent(ScriptedChatModel(INTENT, item))
    return StopCase("generate", ask(graph, context=ASKED_ONCE), {"details": details or ...})


def condensed(question, **evidence):
    graph = agent(condenser=scripted_tool({"question": question}, loop=True))
    return StopCase("condense", ask(graph, FOLLOWING), {"details": {"question": question}, **evidence})


def found(make, **details):
    return StopCase("retrieve", make, {"details": details})


def late():
    """Make a run whose planner takes all the time that there is."""
    clock = ScriptedClock()
    model = ScriptedChatModel(Reply(INTENT, delay=20), clock=clock)
    return create_rag_agent(model, budget=RagBudget(max_seconds=20), world=LiveWorld(clock=clock)).invoke(QUESTION)


def written_by_hand():
    graph = agent(checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD, interrupt_before=["answer_guard"])
    write_state(graph, THREAD, {"proposed_answer": "by hand"}, as_node="generate")
    return graph.invoke(None, THREAD)


def switched_off():
    graph = agent(checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD, interrupt_before=["generate"])
    return graph.invoke(None, THREAD, context={"policy": {"allowed_sources_execution": ["billing_policy"]}})


def broken(request):
    raise ConnectionError("lost")


def ran(context=None, **parts):
    return create_rag_agent(**parts).invoke(QUESTION, context=context)


def resumed_by_another(before):
    graph = agent_with({**CANDIDATE, "readers": ["user:ada"]}, checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD, context={"caller": {"user": "ada"}}, interrupt_before=[before])
    return lambda: graph.invoke(None, THREAD)


def crowded_out():
    kept = InMemorySaver()
    first, second = (agent(checkpointer=kept, reranker=scripted_tool([]), world=world) for world in (LiveWorld(), FULL))
    first.invoke(QUESTION, THREAD, interrupt_before=["rerank"])
    return second.invoke(None, THREAD)


DOUBTING, FOUND = {"policy": {"on_doubt": "stop"}}, {"unsupported": ..., "findings": ...}
LONG = {**INTENT, "query": "q" * 241}
TURNED = {**ANSWER, "answer": "The enterprise plan does not include the 99.95% monthly uptime SLA."}
FULL = LiveWorld(max_abandoned=0)
NO_ROOM = {"cause": "max_abandoned", "limit": 0}
STOPS = {
    **common_cases(ran, "plan", "generate"),
    "invalid_request:<field>": StopCase("plan", ask(agent(), {}), {"details": ...}, "invalid_request:question"),
    "max_seconds": StopCase("retrieve", late, {"details": {"max_seconds": 20.0, "spent_seconds": 20.0}}),
    "guard_error:<guard>": StopCase("generate", written_by_hand, {"details": ...}, "guard_error:answer_guard"),
    **{reason: failing(item) for reason, item in MODEL_FAILURES.items() if reason != "llm_invalid_json"},
    "invalid_question:too_long": condensed("What " * 401, details={"chars": 2004}),
    "invalid_question:active_markup": condensed("Is P1 ![](https://a.io/x)?", unsupported=["![](https://a.io/x)"]),
    "invalid_question:unsupported_link": condensed("What does evil.io say of P1?", unsupported=["evil.io"]),
    "invalid_question:unsupported_number": condensed("Is P1 answered in 15 minutes?", unsupported=["15 minutes"]),
    "invalid_question:unsupported_name": condensed("What is the target of Initech?", unsupported=["Initech"]),
    "llm_invalid_json": failing("The answer is 15 minutes.", text="The answer is 15 minutes."),
    "llm_invalid_schema": failing({"answer": "15 minutes"}, fields=["citations"]),
    "llm_empty": failing({"answer": " \n", "citations": [SLA]}, field="answer"),
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
    "invalid_intent:query_too_long": StopCase("retrieve", ask(agent(LONG)), {"intent": LONG}),
    "source_denied:<name> @ retrieve": denied("source_denied", allowed_sources_execution=["billing_policy"]),
    "source_denied:<name> @ generate": StopCase("generate", switched_off, {}, "source_denied:support_policy"),
    "source_denied_listed:<name>": denied("source_denied_listed", denied_sources=["support_policy"]),
    "access_revoked": StopCase("generate", resumed_by_another("generate"), {"details": ...}),
    "tool_circuit_open:retrieve": found(partial(shut_out, ran, retriever=broken, policy=POLICY), failures=1),
    "tool_circuit_open:rerank": found(partial(shut_out, ran, reranker=broken), failures=1),
    "tool_unavailable:retrieve": found(ask(create_rag_agent(retriever=broken, policy=POLICY, world=FULL)), **NO_ROOM),
    "tool_invalid_output:retrieve": found(ask(agent_with({**CANDIDATE, "score": 2})), given="2"),
    "tool_unavailable:rerank": found(crowded_out, **NO_ROOM),
    "tool_invalid_output:rerank": found(ask(agent(reranker=lambda request: [{**CANDIDATE, "doc_id": "z"}])), given="z"),
    "invalid_answer:citations_out_of_context": answered(
        {**ANSWER, "citations": ["z", SLA, "a "]},
        invalid_citations=["a", "z"],
        context_doc_ids=[SLA, "doc_sla_standard_v2"],
    ),
    "invalid_answer:empty": answered({**ANSWER, "answer": "N/A"}, details={"text": "N/A"}),
    "invalid_answer:missing_citations": answered({**ANSWER, "citations": [" "]}),
    "invalid_answer:uncited_sentence": marked(f"It is quick. P1 within 15 minutes [{SLA}].", sentence="It is quick."),
    "invalid_answer:quote_not_in_source": marked(f"“So quick” [{SLA}].", unsupported=["So quick"], sentence=...),
    "invalid_answer:active_markup": saying("See ![](https://a.io/x.png)", "![](https://a.io/x.png)"),
    "invalid_answer:unsupported_link": saying("Within 15 minutes, see attacker.io.", "attacker.io"),
    "invalid_answer:unsupported_number": saying("It costs 77 EUR.", "77 EUR", findings=...),
    "invalid_answer:unsupported_name": saying("The plan is sold by Initech.", "Initech", findings=...),
    "invalid_answer:contradicts_source": saying("The enterprise plan has 99.5% monthly uptime.", "99.5%", findings=...),
    "invalid_answer:doubtful": StopCase("generate", ask(agent(answer=TURNED), context=DOUBTING), FOUND),
    "invalid_answer:unsupported_claim": StopCase(
        "generate",
        ask(agent(verifier=scripted_verifier(["15 minutes"], loop=True))),
        {"unsupported": [ANSWER["answer"]]},
    ),
}
"""A run for every entry of the catalogue."""


def limited(phase, world=None, **budget):
    graph = create_rag_agent(ScriptedChatModel(told(INTENT), told(ANSWER)), budget=RagBudget(**budget), world=world)
    return run(graph, FOLLOWING if phase == "condense" else QUESTION)


STOPS |= dict(limit_cases(limited, {"generate": (1, 2)}, {"retrieve": (0, 1)}))


def entry_of(case):
    return case.partition(" @ ")[0]


def test_every_reason_has_a_run():
    """The table has a run for every entry of the catalogue; a new one without fails."""
    assert reasons_without_a_run(RAG_REASONS, map(entry_of, STOPS)) == []


@pytest.mark.parametrize("case", STOPS)
def test_stops(case):
    """The run stops with the entry's reason in its phase, with its evidence and nothing else."""
    result = check_stop(RAG_REASONS, entry_of(case), STOPS[case])
    done = ["retrieve"] if "context_guard" in result["path"][:-2] else []
    done += ["generate"] if "answered" in result["path"] else []
    assert [entry["phase"] for entry in result["trace"]] == done


@pytest.mark.paired
@pytest.mark.parametrize("retriever", [broken, lambda _: ["P1."], lambda _: [CANDIDATE, {**CANDIDATE, "source": "x"}]])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_retriever_at_fault(retriever, mode):
    """A retriever that raises or breaks its contract stops the run; details say how; the model is not asked again."""
    model = ScriptedChatModel(INTENT)
    graph = create_rag_agent(model, retriever=retriever, policy=POLICY)
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode))
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:retrieve", "retrieve")
    assert (result["trace"], len(model.calls)) == ([], 1)
    assert len(str(result["details"])) < 400


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_late_retriever_stops_the_run(mode):
    """One that never answers has the time that the run has."""
    given = {"policy": POLICY, "budget": RagBudget(max_seconds=0.15), "world": standing()}
    graph = create_rag_agent(ScriptedChatModel(INTENT), retriever=hang, **given)
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode))
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "retrieve")

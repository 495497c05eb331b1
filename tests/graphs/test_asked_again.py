"""A refused proposal goes back to its proposer: how often, with what, for what not, and how the record tells it."""

import json
from functools import partial

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import CANDIDATE, RIGHT, SEARCH, SLA, TARGET, WRONG
from runs import THREAD, check_result, halt_before, run
from self_critique_cases import DRAFT, GIVEN, NOTE, REVISE, REVISED
from tables import each_row

from guardgraph import RagPolicy, create_rag_agent, create_self_critique_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder, Reply, ScriptedChatModel, scripted_tool
from guardgraph.world.prompts import LONGEST_TURN

OTHER = "invalid_answer:contradicts_source"


def ask(model, **parts):
    return check_result(RAG_REASONS, create_rag_agent(model, **parts).invoke(TARGET))


def told(attempts):
    return [(item["reason"], item["evidence"]["unsupported"]) for item in attempts]


def texts(call):
    return [message.content for message in call.messages]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_refused_answer_is_asked_for_again_with_what_was_wrong(mode):
    """The second ask is the first, the proposal as the model's turn, and what was refused; the answer is as any."""
    model, recorder = ScriptedChatModel(SEARCH, WRONG, RIGHT), InMemoryRecorder()
    result = run(create_rag_agent(model, recorder=recorder), TARGET, mode)
    check_result(RAG_REASONS, result)
    assert (result["outcome"], result["answer"]) == ("grounded_answer", RIGHT["answer"])
    assert told(result["attempts"]) == [(OTHER, ["20 minutes"])]
    _, first, second = map(texts, model.calls)
    assert [message.type for message in model.calls[2].messages] == ["system", "human", "ai", "human"]
    assert (second[:2], json.loads(second[2])) == (first, WRONG)
    assert 'It is not "20 minutes": the source says "15 minutes".' in second[3]
    assert 'Nearest to the question, a source says: "For P1 incidents, first response target is 15 minutes' in second[3]
    sent_back = [line for line in result["timeline"] if line.get("verdict") == "again"]
    assert [(line["node"], line["to"], line["reason"]) for line in sent_back] == [("answer_guard", "generate", OTHER)]
    [again] = [call for call in recorder.runs[0]["calls"] if call["node"] == "generate" and call["visit"] == 2]
    assert "+asked_again@" in again["prompt"]


def test_what_a_list_denies_is_never_asked_again():
    """A model that is told which source is denied would try the next one."""
    policy = RagPolicy(allowed_sources_policy=("support_policy",), allowed_sources_execution=("billing_policy",))
    for reason in ("invalid_intent:source_not_allowed:billing_policy", "source_denied:support_policy"):
        model = ScriptedChatModel({**SEARCH, "sources": [reason.rpartition(":")[2]]}, loop=True)
        result = ask(model, policy=policy)
        assert (result["stop_reason"], len(model.calls), "attempts" in result) == (reason, 1, False)


def wrong(view):
    return RIGHT if "refused" in view else WRONG


willing = partial(wrong)
willing.asked_again = True


@each_row(
    ("answerer", "ends"),
    (wrong, "stopped"),
    (RunnableLambda(wrong), "stopped"),
    (RunnableLambda(wrong).with_config(metadata={"asked_again": "yes"}), "stopped"),
    (willing, "ok"),
    (RunnableLambda(wrong).with_config(metadata={"asked_again": True}), "ok"),
)
def test_a_function_or_runnable_is_asked_again_where_it_says_so(answerer, ends):
    assert ask(None, planner=lambda view: SEARCH, answerer=answerer)["status"] == ends


@each_row(
    ("second", "why"),
    (Reply("", refusal="No."), "llm_refused"),
    ("no JSON", "llm_invalid_json"),
    (RuntimeError("a defect"), "llm_bad_response"),
    (AssertionError("a defect"), "guard_error:generate"),
)
def test_where_no_other_proposal_comes_the_stop_is_the_refusal(second, why):
    """`details.again` says why there is none; the evidence is that of what was refused."""
    result = ask(ScriptedChatModel(SEARCH, WRONG, second))
    assert (result["stop_reason"], result["unsupported"]) == (OTHER, ["20 minutes"])
    assert (result["details"]["again"]["reason"], result["path"][-1]) == (why, "stop_invalid_answer")


@pytest.mark.paired
@pytest.mark.parametrize("budget", [{}, {"max_seconds": 0.0}, {"max_visits": 1}, {"max_attempts": 1}])
@pytest.mark.parametrize("second", ["generate", "answer_guard"])
def test_what_access_denies_to_a_repeated_ask_is_the_stop(second, budget):
    """Whoever goes on with another's run is told nothing of what was refused, whatever the budget, or a failed ask."""
    secret = "zanzibar-9173"
    found = [{**CANDIDATE, "text": f"P1 is {secret} within 15 minutes.", "tenant": "acme", "readers": ["user:ada"]}]
    model = ScriptedChatModel(SEARCH, {"answer": f"{secret} within 20 minutes.", "citations": ["a"]}, AssertionError())
    parts = {"retriever": scripted_tool(found, loop=True), "sources": ["support_policy"]}
    graph = create_rag_agent(model, checkpointer=InMemorySaver(), **parts)
    ada, eve = ({"caller": {"tenant": "acme", "user": name}} for name in ("ada", "eve"))
    assert halt_before(graph, TARGET, THREAD, "generate", context=ada)
    assert halt_before(graph, None, THREAD, "generate", context=ada)
    assert second == "generate" or halt_before(graph, None, THREAD, second, context=ada)
    result = check_result(RAG_REASONS, graph.invoke(None, THREAD, context={**eve, "budget": budget}))
    assert (result["stop_reason"], result["path"].count("generate")) == ("access_revoked", 2)
    assert ("attempts" in result, secret in json.dumps(result)) == (False, False)


def test_a_model_is_told_no_raw_proposal_and_no_long_evidence():
    """What was refused stands in its own turn, cut; the sentence behind it has none of it, and its texts are cut."""
    model = ScriptedChatModel({**SEARCH, "kind": "x" * 9999}, {"answer": "x"}, loop=True)
    ask(model)
    *_, turn, told = texts(model.calls[1])
    assert len(turn) <= LONGEST_TURN + 3
    assert "x" * 9 not in told
    wordy = ScriptedChatModel(SEARCH, {"answer": "7" * 9999, "citations": [SLA]}, loop=True)
    ask(wordy)
    assert len(texts(wordy.calls[2])[-1]) < 900


def test_a_reviser_is_asked_three_times_and_once_more():
    """Changes that were not made are asked for three times in all; another refusal costs one ask beside them."""
    missing, long = {"revised_answer": f"{DRAFT} Thanks."}, {"revised_answer": "x " * 400}
    for script, used, outcome in [
        ([missing, long, missing, missing], 5, "revised_once"),
        ([missing, long, {"revised_answer": REVISED}], 3, "revised_once"),
        ([missing, missing, long, long], None, "patch_violation:too_large_edit"),
        ([long, long], None, "patch_violation:too_large_edit"),
    ]:
        model = ScriptedChatModel({"draft": DRAFT}, REVISE, *script)
        result = create_self_critique_agent(model).invoke(GIVEN)
        revised = [step["attempts_used"] for step in result["trace"] if step["phase"] == "revise"]
        assert result.get("outcome", result["stop_reason"]) == outcome
        assert len(model.calls) == 2 + len(script)
        assert revised == ([] if used is None else [used])
        assert used is None or NOTE in result["answer"]


def test_a_critic_is_asked_again_for_form_alone():
    """One that is told of a link could drop the change that has it, and approve."""
    linked = {**REVISE, "required_changes": ['ADD "See https://fix.evil.net/now"']}
    model = ScriptedChatModel({"draft": DRAFT}, linked, {"draft": DRAFT}, loop=True)
    result = create_self_critique_agent(model).invoke(GIVEN)
    assert (result["stop_reason"], len(model.calls)) == ("invalid_critique:unsupported_link", 2)

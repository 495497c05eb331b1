"""A verifier behind every other check: what it is shown, that it can only refuse, and what its failures are."""

import json

import pytest
from hanging import standing
from langchain_core.cross_encoders import BaseCrossEncoder
from langgraph.checkpoint.memory import InMemorySaver
from office_agents import READ, THREAD, calls, office_agent
from rag_agents import CANDIDATE, QUESTION, SLA, agent, agent_with
from research_cases import NOTES, research
from runs import BOTH, check_result, halt_before, run

from guardgraph import ConfigurationError, LangChainVerifier, LiveWorld, RagBudget, ResearchPolicy, replay, verify
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder, Reply, ScriptedChatModel, ScriptedClock, scripted_verifier

UPTIME, TARGET = "The uptime is 99.95% monthly.", "P1 is answered within 15 minutes, 24/7."
ANSWER = {"answer": f"{UPTIME} {TARGET}", "citations": [SLA]}
UNSUPPORTED = "invalid_answer:unsupported_claim"
ALL_TRUE = {"claims": [{"number": number, "supported": True} for number in (1, 2)]}
OFFICE_TASK = {"task": "Read bill b7 and send 30 euros to Ada Byron."}


@pytest.mark.parametrize("mode", BOTH)
def test_a_claim_that_is_not_supported_stops_the_run(mode):
    """The stop names the sentences, and nobody is asked again: a writer must not try until a verifier gives in."""
    graph = agent(answer=ANSWER, verifier=scripted_verifier(["15 minutes"]))
    assert verify(graph) == []
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode))
    assert (result["stop_reason"], result["phase"], result["unsupported"]) == (UNSUPPORTED, "generate", [TARGET])
    assert result["path"][-4:] == ["answer_guard", "verify_answer", "support_guard", "stop_invalid_answer"]
    assert "attempts" not in result
    assert [step["phase"] for step in result["trace"]] == ["retrieve"]


def test_a_model_is_told_the_prompt_and_sees_shared_evidence_once():
    """Its reply is held to the schema; the record names the prompt, and a replay decides as the run did."""
    replies = {"claims": [{"number": 2, "supported": False}, {"number": 1, "supported": True}]}
    model, recorder = ScriptedChatModel(replies), InMemoryRecorder()
    result = agent(answer=ANSWER, verifier=model, recorder=recorder).invoke(QUESTION)
    assert (result["stop_reason"], result["unsupported"]) == (UNSUPPORTED, [TARGET])
    [call] = model.calls
    assert "supported by their evidence" in call.messages[0].content
    assert call.kwargs["response_format"]["json_schema"]["schema"]["required"] == ["claims"]
    evidence, claims = call.messages[-1].content.split("Claims:")
    assert (evidence.count("e1: "), claims.count('"evidence": "e1"')) == (1, 2)
    [recorded] = [item for item in recorder.runs[0]["calls"] if item["node"] == "verify_answer"]
    assert recorded["prompt"].startswith("verify_claims@")
    assert replay(agent(answer=ANSWER, verifier=ScriptedChatModel()), recorder.runs[0]) == result


def test_a_model_is_asked_again_for_its_form_and_not_for_its_judgement():
    """A verifier that says of a claim what is neither true nor false is told so once."""
    model = ScriptedChatModel({"claims": []}, ALL_TRUE)
    result = agent(answer=ANSWER, verifier=model).invoke(QUESTION)
    assert (result["status"], len(model.calls)) == ("ok", 2)
    assert [item["reason"] for item in result["attempts"]] == ["llm_invalid_schema"]
    first, second = (call.messages for call in model.calls)
    assert (second[:2], "is missing or of the wrong type" in second[-1].content) == (first, True)


class Scores(BaseCrossEncoder):
    def __init__(self, said):
        self.said, self.pairs = said, []

    def score(self, text_pairs):
        self.pairs.append(text_pairs)
        return self.said


def test_a_cross_encoder_scores_all_pairs_in_one_call():
    """What scores lower than the bound is not supported; the bound is 0.5, or what a LangChainVerifier is told."""
    encoder = Scores([0.5, 0.9])
    assert agent(answer=ANSWER, verifier=encoder).invoke(QUESTION)["status"] == "ok"
    assert [[claim for _, claim in pairs] for pairs in encoder.pairs] == [[UPTIME, TARGET]]
    result = agent(answer=ANSWER, verifier=LangChainVerifier(encoder, min_score=0.6)).invoke(QUESTION)
    assert (result["stop_reason"], result["unsupported"]) == (UNSUPPORTED, [UPTIME])


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, float("nan")], [1.0, "high"], None, 1.0])
def test_scores_that_are_none_are_a_failure(scores):
    """As many numbers as claims are required; anything else is `llm_bad_response`, and no answer."""
    result = agent(answer=ANSWER, verifier=Scores(scores)).invoke(QUESTION)
    assert (result["stop_reason"], result["path"][-2]) == ("llm_bad_response", "support_guard")


def test_it_has_the_time_that_the_run_has_left():
    clock, verifier = ScriptedClock(), scripted_verifier()
    graph = agent(answerer=lambda view: clock.advance(30) or ANSWER, verifier=verifier, world=LiveWorld(clock=clock))
    result = graph.invoke(QUESTION)
    assert (result["stop_reason"], result["phase"], verifier.calls) == ("max_seconds", "generate", [])
    slow = ScriptedChatModel(Reply(ALL_TRUE, delay=5.0))
    result = agent(answer=ANSWER, verifier=slow, budget=RagBudget(max_seconds=0.2), world=standing()).invoke(QUESTION)
    assert (result["stop_reason"], result["path"][-2]) == ("llm_timeout", "support_guard")
    assert result["details"]["limit"] == "max_seconds"


def test_a_note_that_is_not_supported_is_dropped_where_the_policy_says_so():
    """It is listed with its reason, and the writer is shown the rest; none left is the stop."""
    drop, views = ResearchPolicy(on_unsupported="mark"), []
    writer = lambda view: views.append(view) or {"answer": "It is known.", "citations": ["n2"]}  # noqa: E731
    result = research(verifier=scripted_verifier([NOTES[0]["claim"]], []), policy=drop, writer=writer)
    assert result["outcome"] == "grounded_research_answer"
    reason = "verification_failed:unsupported_claim"
    assert [(note["id"], note["reason"]) for note in result["dropped_notes"]] == [("n1", reason)]
    assert [note["id"] for note in views[0]["notes"]] == ["n2"]
    none_left = research(verifier=scripted_verifier([note["claim"] for note in NOTES]), policy=drop)
    assert none_left["stop_reason"] == reason


def test_who_may_not_read_the_sources_has_nothing_verified():
    hers = {**CANDIDATE, "tenant": "acme", "readers": ["tenant"]}
    answer, verifier = {"answer": "P1 within 15 minutes.", "citations": ["a"]}, scripted_verifier()
    graph = agent_with(hers, answer=answer, verifier=verifier, checkpointer=InMemorySaver())
    ada, eve = ({"caller": {"tenant": tenant, "user": "x", "groups": []}} for tenant in ("acme", "other"))
    assert halt_before(graph, QUESTION, THREAD, "verify_answer", context=ada)
    result = graph.invoke(None, THREAD, context=eve)
    assert (result["stop_reason"], verifier.calls) == ("access_revoked", [])
    assert "15 minutes" not in json.dumps(result)


@pytest.mark.parametrize("name", ["rag", "research"])
def test_what_is_no_verifier_is_refused_by_name(name):
    for given, message in ((7, "a chat model, .*given: int"), ("nobody", "model: "), (object(), ".*given: object")):
        with pytest.raises(ConfigurationError, match=f"^verifier: {message}"):
            PATTERNS[name].create_agent(verifier=given)
    for score in ("1", None, True, float("nan"), float("inf")):
        with pytest.raises(ConfigurationError, match=r"^min_score: "):
            LangChainVerifier(Scores([]), min_score=score)
    with pytest.raises(ConfigurationError, match=r"^encoder: "):
        LangChainVerifier(lambda pairs: [])


def test_sentences_of_the_tool_agent_rest_on_the_task_and_on_what_was_found():
    """Each is shown with the task and every call with its result; that nothing was done is no claim."""
    verifier = scripted_verifier([], ["98.70"], loop=True)
    steps = [calls(READ), {"answer": "I could not pay it. The bill comes to 98.70 EUR.", "declined": True}]
    agent = office_agent(*steps, verifier=verifier)
    assert (verify(agent), agent.invoke(OFFICE_TASK, THREAD)["outcome"]) == ([], "declined")
    [claim] = verifier.calls[0]["claims"]
    assert claim["claim"] == "The bill comes to 98.70 EUR."
    assert claim["evidence"].startswith(f'{OFFICE_TASK["task"]}\n\nread_bill {{"id": "b7"}}:\n{{"id"')
    result = office_agent(*steps, verifier=verifier).invoke(OFFICE_TASK, THREAD)
    assert (result["stop_reason"], result["unsupported"]) == (UNSUPPORTED, ["The bill comes to 98.70 EUR."])
    assert result["path"][-4:] == ["answer_guard", "verify_answer", "support_guard", "stop_invalid_answer"]
    assert [call["tool"] for call in result["tool_calls"]] == ["read_bill"]

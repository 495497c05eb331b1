"""Guards of an application's own behind the answer guard: what they see, how they refuse, what the record says."""

import json

import pytest
from rag_agents import QUESTION, SLA
from research_cases import GOAL, asked
from research_cases import QUESTION as RESEARCHED
from runs import BOTH, run
from self_critique_cases import GIVEN
from tables import each_row

from guardgraph import (
    ConfigurationError,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    create_tool_agent,
    draw,
    verify,
)
from guardgraph.grammar import AnswerGuard, Stop, StopReason
from guardgraph.testing import ScriptedChatModel

PHASES = ("generate", "synthesize", "finalize", "answer")
TONE = StopReason("tone:rude", "tone", PHASES, "The answer is rude.", "Ask for a polite one.", again=True)
PRIVATE = StopReason("invalid_answer:private", "invalid_answer", PHASES, "The answer is private.", "Look at details.")
FACTORIES = {
    "rag": (create_rag_agent, QUESTION, "answer_guard", ["answered"]),
    "research": (create_research_agent, asked(), "answer_guard", ["answered"]),
    "self_critique": (create_self_critique_agent, GIVEN, "final_guard", ["approved", "revised"]),
    "tools": (create_tool_agent, {"task": "What is the service fee in contract.txt?"}, "answer_guard", ["answered"]),
}
PLAN = {"kind": "retrieve", "query": "P1 first response target"}
RIGHT = {"answer": "The target is 15 minutes.", "citations": [SLA]}
RUDE = {"answer": "As I said: the target is 15 minutes.", "citations": [SLA]}


def check_tone(answer, view):
    if "as i said" in answer["answer"].lower():
        raise Stop("tone:rude", unsupported=["As I said"])


def refuse(answer, view):
    return Stop("invalid_answer:private", details={"chars": len(answer["answer"])})


def allow(answer, view):
    """Refuse none."""


POLITE = AnswerGuard(check_tone, [TONE])


@pytest.mark.parametrize("name", FACTORIES)
def test_a_guard_of_ones_own_stands_behind_the_answer_guard_and_is_proved(name):
    factory, given, before, ends = FACTORIES[name]
    graph = factory(guards=[AnswerGuard(allow, [PRIVATE]), POLITE])
    assert verify(graph) == []
    nodes = graph.builder.nodes
    assert nodes["check_tone"].metadata["kind"] == "guard"
    edges = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {(before, "allow"), ("allow", "check_tone"), *(("check_tone", end) for end in ends)} <= edges
    assert ("check_tone", "stop_tone") in edges
    assert not any((before, end) in edges for end in ends)
    assert "check_tone" in draw(graph).svg
    result = graph.invoke(given)
    assert result["status"] == "ok"
    told, plain = ([step["phase"] for step in run["trace"]] for run in (result, factory().invoke(given)))
    assert told == plain
    assert result["path"][-4:] == [before, "allow", "check_tone", result["path"][-1]]


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("name", FACTORIES)
def test_what_it_refuses_ends_in_its_own_reason(name, mode):
    """The stop has the reason, the phase of the answer, and the evidence."""
    factory, given, _, _ = FACTORIES[name]
    result = run(factory(guards=[AnswerGuard(refuse, [PRIVATE])]), given, mode)
    phase = dict(zip(FACTORIES, PHASES, strict=True))[name]
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:private", phase)
    assert result["path"][-2:] == ["refuse", "stop_invalid_answer"]
    assert result["details"]["chars"] > 0
    assert "answer" not in result
    assert phase.replace("finalize", "audit_finalize") not in [step["phase"] for step in result["trace"]]


@pytest.mark.parametrize(
    ("name", "answered", "shown"),
    [
        ("rag", {"answer", "citations", "citation_details", "passages"}, {"question", "context_chunks"}),
        ("research", {"answer", "citations"}, {"goal", "question", "notes", "max_answer_chars"}),
        ("self_critique", {"answer"}, {"goal", "incident_context"}),
    ],
)
def test_a_check_sees_the_answer_and_what_its_proposer_saw(name, answered, shown):
    factory, given, _, _ = FACTORIES[name]
    seen = []

    def look(answer, view):
        seen.append(json.loads(json.dumps([answer, view])))
        answer["answer"] = "changed"
        answer.clear()
        view.clear()

    def look_again(answer, view):
        seen.append(json.loads(json.dumps([answer, view])))

    result = factory(guards=[AnswerGuard(look, [TONE]), AnswerGuard(look_again, [PRIVATE])]).invoke(given)
    assert seen[0] == seen[1]
    [answer, view] = seen[0]
    assert (answer.keys(), view.keys()) == (answered, shown)
    assert answer["answer"] == result["answer"] != "changed"
    assert {"rag": QUESTION["question"], "research": GOAL, "self_critique": GIVEN["goal"]}[name] in view.values()
    assert name != "research" or view["question"] == RESEARCHED


def test_a_refused_answer_is_asked_for_again_where_the_reason_says_so():
    """The answerer is shown the reason and the evidence, and its second answer passes every guard anew."""
    model = ScriptedChatModel(PLAN, RUDE, RIGHT)
    result = create_rag_agent(model, guards=[POLITE]).invoke(QUESTION)
    assert result["outcome"] == "grounded_answer"
    assert result["attempts"] == [{"reason": "tone:rude", "evidence": {"unsupported": ["As I said"]}}]
    assert '"As I said"' in model.calls[2].messages[-1].content
    assert [node for node in result["path"] if node in ("generate", "answer_guard", "check_tone")] == [
        "generate",
        "answer_guard",
        "check_tone",
    ] * 2


def raises(answer, view):
    raise ValueError("no such word list")


def says_false(answer, view):
    return False


def stops_for_another(answer, view):
    raise Stop("invalid_answer:unsupported_number", unsupported=["1"])


def shows_too_much(answer, view):
    raise Stop("tone:rude", whole_answer=answer)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (raises, "no such word list"),
        (says_false, "a check returns None or a Stop; returned: bool"),
        (stops_for_another, "a check stops for its own reasons alone; given: 'invalid_answer:unsupported_number'"),
        (shows_too_much, "whole_answer"),
    ],
)
def test_a_check_that_fails_or_breaks_its_word_closes_the_run(check, message):
    result = create_rag_agent(guards=[AnswerGuard(check, [TONE])]).invoke(QUESTION)
    assert result["stop_reason"] == f"guard_error:{check.__name__}"
    assert message in result["details"]["message"]
    assert "answer" not in result


WRONG_GUARDS = {
    "no list": (POLITE, r"^guards: a list of AnswerGuard"),
    "a function": ([check_tone], r"^guards\[0\]: an AnswerGuard is required; given: function"),
    "a reason twice": (
        [POLITE, AnswerGuard(allow, [TONE])],
        r"^guards\[1\]\.reasons: 'tone:rude': a reason of its own",
    ),
    "a node of the agent": ([AnswerGuard(allow, [TONE], name="answered")], r"^guards\[0\]\.name: .*'answered'"),
    "another phase": (
        [AnswerGuard(allow, [StopReason("tone:dull", "tone", ("plan",), "A.", "B.")])],
        r"^guards\[0\]\.reasons: 'tone:dull': phases: 'generate' is required, in which .*; given: plan",
    ),
    "a family of the grammar": (
        [AnswerGuard(allow, [StopReason("llm_rude", "llm", ("generate",), "A.", "B.")])],
        r"^guards\[0\]\.reasons: 'llm_rude': family: .*given: 'llm'",
    ),
}


@each_row("name", WRONG_GUARDS)
def test_wrong_guards_are_refused_by_place(name):
    guards, message = WRONG_GUARDS[name]
    with pytest.raises(ConfigurationError, match=message):
        create_rag_agent(guards=guards)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"check": "polite", "reasons": [TONE]}, "check"),
        ({"check": allow, "reasons": TONE}, "reasons"),
        ({"check": allow, "reasons": [TONE], "name": "two words"}, "name"),
    ],
)
def test_what_is_no_guard_is_refused_where_it_is_made(given, field):
    with pytest.raises(ConfigurationError, match=rf"^AnswerGuard\.{field}: "):
        AnswerGuard(**given)

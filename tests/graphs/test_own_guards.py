"""Guards of an application's own behind the answer guard: what they see, how they refuse, what the record says."""

import json

import pytest
from rag_agents import QUESTION, RIGHT, SEARCH
from research_cases import GOAL
from research_cases import QUESTION as RESEARCHED
from runs import BOTH, run
from self_critique_cases import GIVEN
from tables import each_row

from guardgraph import ConfigurationError, create_rag_agent, draw, verify
from guardgraph.grammar import AnswerGuard, Stop, StopReason
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.testing import ScriptedChatModel

ASKED = {"goal": GOAL, "question": RESEARCHED}
PHASES = ("generate", "synthesize", "finalize", "answer")
TONE = StopReason("tone:rude", "tone", PHASES, "The answer is rude.", "Ask for a polite one.", again=True)
PRIVATE = StopReason("invalid_answer:private", "invalid_answer", PHASES, "The answer is private.", "Look at details.")
CRITIC = ("final_guard", ["approved", "revised"])
FACTORIES = {
    name: (item.create_agent, item.demo(), *(CRITIC if name == "self_critique" else ("answer_guard", ["answered"])))
    for name, item in PATTERNS.items()
}
RUDE = {**RIGHT, "answer": "As I said: the target is 15 minutes."}


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
    assert (verify(graph), graph.builder.nodes["check_tone"].metadata["kind"]) == ([], "guard")
    edges = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    ways = [(before, "allow"), ("allow", "check_tone"), *(("check_tone", end) for end in (*ends, "stop_tone"))]
    assert {*ways} <= edges
    assert not any((before, end) in edges for end in ends)
    assert "check_tone" in draw(graph).svg
    result, plain = graph.invoke(given), factory().invoke(given)
    assert [step["phase"] for step in result["trace"]] == [step["phase"] for step in plain["trace"]]
    assert result["path"] == [*plain["path"][:-1], "allow", "check_tone", plain["path"][-1]]


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("name", FACTORIES)
def test_what_it_refuses_ends_in_its_own_reason(name, mode):
    """The stop has the reason, the phase of the answer, and the evidence."""
    factory, given, _, _ = FACTORIES[name]
    result = run(factory(guards=[AnswerGuard(refuse, [PRIVATE])]), given, mode)
    phase = PHASES[[*FACTORIES].index(name)]
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:private", phase)
    assert result["path"][-2:] == ["refuse", "stop_invalid_answer"]
    assert result["details"]["chars"] > 0
    assert "answer" not in result
    assert phase.replace("finalize", "audit_finalize") not in [step["phase"] for step in result["trace"]]


@each_row(
    ("name", "answered", "shown", "asks"),
    ("rag", {"answer", "citations", "citation_details", "passages"}, {"question", "context_chunks"}, QUESTION),
    ("research", {"answer", "citations"}, {"goal", "question", "notes", "max_answer_chars"}, ASKED),
    ("self_critique", {"answer"}, {"goal", "incident_context"}, {"goal": GIVEN["goal"]}),
)
def test_a_check_sees_the_answer_and_what_its_proposer_saw(name, answered, shown, asks):
    factory, given, _, _ = FACTORIES[name]
    seen = []

    def look(answer, view):
        seen.append(json.loads(json.dumps([answer, view])))
        answer["answer"] = "changed"
        view.clear()

    again = AnswerGuard(look, [PRIVATE], name="look_again")
    result = factory(guards=[AnswerGuard(look, [TONE]), again]).invoke(given)
    answer, view = seen[0]
    assert (seen[1], answer.keys(), view.keys()) == (seen[0], answered, shown)
    assert answer["answer"] == result["answer"] != "changed"
    assert asks.items() <= view.items()


def test_a_refused_answer_is_asked_for_again_where_the_reason_says_so():
    """The answerer is shown the reason and the evidence, and its second answer passes every guard anew."""
    model = ScriptedChatModel(SEARCH, RUDE, RIGHT)
    result = create_rag_agent(model, guards=[POLITE]).invoke(QUESTION)
    assert result["outcome"] == "grounded_answer"
    assert result["attempts"] == [{"reason": "tone:rude", "evidence": {"unsupported": ["As I said"]}}]
    assert '"As I said"' in model.calls[2].messages[-1].content
    twice = ["generate", "answer_guard", "check_tone"] * 2
    assert [node for node in result["path"] if node in twice] == twice


@each_row(
    ("given", "message"),
    (ValueError("no such word list"), "no such word list"),
    (False, "a check returns None or a Stop; returned: bool"),
    (Stop("invalid_answer:empty"), "a check stops for its own reasons alone; given: 'invalid_answer:empty'"),
    (Stop("tone:rude", whole_answer="x"), "whole_answer"),
)
def test_a_check_that_fails_or_breaks_its_word_closes_the_run(given, message):
    def check(answer, view):
        if isinstance(given, Exception):
            raise given
        return given

    result = create_rag_agent(guards=[AnswerGuard(check, [TONE])]).invoke(QUESTION)
    assert result["stop_reason"] == "guard_error:check"
    assert message in result["details"]["message"]
    assert "answer" not in result


DULL = AnswerGuard(allow, [StopReason("tone:dull", "tone", ("plan",), "A.", "B.")])
MODEL = AnswerGuard(allow, [StopReason("llm_rude", "llm", ("generate",), "A.", "B.")])


@each_row(
    ("guards", "message"),
    (POLITE, r": a list of AnswerGuard"),
    ([check_tone], r"\[0\]: an AnswerGuard is required; given: function"),
    ([POLITE, AnswerGuard(allow, [TONE])], r"\[1\]\.reasons: 'tone:rude': a reason of its own"),
    ([AnswerGuard(allow, [TONE], name="answered")], r"\[0\]\.name: .*'answered'"),
    ([DULL], r"\[0\]\.reasons: 'tone:dull': phases: 'generate' is required, in which .*; given: plan"),
    ([MODEL], r"\[0\]\.reasons: 'llm_rude': family: .*given: 'llm'"),
)
def test_wrong_guards_are_refused_by_place(guards, message):
    with pytest.raises(ConfigurationError, match=f"^guards{message}"):
        create_rag_agent(guards=guards)


@pytest.mark.parametrize(("field", "given"), [("check", "polite"), ("reasons", TONE), ("name", "two words")])
def test_what_is_no_guard_is_refused_where_it_is_made(field, given):
    with pytest.raises(ConfigurationError, match=rf"^AnswerGuard\.{field}: "):
        AnswerGuard(**{"check": allow, "reasons": [TONE], field: given})

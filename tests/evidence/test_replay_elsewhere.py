"""Another agent decides a recorded run: it gives its own verdict, or says what it would have had to ask."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt
from rag_agents import QUESTION, agent
from recorded_runs import Kept, dead, recorded, replaying_agent
from ticket_pattern import TICKET, Policy, triage

from guardgraph import NotRecorded, RagPolicy, create_rag_agent, replay
from guardgraph.grammar import Call, Pass, declares
from guardgraph.testing import ScriptedChatModel

THREAD = {"configurable": {"thread_id": "1"}}
DEAD = (dead("the proposer"), dead("the tool"))


def test_a_replay_under_another_policy_gives_another_verdict():
    """A policy that changes no request decides on what came back then: the label is refused where it is judged."""
    recording = recorded(triage)
    result = replay(triage(*DEAD, policy=Policy(labels=("billing",))), recording)
    assert (result["stop_reason"], result["raw_label"]) == ("invalid_label", {"label": "bug"})
    assert result["run_id"] == recording["run_id"]
    result = replay(triage(*DEAD, policy=Policy(desks=())), recording)
    assert (result["stop_reason"], result["path"][-3:]) == (
        "desk_denied:bug",
        ["lookup", "duty_guard", "stop_desk_denied"],
    )


def test_a_replay_under_a_tighter_policy_of_a_shipped_pattern_says_what_it_would_have_stopped():
    """An answer that a check let through when it was off is stopped when it is on."""
    wrong = {"answer": "Within 20 minutes.", "citations": ["doc_sla_enterprise_v3"]}

    def loose(recorder):
        return agent(answer=wrong, policy=RagPolicy(check_values=False), recorder=recorder)

    recording = recorded(loose, QUESTION)
    assert recording["result"]["outcome"] == "grounded_answer"
    recording["policy"]["check_values"] = True
    assert replay(replaying_agent(recording), recording)["stop_reason"] == "invalid_answer:contradicts_source"


def reworded(state, run):
    """Ask the tool for something else."""
    came = yield Call("tool", dead("the tool"), {"desk": "elsewhere"})
    return {"found_duty": came.packed()}


@declares(rounds=2)
def twice(state, run):
    """Ask the tool once more."""
    came = yield Call("tool", dead("the tool"), {"desk": "bug"})
    yield Call("tool", dead("the tool"), {"desk": "bug"})
    return {"found_duty": came.packed()}


def test_a_request_that_was_not_recorded_is_named():
    """The error says which node asked, and what of its call was otherwise."""
    recording = recorded(triage)
    for body, difference in ((reworded, "visit 1, call 1: its request was "), (twice, "visit 1, call 2 was not made")):
        with pytest.raises(NotRecorded) as raised:
            replay(triage(bodies={"lookup": body}), recording)
        assert raised.value.node == "lookup"
        assert raised.value.difference.startswith(difference)
        assert str(raised.value) == f"not recorded: lookup: {raised.value.difference}"


def test_another_proposer_or_prompt_is_named():
    """A model in the place of rules, another model, another prompt: the error says which was and which is."""
    recording = recorded(create_rag_agent, QUESTION)
    with pytest.raises(NotRecorded, match=r"plan: .*: its proposer was 'offline', and is 'dead'; its prompt was None"):
        replay(create_rag_agent(ScriptedChatModel(model_name="dead")), recording)
    script = ({"kind": "retrieve", "query": "P1"}, {"answer": "", "citations": [], "insufficient": True})
    recording = recorded(lambda recorder: create_rag_agent(ScriptedChatModel(*script), recorder=recorder), QUESTION)
    with pytest.raises(NotRecorded, match=r"its proposer was 'scripted', and is 'other'$"):
        replay(create_rag_agent(ScriptedChatModel(model_name="other")), recording)
    recording["calls"][0]["request"] = "0" * 64
    recording["calls"][0]["prompt"] = "rag_plan@000000000000"
    with pytest.raises(NotRecorded, match=r"its prompt was 'rag_plan@000000000000', and is 'rag_plan@"):
        replay(create_rag_agent(ScriptedChatModel()), recording)


def test_another_way_through_the_graph_is_named():
    """Where a guard sends the run elsewhere, to a node that was not visited then, the error names that node."""
    recording = recorded(lambda recorder: triage(lambda view: {"label": "spam"}, recorder=recorder))
    assert recording["result"]["outcome"] == "spam"

    def keeps_spam(state, run):
        return Pass({"accepted_label": "bug"}, "lookup")

    with pytest.raises(NotRecorded, match=r"^not recorded: lookup: the recorded run went to 'spam' instead$"):
        replay(triage(bodies={"label_guard": keeps_spam}), recording)


def test_a_body_that_waits_for_an_answer_that_nobody_gave_is_named():
    """An interrupt that the recorded run did not have cannot be answered."""
    kept = Kept()
    graph = triage(checkpointer=InMemorySaver(), recorder=kept)
    graph.invoke(TICKET, THREAD)

    def asking(state, run):
        return {"found_duty": f'["value", "{interrupt("who?")}", {{}}]'}

    with pytest.raises(NotRecorded, match="lookup: its body waits for an answer that was not recorded"):
        replay(triage(bodies={"lookup": asking}), kept.only)

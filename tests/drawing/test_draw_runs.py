"""A picture with a run: the way stands out, loops are counted, the guard that stopped it says why."""

import json

import pytest
from drawn_graphs import elements, shown_nodes, words
from recorded_runs import recorded
from refund_pattern import begun
from tables import each_row
from ticket_pattern import Policy, triage

from guardgraph import InputError, RagBudget, create_rag_agent, create_self_critique_agent, draw, what_if
from guardgraph.tools.demo import CRITIQUE_GOAL, load_demo_incident

QUESTION = {"question": "What is the P1 first response target?"}


def _asking_for(source):
    return create_rag_agent(planner=lambda view: {"kind": "retrieve", "query": "SLA", "sources": [source]})


def _classes(picture):
    return {
        kind: {name for name, classes in shown_nodes(picture).items() if kind in classes} for kind in ("taken", "faded")
    }


def test_the_way_of_a_run_stands_out():
    agent = create_rag_agent()
    result = agent.invoke(QUESTION)
    picture = draw(agent, run=result)
    assert _classes(picture) == {"taken": {*result["path"]}, "faded": {"clarified", "condense", "question_guard"}}
    taken = {(edge.start, edge.end) for edge in picture.diagram.edges if edge.taken}
    assert taken == {*zip(["__start__", *result["path"]], result["path"], strict=False)}
    assert not elements(picture, "stopping")
    assert "ok: grounded_answer" in [text for item in elements(picture, "gg") for text in words(item)]


def test_the_guard_that_stopped_a_run_is_marked_with_the_reason():
    """The second to last of the path is marked; its ending is filled and says the stop reason, not the family."""
    agent = _asking_for("wiki")
    picture = draw(agent, agent.invoke(QUESTION))
    [guard] = elements(picture, "stopping")
    assert words(guard) == ["policy_guard"]
    [chip] = [item for item in elements(picture, "chip") if "taken" in item.get("class")]
    assert words(chip) == ["invalid_intent:source_not_allowed:w…"]
    assert chip[0].text == "stop_invalid_intent: the run ended here, invalid_intent:source_not_allowed:wiki"
    assert _classes(picture)["taken"] == {"request_guard", "plan", "policy_guard"}
    assert "stopping" in picture.mermaid
    assert repr(picture).endswith("a run that ended with invalid_intent:source_not_allowed:wiki>")


def test_a_stop_that_every_guard_has_is_shown_at_the_one_that_made_it():
    agent = create_rag_agent(budget=RagBudget(max_seconds=1e-9))
    picture = draw(agent, agent.invoke(QUESTION))
    assert [words(item) for item in elements(picture, "stopping")] == [["request_guard"]]
    assert [words(item) for item in elements(picture, "chip") if "taken" in item.get("class")] == [["max_seconds"]]


def test_loops_are_counted():
    """A node that ran more than once says how often, in the picture and in the Mermaid text."""
    agent = create_self_critique_agent(reviser=lambda view: {"revised_answer": f"{view['draft']} Sorry."})
    result = agent.invoke({"goal": CRITIQUE_GOAL, "incident_context": load_demo_incident()})
    assert result["path"].count("patch_guard") == 4
    picture = draw(agent, result)
    assert sorted(words(item)[0] for item in elements(picture, "badge")) == ["×3", "×4"]
    assert "patch_guard ×4" in picture.mermaid
    assert "the way of this run, ×2: twice" in [text for item in elements(picture, "gg") for text in words(item)]


def test_an_ending_that_failed_is_marked_itself():
    agent = create_rag_agent()
    result = {**agent.invoke(QUESTION), "status": "stopped", "stop_reason": "guard_error:answered"}
    del result["outcome"]
    picture = draw(agent, result)
    assert [words(item) for item in elements(picture, "stopping")] == [["answered"]]
    assert "stopped: guard_error:answered" in [text for item in elements(picture, "gg") for text in words(item)]


@pytest.mark.parametrize("strip", [False, True], ids=["as invoke returns it", "as JSON"])
def test_the_way_of_a_run_that_waits_ends_where_it_waits(strip):
    """The node that asks a person is marked, what comes behind it fades, and the legend and the head say it."""
    graph, shown = begun()
    if strip:
        shown = json.loads(json.dumps({key: value for key, value in shown.items() if key != "__interrupt__"}))
    picture = draw(graph, shown)
    assert [words(item)[:1] for item in elements(picture, "waiting")] == [["approve"], ["the run waits here"]]
    assert _classes(picture)["taken"] == {*shown["path"]}
    assert _classes(picture)["faded"] == {"approval_guard", "pay", "payment_guard", "refunded"}
    assert "waiting: approve" in [text for item in elements(picture, "gg") for text in words(item)]
    assert "class n4 waiting" in picture.mermaid
    assert repr(picture) == "<Picture: refund, 8 nodes and 8 stops, a run that waits at approve>"


@each_row(
    ("change", "message"),
    (lambda run: [run], "given: list"),
    (lambda run: {"path": run["path"]}, "given: a dictionary with path"),
    (lambda run: {"path": run["path"], "status": "waiting"}, "of one that waits, with path and waiting_for"),
    (lambda run: {**run, "path": []}, "the result of a finished run is required"),
    (lambda run: {**run, "stop_reason": None}, "the result of a finished run is required"),
    (lambda run: {**run, "path": ["request_guard", "draft"]}, "a run of another graph; rag has no node 'draft'"),
    (lambda run: {**run, "path": run["path"][1:]}, "no edge leads from __start__ to plan"),
    (lambda run: {**run, "path": run["path"][:-1]}, "no edge leads from answer_guard to __end__"),
)
def test_what_is_no_finished_run_of_the_graph_is_refused(change, message):
    agent = create_rag_agent()
    with pytest.raises(InputError) as refused:
        draw(agent, change(agent.invoke(QUESTION)))
    assert str(refused.value).startswith("run: ")
    assert message in str(refused.value)


def test_a_picture_shows_two_ways_and_where_they_part():
    """What both took is as in every picture of a run; what one took alone has a class, and a node says `parts`."""
    candidate = create_rag_agent(budget=RagBudget(min_chunk_score=0.9))
    [row] = what_if(candidate, [recorded(create_rag_agent, QUESTION)]).rows
    then, now = row.ways
    picture = draw(candidate, now.run, earlier=then.run)
    classes = shown_nodes(picture)
    assert {name for name, kinds in classes.items() if "earlier" in kinds} == {"generate", "answer_guard", "answered"}
    assert {name for name, kinds in classes.items() if "newer" in kinds} == {"clarified"}
    assert picture.diagram.parting == "context_guard"
    [badge] = elements(picture, "badge")[:1]
    assert words(badge) == ["parts"]
    assert repr(picture).endswith("a run that ended with success, beside an earlier one that ended with success>")
    assert "earlier" in picture.mermaid


def test_both_reasons_stand_at_a_guard_that_stopped_one_of_two_runs():
    """A stop of the earlier run is a chip of its own, with its reason."""
    recording = recorded(lambda **made: triage(lambda view: {"label": "spam"}, policy=Policy(labels=()), **made))
    [row] = what_if(triage(), [recording]).rows
    then, now = row.ways
    picture = draw(triage(), now.run, earlier=then.run)
    [chip] = [item for item in elements(picture, "chip") if "earlier" in item.get("class")]
    assert words(chip) == ["invalid_label"]
    turned = draw(triage(), then.run, earlier=now.run)
    assert {name for name, kinds in shown_nodes(turned).items() if "earlier" in kinds} == {"spam"}

"""Runs on threads: nothing leaks from run to run, and an interrupted run goes on as if nothing had been."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from docs_parts import ROOT
from langchain_core.messages import AIMessage
from rag_agents import QUESTION
from research_cases import GOAL, REQUEST
from runs import SAVERS, check_result, content, masked, memory, sqlite
from self_critique_cases import GIVEN
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.testing import scripted_tool

THREAD = {"configurable": {"thread_id": "1"}}
OK = {"label": "bug"}


ODD_TEXTS = {
    "an integer of five thousand digits": "9" * 5000,
    "a number beyond floats": '{"label": 1e999}',
    "nan": '{"label": NaN}',
    "deep nesting": "[" * 100_000,
    "closed deep nesting": "[" * 1000 + "]" * 1000,
    "a lone surrogate": '{"label": "\\ud800"}',
    "a real lone surrogate": '{"label": "\ud800"}',
    "nothing": "",
    "NUL": "\x00",
}


@SAVERS
def test_nothing_of_one_run_reaches_the_next(saver, tmp_path):
    """A stopped run, an ok run with other keys and a malformed one on one thread each return their own keys only."""
    proposals = scripted_tool({"label": "?"}, {"label": "spam"}, OK, {"label": "spam"})
    with saver(tmp_path) as checkpointer:
        graph = triage(proposals, checkpointer=checkpointer)
        runs = [graph.invoke(given, THREAD) for given in [TICKET, TICKET, TICKET, {}, {"ticket": 10**99}, TICKET]]
        assert [content(check_result(REASONS, result)) for result in runs] == [
            {"raw_label": {"label": "?"}},
            {"outcome": "spam", "label": "spam"},
            {"outcome": "routed", "label": "bug", "on_duty": "Ada (bug)"},
            {"details": {"allowed": "a text"}},
            {"details": {"field": "ticket", "given": "a whole number of more than 64 bits", "allowed": "plain JSON"}},
            {"outcome": "spam", "label": "spam"},
        ]
        assert len({result["run_id"] for result in runs}) == len(runs)
        assert [len(result["path"]) for result in runs] == [4, 4, 6, 2, 2, 4]


@SAVERS
def test_no_proposal_outlives_its_guard(saver, tmp_path):
    """After a run its state holds what guards let through and the record, but no raw channel, verdict or route."""
    with saver(tmp_path) as checkpointer:
        graph = triage(checkpointer=checkpointer)
        graph.invoke(TICKET, THREAD)
        kept = graph.get_state(THREAD).values.keys() - graph.get_output_jsonschema()["properties"].keys()
        assert kept == {"run", "given", "log", "calls:label", "calls:lookup", "task", "accepted_label", "accepted_duty"}
        histories = [set(snapshot.values) for snapshot in graph.get_state_history(THREAD)]
        assert sum("proposed_label" in names for names in histories) == 1
        assert sum("found_duty" in names for names in histories) == 1


@pytest.mark.paired
@SAVERS
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_no_text_of_a_model_breaks_a_checkpointer(name, saver, tmp_path):
    """However odd a model's text, the run ends with a reason of the contract."""
    with saver(tmp_path) as checkpointer:
        graph = triage(lambda view: AIMessage(ODD_TEXTS[name]), checkpointer=checkpointer)
        result = check_result(REASONS, graph.invoke(TICKET, THREAD))
        assert result["stop_reason"] in ("llm_invalid_json", "invalid_label")


PATTERNS = {
    "triage": (triage, TICKET),
    "rag": (create_rag_agent, QUESTION),
    "research": (create_research_agent, {"goal": GOAL, "request": REQUEST}),
    "self_critique": (create_self_critique_agent, GIVEN),
}


@pytest.mark.paired
@pytest.mark.parametrize(
    ("saver", "moment"), [(memory, "interrupt_before"), (memory, "interrupt_after"), (sqlite, "interrupt_before")]
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_run_interrupted_anywhere_ends_as_if_it_had_not_been(pattern, moment, saver, tmp_path):
    """Before and after every node in turn, and at all of them, a resumed run gives the uninterrupted result."""
    create, given = PATTERNS[pattern]
    expected = masked(create().invoke(given))
    path = expected["path"]
    with saver(tmp_path) as checkpointer:
        graph = create(checkpointer=checkpointer)
        for number, node in enumerate(path):
            config = {"configurable": {"thread_id": f"{moment}-{number}"}}
            graph.invoke(given, config, **{moment: [node]})
            assert masked(graph.invoke(None, config)) == expected
        config = {"configurable": {"thread_id": "all"}}
        result = graph.invoke(given, config, **{moment: path})
        for _ in path:
            result = graph.invoke(None, config, **{moment: path})
        assert masked(result) == expected


@SAVERS
def test_a_resumed_run_obeys_a_context_that_was_tightened_meanwhile(saver, tmp_path):
    """The execution list is applied at the point of use, again after a resume."""
    with saver(tmp_path) as checkpointer:
        graph = triage(checkpointer=checkpointer)
        for node, path in (("lookup", ["lookup", "duty_guard"]), ("label_guard", ["label_guard"])):
            config = {"configurable": {"thread_id": node}}
            graph.invoke(TICKET, config, interrupt_before=[node])
            tightened = {"policy": {"desks": ["billing"], "labels": ["billing", "bug"] if node == "lookup" else []}}
            result = check_result(REASONS, graph.invoke(None, config, context=tightened))
            assert result["stop_reason"] == ("desk_denied:bug" if node == "lookup" else "invalid_label")
            assert result["path"][-len(path) - 1 : -1] == path


KILLED = """
import os, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from ticket_pattern import TICKET, triage

def tool(request):
    with open(sys.argv[2], "a") as made:
        made.write("called\\n")
    if sys.argv[3] == "after its answer":
        os._exit(9)
    return "Ada"

def killed(state, run):
    os._exit(9)

with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    bodies = {"duty_guard": killed} if sys.argv[3] == "behind its step" else {}
    graph = triage(tool=tool, checkpointer=saver, bodies=bodies)
    config = {"configurable": {"thread_id": "1"}}
    given = None if sys.argv[3] == "resumed" else TICKET
    print(graph.invoke(given, config, durability="sync")["on_duty"])
"""


@pytest.mark.parametrize(("moment", "calls"), [("after its answer", 2), ("behind its step", 1)])
def test_a_call_of_a_killed_process_is_made_at_least_once(moment, calls, tmp_path):
    """A tool that answered a process which was killed before the step was kept is called again; a kept step is not."""
    made = tmp_path / "made"

    def process(when):
        command = [sys.executable, "-c", KILLED, str(tmp_path / "runs.sqlite"), str(made), when]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'support'}"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    assert process(moment).returncode == 9
    resumed = process("resumed")
    assert resumed.stdout == "Ada\n", resumed.stderr
    assert made.read_text().splitlines() == ["called"] * calls

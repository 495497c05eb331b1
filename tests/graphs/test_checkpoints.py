"""Runs on threads: nothing leaks from run to run, and an interrupted run goes on as if nothing had been."""

import asyncio
import os
import random
import signal

import pytest
from effect_runs import run_in_process
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from research_cases import asked, hits, quotes, vendor
from runs import SAVERS, THREAD, check_result, content, masked, memory, sqlite
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import ConfigurationError, ResearchBudget, create_research_agent, keep_texts_once
from guardgraph.graphs import texts_once
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.testing import scripted_tool

ODD_TEXTS = ["9" * 5000, '{"label": 1e999}', "[" * 100_000, '{"label": "\ud800"}', "\x00"]
CREATED = [(triage, TICKET), *((item.create_agent, item.demo()) for item in PATTERNS.values())]
LETTERS = random.Random(0).choices("abcdefghijklmnop rstuvwxyz.", k=100_000)
BODIES = {url: f"This is what the page {url} says. {''.join(LETTERS)}" for url in vendor(*"abcd")}
OTHER = {"configurable": {"thread_id": "2"}}
LEAVES = st.sampled_from(["x" * 4_000, "\ud800y" * 3_000, "x" * 3_999, "0" * 64, "", None, 7])
KEYS = st.sampled_from(["guardgraph:text", "a", "b"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


@SAVERS
def test_nothing_of_one_run_reaches_the_next(saver, tmp_path):
    """A stopped run, an ok run with other keys and a malformed one on one thread each return their own keys only."""
    proposals = scripted_tool({"label": "?"}, {"label": "spam"}, {"label": "bug"}, {"label": "spam"})
    with saver(tmp_path) as checkpointer:
        graph = triage(proposals, checkpointer=checkpointer)
        runs = [graph.invoke(given, THREAD) for given in [TICKET, TICKET, TICKET, {}, TICKET]]
        assert [content(check_result(REASONS, result)) for result in runs] == [
            {"raw_label": {"label": "?"}},
            {"outcome": "spam", "label": "spam"},
            {"outcome": "routed", "label": "bug", "on_duty": "Ada (bug)"},
            {"details": {"allowed": "a text"}},
            {"outcome": "spam", "label": "spam"},
        ]
        assert len({result["run_id"] for result in runs}) == len(runs)
        assert [len(result["path"]) for result in runs] == [4, 4, 6, 2, 4]


@pytest.mark.paired
@SAVERS
@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_no_text_of_a_model_breaks_a_checkpointer(text, saver, tmp_path):
    with saver(tmp_path) as checkpointer:
        graph = triage(lambda view: AIMessage(text), checkpointer=checkpointer)
        result = check_result(REASONS, graph.invoke(TICKET, THREAD))
        assert result["stop_reason"] in ("llm_invalid_json", "invalid_label")


@pytest.mark.paired
@pytest.mark.parametrize(("saver", "moment"), [(memory, "before"), (memory, "after"), (sqlite, "before")])
@pytest.mark.parametrize(("create", "given"), CREATED)
def test_a_run_interrupted_anywhere_ends_as_if_it_had_not_been(create, given, moment, saver, tmp_path):
    """Before and after every node in turn, and at all of them, a resumed run gives the uninterrupted result."""
    expected = masked(create().invoke(given))
    path = expected["path"]
    with saver(tmp_path) as checkpointer:
        graph = create(checkpointer=checkpointer)
        for number, node in enumerate(path):
            config = {"configurable": {"thread_id": str(number)}}
            graph.invoke(given, config, **{f"interrupt_{moment}": [node]})
            assert masked(graph.invoke(None, config)) == expected
        config = {"configurable": {"thread_id": "all"}}
        result = graph.invoke(given, config, **{f"interrupt_{moment}": path})
        for _ in path:
            result = graph.invoke(None, config, **{f"interrupt_{moment}": path})
        assert masked(result) == expected


@SAVERS
def test_a_resumed_run_obeys_a_context_that_was_tightened_meanwhile(saver, tmp_path):
    with saver(tmp_path) as checkpointer:
        graph = triage(checkpointer=checkpointer)
        for node, path in (("lookup", ["lookup", "duty_guard"]), ("label_guard", ["label_guard"])):
            config = {"configurable": {"thread_id": node}}
            graph.invoke(TICKET, config, interrupt_before=[node])
            tightened = {"policy": {"desks": ["billing"], "labels": ["billing", "bug"] if node == "lookup" else []}}
            result = check_result(REASONS, graph.invoke(None, config, context=tightened))
            assert result["stop_reason"] == ("desk_denied:bug" if node == "lookup" else "invalid_label")
            assert result["path"][-len(path) - 1 : -1] == path


def _look_up(pipe, folder, moment):
    """Make a run, or go on with it, in a process that is killed at a moment of it; send who is on duty."""

    def tool(request):
        with open(folder / "made", "a") as made:
            made.write("called\n")
        if moment == "after its answer":
            os.kill(os.getpid(), signal.SIGKILL)
        return "Ada"

    bodies = {"duty_guard": lambda state, run: os.kill(os.getpid(), signal.SIGKILL)}
    with SqliteSaver.from_conn_string(str(folder / "runs.sqlite")) as saver:
        graph = triage(tool=tool, checkpointer=saver, bodies=bodies if moment == "behind its step" else {})
        pipe.send(graph.invoke(None if moment == "resumed" else TICKET, THREAD, durability="sync")["on_duty"])


@pytest.mark.process
@pytest.mark.parametrize(("moment", "calls"), [("after its answer", 2), ("behind its step", 1)])
def test_a_killed_process_repeats_a_call_unless_its_step_was_kept(moment, calls, tmp_path):
    """A tool that answered a process which was killed before the step was kept is called again; a kept step is not."""
    assert run_in_process(_look_up, tmp_path, moment) is None
    assert run_in_process(_look_up, tmp_path, "resumed") == "Ada"
    assert (tmp_path / "made").read_text().splitlines() == ["called"] * calls


def research(saver):
    return create_research_agent(
        search=hits(*BODIES),
        reader=lambda asked: {"title": "", "published_at": "", "body": BODIES[asked["url"]]},
        extractor=quotes(quote="This is what the page", claim="It says something."),
        writer=lambda view: {"answer": "It says something.", "citations": ["n1"]},
        budget=ResearchBudget(max_read_pages=4),
        checkpointer=saver,
    )


def read_bodies(state):
    return {url: page["body"] for url, page in state.values["accepted_pages"].items()}


def test_a_run_that_waits_is_resumed_by_another_process_with_its_texts(tmp_path):
    """The file has at most three times the pages' text, where a run of twenty steps kept them in each."""
    file = tmp_path / "runs.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        research(keep_texts_once(saver)).invoke(asked(), THREAD, interrupt_before=["extract"])
    with SqliteSaver.from_conn_string(str(file)) as saver:
        agent = research(keep_texts_once(saver))
        result = agent.invoke(None, THREAD)
        assert read_bodies(agent.get_state(THREAD)) == BODIES
        assert all("guardgraph:text" not in str(state.values)[:10_000] for state in agent.get_state_history(THREAD))
    assert (result["stop_reason"], result["aggregate"]["pages_read"]) == ("success", 4)
    assert file.stat().st_size <= 3 * sum(map(len, BODIES.values()))


def test_texts_come_back_whoever_reads_them_or_end_the_read_by_their_name():
    inner = InMemorySaver()
    agent = research(keep_texts_once(inner))
    agent.invoke(asked(), THREAD, interrupt_before=["extract"])
    state, history = agent.get_state(THREAD), [*agent.get_state_history(THREAD)]

    async def read():
        await agent.ainvoke(asked(), OTHER, interrupt_before=["extract"])
        return await agent.aget_state(THREAD), [each async for each in agent.aget_state_history(THREAD)]

    assert asyncio.run(read()) == (state, history)
    assert (read_bodies(state), history[0].values) == (BODIES, state.values)
    assert read_bodies(research(keep_texts_once(inner).with_allowlist([])).get_state(OTHER)) == BODIES
    del inner.storage["1"]["guardgraph_texts"]
    with pytest.raises(LookupError, match="the checkpointer has no text"):
        keep_texts_once(inner).get_tuple(THREAD)
    inner.delete_thread("1")  # by somebody else; what begins again under its name is kept anew
    agent.invoke(asked(), THREAD, interrupt_before=["extract"])
    assert read_bodies(agent.get_state(THREAD)) == BODIES
    with pytest.raises(ConfigurationError, match="saver: a LangGraph checkpointer is required; given: dict"):
        keep_texts_once({})


@settings(max_examples=200)
@given(VALUES)
def test_every_value_comes_back_as_it_was(value):
    texts, names = {}, {}
    short = texts_once._take_texts(value, texts)
    texts_once._list_marks(short, names)
    assert {*names} == {*texts}
    assert texts_once._put_back(short, texts) == value


@SAVERS
def test_no_proposal_outlives_its_guard(saver, tmp_path):
    """After a run its state holds what guards let through and the record, but no raw channel, verdict or route."""
    with saver(tmp_path) as checkpointer:
        graph = triage(checkpointer=checkpointer)
        graph.invoke(TICKET, THREAD)
        kept = graph.get_state(THREAD).values.keys() - graph.get_output_jsonschema()["properties"].keys()
        assert kept == {"run", "given", "log", "calls:label", "calls:lookup", "task", "accepted_label", "accepted_duty"}
        histories = [set(snapshot.values) for snapshot in graph.get_state_history(THREAD)]
        for raw in ("proposed_label", "found_duty"):
            assert sum(raw in names for names in histories) == 1

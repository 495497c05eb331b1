"""`keep_texts_once`: a checkpointer keeps every long text of a thread once, and gives it back wherever it stood."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from research_cases import asked, hits, quotes, vendor

from guardgraph import ConfigurationError, ResearchBudget, create_research_agent, keep_texts_once
from guardgraph.graphs import texts_once

NAMES = [f"p{number}" for number in range(4)]
THREAD = {"configurable": {"thread_id": "1"}}
CITE = {"answer": "It says something.", "citations": ["n1"]}


def make_body(name):
    """Return 100,000 characters that no packing makes much shorter than words are."""
    rng = random.Random(name)
    return f"This is what the page {name} says. " + "".join(rng.choices("abcdefghijklmnop rstuvwxyz.", k=100_000))


BODIES = {name: make_body(name) for name in NAMES}


def research(saver, **given):
    """Return an agent that reads four pages of 100,000 characters."""

    def read(request):
        return {"title": "", "published_at": "", "body": BODIES[request["url"].rpartition("/")[2]]}

    parts = {"search": hits(*vendor(*NAMES)), "reader": read, "writer": lambda view: CITE}
    quoted = quotes(quote="This is what the page", claim="It says something.")
    return create_research_agent(
        **parts, extractor=quoted, budget=ResearchBudget(max_read_pages=4), checkpointer=saver, **given
    )


def test_a_run_that_waits_is_resumed_by_another_process_with_its_texts(tmp_path):
    """The file has at most three times the pages' text, where a run of twenty steps kept them in each."""
    file = tmp_path / "runs.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        research(keep_texts_once(saver)).invoke(asked(), THREAD, interrupt_before=["extract"])
    with SqliteSaver.from_conn_string(str(file)) as saver:
        agent = research(keep_texts_once(saver))
        result = agent.invoke(None, THREAD)
        pages = agent.get_state(THREAD).values["accepted_pages"]
        assert {url.rpartition("/")[2]: page["body"] for url, page in pages.items()} == BODIES
        assert all("guardgraph:text" not in str(state.values)[:10_000] for state in agent.get_state_history(THREAD))
    assert (result["stop_reason"], result["aggregate"]["pages_read"]) == ("success", 4)
    assert file.stat().st_size <= 3 * sum(map(len, BODIES.values()))


def test_a_text_that_is_gone_ends_the_read_by_its_name():
    """A checkpointer that lost texts gives no checkpoint without them."""
    inner = InMemorySaver()
    agent = research(keep_texts_once(inner))
    agent.invoke(asked(), THREAD, interrupt_before=["extract"])
    del inner.storage["1"]["guardgraph_texts"]
    with pytest.raises(LookupError, match="the checkpointer has no text"):
        keep_texts_once(inner).get_tuple(THREAD)


def test_only_a_checkpointer_can_be_wrapped():
    """Anything else is refused by name."""
    with pytest.raises(ConfigurationError, match="saver: a LangGraph checkpointer is required; given: dict"):
        keep_texts_once({})


LONG = st.sampled_from(["x" * 4_000, "\ud800y" * 3_000, "x" * 3_999, ""])
KEYS = st.sampled_from(["guardgraph:text", "a", "b"])
VALUES = st.recursive(
    st.one_of(LONG, st.integers(), st.none(), st.just("0" * 64)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=200)
@given(VALUES)
def test_every_value_comes_back_as_it_was(value):
    """Whatever keys it has: what looks like a mark of ours is none."""
    texts, names = {}, {}
    short = texts_once._take_texts(value, texts)
    texts_once._list_marks(short, names)
    assert {*names} == {*texts}
    assert texts_once._put_back(short, texts) == value

"""What a notebook shows of a what-if, a check of a store and settings, and what pandas makes of the rows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import UserList, deque

import pandas
import pytest

from guardgraph import RagBudget, RagPolicy, ToolPolicy, create_rag_agent, evaluate, sql_store, what_if
from guardgraph.testing import InMemoryRecorder

QUESTION = "What is the P1 first response target?"
STRICT = RagBudget(min_chunk_score=0.9)


@pytest.fixture(scope="module")
def runs():
    """Recordings of an answer and of a clarification."""
    kept = InMemoryRecorder()
    agent = create_rag_agent(recorder=kept)
    for question in (QUESTION, "Which planet has the most moons?"):
        agent.invoke({"question": question})
    return kept.runs


def cells(shown):
    """Return the texts of the cells of an HTML table that is well formed, row by row."""
    return [[cell.text or "" for cell in row] for row in ET.fromstring(shown._repr_html_()).iter("tr")]


def test_a_what_if_is_a_table_of_endings(runs):
    """A row for each way from an old ending to a new one."""
    head, *rows = cells(what_if(create_rag_agent(budget=STRICT), runs))
    assert head == ["old ending", "new ending", "runs"]
    assert sorted(rows) == [["ok:clarify", "same", "1"], ["ok:grounded_answer", "ok:clarify", "1"]]


def test_rows_of_a_what_if_are_flat(runs):
    """Every row is a record with the same keys, and no cell holds an object."""
    records = what_if(create_rag_agent(budget=STRICT), [*runs, {"format": "none"}]).records()
    frame = pandas.DataFrame(records)
    assert [*frame["kind"]] == ["changed", "same", "unreplayable"]
    assert frame["new"][0] == "ok:clarify"
    assert frame["parted_at"][0] == "context_guard"
    assert all(record.keys() == records[0].keys() for record in records)
    assert all(value is None or isinstance(value, str | int) for record in records for value in record.values())


def test_progress_counts_the_runs_that_are_judged(runs):
    """It is told after each run, the last time of all."""
    told = []
    what_if(create_rag_agent(), runs, progress=told.append)
    assert told == [1, 2]


def test_settings_are_a_table_of_values(runs):
    """A row for each setting, with its value and how it tightens."""
    shown = cells(RagPolicy(allowed_sources_policy=["<b>", "wiki"]))
    assert ["allowed_sources_policy", "<b>, wiki", "Tightens.intersection"] in shown
    assert ["max_top_k", "6", "Tightens.smallest"] in cells(RagBudget())
    assert len(cells(ToolPolicy())) == len(ToolPolicy.model_fields) + 1


def test_a_check_of_a_store_is_a_table_of_findings(tmp_path):
    """Its caption says how much was read and whether all is well."""
    store = sql_store(f"sqlite:///{tmp_path}/kept.db")
    create_rag_agent(recorder=store).invoke({"question": QUESTION})
    shown = store.verify()._repr_html_()
    store.close()
    assert ET.fromstring(shown).findtext("caption").endswith(": ok")


def test_a_dataset_may_be_a_frame_and_rows_become_one():
    """Pandas in, pandas out."""
    frame = pandas.DataFrame(
        {"question": [QUESTION, "Who cooked lunch?"], "ending": ["ok:grounded_answer", "ok:clarify"]}
    )
    rows = pandas.DataFrame(evaluate(create_rag_agent(), frame).rows)
    assert [*rows["ending"]] == [True, True]


@pytest.mark.parametrize("given", [["a", "b"], ("a", "b"), deque(["a", "b"]), UserList(["a", "b"])])
def test_a_list_of_a_policy_is_any_sequence_of_texts(given):
    """A tuple is kept, whatever sequence was given; a text is no list of letters."""
    assert RagPolicy(allowed_sources_policy=given).allowed_sources_policy == ("a", "b")
    with pytest.raises(ValueError, match="a list of strings is required"):
        RagPolicy(allowed_sources_policy="ab")

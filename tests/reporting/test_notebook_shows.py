"""What a notebook shows of a what-if, a check of a store and settings, and what pandas makes of the rows."""

import xml.etree.ElementTree as ET

import pandas
import pytest

from guardgraph import RagBudget, create_rag_agent, evaluate, what_if
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
    return [[cell.text or "" for cell in row] for row in ET.fromstring(shown._repr_html_()).iter("tr")]


def test_a_what_if_is_a_table_of_endings(runs):
    head, *rows = cells(what_if(create_rag_agent(budget=STRICT), runs))
    assert head == ["old ending", "new ending", "runs"]
    assert sorted(rows) == [["ok:clarify", "same", "1"], ["ok:grounded_answer", "ok:clarify", "1"]]


def test_rows_of_a_what_if_are_flat(runs):
    records = what_if(create_rag_agent(budget=STRICT), [*runs, {"format": "none"}]).records()
    frame = pandas.DataFrame(records)
    assert [*frame["kind"]] == ["changed", "same", "unreplayable"]
    assert frame["new"][0] == "ok:clarify"
    assert frame["parted_at"][0] == "context_guard"
    assert all(record.keys() == records[0].keys() for record in records)
    assert all(value is None or isinstance(value, str | int) for record in records for value in record.values())


def test_a_dataset_may_be_a_frame_and_rows_become_one():
    frame = pandas.DataFrame(
        {"question": [QUESTION, "Who cooked lunch?"], "ending": ["ok:grounded_answer", "ok:clarify"]}
    )
    rows = pandas.DataFrame(evaluate(create_rag_agent(), frame).rows)
    assert [*rows["ending"]] == [True, True]

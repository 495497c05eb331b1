"""Evaluation: a dataset's rows are asked, or decided again from recordings, and held against what they expect."""

import json

import pytest
from tables import each_row

from guardgraph import ConfigurationError, InputError, RagBudget, create_rag_agent, evaluate, report
from guardgraph.testing import InMemoryRecorder, replays

SLA = {"id": "sla", "question": "What is the P1 first response target?"}
MOONS = {"id": "moons", "question": "Which planet has the most moons?"}
FULL = {**SLA, "ending": "ok:grounded_answer", "facts": ["15  MINUTES"], "citations": ["doc_sla_enterprise_v3"]}


def test_rows_are_held_against_what_they_expect():
    """A row passes that ends as expected, with the facts and the citations; another one says what it lacks."""
    wrong = {**SLA, "id": "wrong", "question": "What is P1's first response target?", "facts": "20 minutes"}
    evaluation = evaluate(create_rag_agent(), [FULL, {**MOONS, "ending": "ok:clarify"}, wrong])
    assert [row.ended for row in evaluation.rows] == ["ok:grounded_answer", "ok:clarify", "ok:grounded_answer"]
    assert {row.id: row.passed for row in evaluation.rows} == {"sla": True, "moons": True, "wrong": False}
    assert evaluation.rows[2].why == "lacks '20 minutes'"
    assert evaluation.rates == {"answered": 1, "ending": 1, "facts": 0.5, "citations": 1, "passed": 2 / 3}
    assert evaluation.find_low_rates({"facts": 0.6, "ending": 1}) == {"facts": 0.5}
    assert "wrong  ok:grounded_answer  lacks '20 minutes'" in evaluation.table()
    [other] = evaluate(create_rag_agent(), [{**FULL, "facts": "5 minutes"}]).rows
    assert not other.passed  # its answer has 15 of them


def test_recordings_are_decided_again_without_a_call():
    """With recordings nothing is called: a row is decided by the agent of today, or is unknown."""
    kept = InMemoryRecorder()
    create_rag_agent(recorder=kept).invoke({"question": SLA["question"]})
    strict = create_rag_agent(budget=RagBudget(min_chunk_score=0.99))
    now, unknown = evaluate(strict, [{**SLA, "ending": "ok:grounded_answer"}, MOONS], recordings=kept.runs).rows
    assert (now.ended, now.passed, now.run_id) == ("ok:clarify", False, kept.runs[0]["run_id"])
    assert (unknown.ended, unknown.answered) == ("unknown", False)


@each_row(
    ("dataset", "said"),
    ([], "dataset: one row at least is required; given: none"),
    ([SLA, {"q": 1}], "dataset, row 2: one of question, history, id, ending, facts, citations is required"),
    ([{"id": "x"}], "dataset, row 1: an input is required, question or history; given: none"),
    ([SLA, {**SLA, "id": "other"}], "dataset, row 2: an input of its own is required; given: that of row 1"),
    ([SLA, {**MOONS, "id": "sla"}], "dataset, row 2: an id of its own is required; given: that of row 1"),
    ([{**SLA, "ending": "okay"}], "dataset, row 1: ending: required: endings called ok, stopped"),
    ([{**SLA, "ending": "ok:guess"}], "dataset, row 1: ending: required: an outcome of rag"),
    ([{**SLA, "facts": [1]}], "dataset, row 1: facts: a text or a list of texts is required; given: [1]"),
    ("none.jsonl", "dataset 'none.jsonl': cannot be read: No such file"),
    (7, "dataset: rows, a DataFrame or a file is required; given: int"),
)
def test_a_wrong_dataset_is_an_error_that_names_the_row(dataset, said):
    """No row is asked of a dataset that cannot be right; the message says which row, what is given and allowed."""
    with pytest.raises(InputError) as caught:
        evaluate(create_rag_agent(planner=lambda view: pytest.fail("it was asked")), dataset)
    assert str(caught.value).startswith(said)


def test_a_line_that_is_no_json_is_named(tmp_path):
    (tmp_path / "data.jsonl").write_text(f"{json.dumps(SLA)}\n\n{{'id': 1}}\n")
    with pytest.raises(InputError, match=r"data\.jsonl', line 3: not JSON: "):
        evaluate(create_rag_agent(), tmp_path / "data.jsonl")


def test_wrong_arguments():
    """What is no agent, no number of runs, no rate and no share is named."""
    with pytest.raises(ConfigurationError, match=r"^agent: a guarded graph is required; given: str"):
        evaluate("rag", [SLA])
    with pytest.raises(ConfigurationError, match=r"^max_concurrency: a whole number from 1 up is required; given: 0"):
        evaluate(create_rag_agent(), [SLA], max_concurrency=0)
    with pytest.raises(ConfigurationError, match=r"^least: one of answered, ending"):
        evaluate(create_rag_agent(), [SLA]).find_low_rates({"right": 1})
    with pytest.raises(ConfigurationError, match=r"^least\.facts: a share from 0 to 1 is required; given: 90"):
        evaluate(create_rag_agent(), [SLA]).find_low_rates({"facts": 90})


def test_a_page_and_a_notebook_show_it_without_markup_of_others():
    """The page and the cell of a notebook escape what a row or an answer says."""
    evaluation = evaluate(create_rag_agent(), [{**SLA, "id": "<b>x</b>", "facts": "<script>alert(1)</script>"}])
    for html in (report(evaluation).html, evaluation._repr_html_()):
        assert ("<b>x" in html, "<script>alert" in html, "alert(1)" in html) == (False, False, True)


def test_recorded_runs_are_tests(tmp_path):
    """A recording passes as long as the agent decides it as it did; then it says what changed."""
    kept = InMemoryRecorder()
    create_rag_agent(recorder=kept).invoke({"question": SLA["question"]})
    (tmp_path / "sla.json").write_text(json.dumps(kept.runs[0]))
    [same] = replays(create_rag_agent(), f"{tmp_path}/*.json")
    same.check()
    assert str(same) == "sla"
    [changed] = replays(create_rag_agent(budget=RagBudget(min_chunk_score=0.99)), f"{tmp_path}/*.json")
    with pytest.raises(AssertionError, match=r"changed, was ok:grounded_answer, now ok:clarify"):
        changed.check()
    with pytest.raises(ConfigurationError, match="no file is called"):
        replays(create_rag_agent(), f"{tmp_path}/*.jsonl")
    (tmp_path / "wrong.json").write_text("{}")
    with pytest.raises(InputError, match=r"wrong\.json"):
        replays(create_rag_agent(), f"{tmp_path}/*.json")


def test_a_run_that_raises_costs_one_row():
    """The other rows keep what they brought; the row says what was raised."""
    rows = evaluate(create_rag_agent(), [SLA, MOONS], context={"budget": {"max_seconds": "soon"}}).rows
    assert {row.ended for row in rows} == {"failed"}
    assert all("max_seconds" in row.why for row in rows)


@pytest.mark.heavy
def test_a_dataset_may_be_a_frame_and_rows_become_one():
    import pandas

    rows = {"question": [SLA["question"], "Who cooked lunch?"], "ending": ["ok:grounded_answer", "ok:clarify"]}
    evaluation = evaluate(create_rag_agent(), pandas.DataFrame(rows))
    assert [*pandas.DataFrame(evaluation.rows)["ending"]] == [True, True]

"""Many recorded runs judged again: rows and counts, the table, stores."""

import json
from functools import cache

import pytest
from rag_agents import QUESTION
from recorded_runs import recorded
from stored_runs import opened, recording
from tables import each_row
from ticket_pattern import triage

from guardgraph import ConfigurationError, InputError, RagBudget, create_rag_agent, sql_store, what_if
from guardgraph.evidence.what_if import parse_fail_on
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder

RAG = "guardgraph:create_rag_agent"
STRICT = RagBudget(min_chunk_score=0.9)
REFUSED = "stopped:invalid_intent:kind"


@cache
def _runs():
    kept = InMemoryRecorder()
    create_rag_agent(recorder=kept).invoke(QUESTION)
    create_rag_agent(recorder=kept).invoke({"question": 7})
    create_rag_agent(recorder=kept, planner=lambda view: {"kind": "delete"}).invoke(QUESTION)
    PATTERNS["research"].create_agent(recorder=kept).invoke(PATTERNS["research"].demo())
    return json.dumps(kept.runs)


def runs():
    kept = json.loads(_runs())
    return [*kept, {**kept[0], "redacted": [["input", "question"]]}, {"format": 1}, {**kept[0], "format": 2}]


@cache
def judged_strictly():
    return what_if(create_rag_agent(budget=STRICT), runs())


def test_every_run_falls_in_one_class_and_is_counted_once():
    """The rows come in the order of the runs; the counts are of all of them."""
    judged = judged_strictly()
    kinds = ["changed", "same", "unknown", "other_pattern", *["unreplayable"] * 3]
    assert [row.kind for row in judged.rows] == kinds
    assert judged.counts == {"same": 1, "changed": 1, "unknown": 1, "unreplayable": 3, "other_pattern": 1}
    assert judged.reasons("unreplayable") == {"redacted": 1, "damaged": 1, "version": 1}
    assert (judged.rows[2].call.node, judged.rows[5].why.partition(": ")[0]) == ("plan", "damaged")
    assert repr(judged) == "<WhatIf of rag: 1 same, 1 changed, 1 unknown, 3 unreplayable, 1 other_pattern>"


def test_the_table_says_old_and_new_endings_and_what_nobody_knows():
    """A line for each pair of endings and one for each class, in 80 columns."""
    judged = judged_strictly()
    assert judged.table() == (
        "old ending                           new ending                            runs\n"
        "ok:grounded_answer                -> ok:clarify                               1\n"
        "stopped:invalid_request:question  -> same                                     1\n"
        "\n"
        "same                1\n"
        "changed             1\n"
        "unknown             1  plan 1\n"
        "unreplayable        3  redacted 1, damaged 1, version 1\n"
        "other_pattern       1  research 1"
    )
    assert "<td>ok:grounded_answer</td>" in judged._repr_html_()


def test_rows_are_plain_json_and_flat_records():
    """For a file and for a data frame: each names its run, and a record has the same keys in every row."""
    judged = judged_strictly()
    told, records = judged.plain(), judged.records()
    assert [row["kind"] for row in told["rows"]] == [row["kind"] for row in records]
    assert told["rows"][0]["run_id"] == records[0]["run_id"] == judged.rows[0].run_id
    assert told["rows"][0]["ways"] == [list(way.path) for way in judged.rows[0].ways]
    assert (records[0]["old"], records[0]["new"]) == ("ok:grounded_answer", "ok:clarify")
    assert (records[0]["parted_at"], records[2]["old"], records[2]["node"]) == ("context_guard", REFUSED, "plan")
    assert len({tuple(row) for row in records}) == 1
    assert all(value is None or isinstance(value, str | int) for row in records for value in row.values())


@each_row(
    ("found", "exceeded", "limits"),
    (1, True, ["ok>ok:0", "ok:grounded_answer>ok:clarify:0", "changed:0", "unknown:14%", "unreplayable:version:0"]),
    (0, False, ["stopped>ok:0", "ok>stopped:invalid_answer:0", "unreplayable:erased:0%"]),
    (1, False, ["unknown:15%", "unreplayable:redacted:1", "other_pattern:1"]),
)
def test_a_limit_counts_changes_or_a_class(found, exceeded, limits):
    """Endings by status, by outcome, by the beginning of a reason; a number, or a percentage of all runs."""
    for limit in (parse_fail_on(limit, RAG_REASONS) for limit in limits):
        assert (limit.count_what_if_runs(judged_strictly()), limit.is_exceeded(judged_strictly())) == (found, exceeded)


@each_row(
    ("limit", "message"),
    ("stopped>ok", "a whole number or a percentage behind the last colon; given: 'stopped>ok'"),
    ("stoped>ok:0", "endings called ok, stopped, refused, .*; given: 'stoped'"),
    ("ok:ground>ok:0", "an outcome of rag: grounded_answer, grounded_partial, clarify; given: 'ground'"),
    ("ok>stopped:no_such:0", "a stop reason of rag; given: 'no_such'"),
    ("chnged:0", "OLD>NEW:MOST, CLASS:MOST or .*, with a class of same, .*; given: 'chnged'"),
)
def test_a_limit_that_is_none_is_refused(limit, message):
    """A name that is mistyped would never be exceeded, so it is an error."""
    with pytest.raises(ConfigurationError, match=f"^--fail-on {limit!r}: required: {message}$"):
        parse_fail_on(limit, RAG_REASONS)


def test_other_declarations_are_named():
    """Runs of a graph whose nodes or reasons were declared otherwise are judged, and counted."""
    recording = recorded(triage)
    assert what_if(triage(), [recording]).other_declarations == 0
    recording["fingerprints"]["declarations"] = "0" * 64
    judged = what_if(triage(), [recording])
    assert (judged.rows[0].kind, judged.other_declarations) == ("same", 1)
    assert judged.table().endswith("1 of these runs were made by a graph with other declarations")


def test_runs_of_a_store_are_judged_by_their_number_and_erased_ones_are_unreplayable(tmp_path):
    """A row names the entry of the chain; what was erased is counted as such."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    kept = [create_rag_agent(recorder=store).invoke(QUESTION) for _ in range(3)]
    store.erase(kept[1]["run_id"], by="tests")
    judged = what_if(create_rag_agent(budget=STRICT), store.runs())
    erased = (4, "unreplayable", "erased")
    assert [(row.seq, row.kind, row.why) for row in judged.rows] == [(2, "changed", None), erased, (6, "changed", None)]


CHANGES = {
    "a content": "UPDATE guardgraph_contents SET content = replace(content, '15 minutes', '16 minutes')",
    "a content that is no UTF-8": "UPDATE guardgraph_contents SET content = CAST(x'22ff22' AS TEXT)",
    "a salt": "UPDATE guardgraph_contents SET salt = 'no salt'",
    "an entry": "UPDATE guardgraph_entries SET entry = replace(entry, '-', '_')",
    "the hash of an entry": "UPDATE guardgraph_entries SET hash = 'none'",
    "the run of an entry": "UPDATE guardgraph_entries SET run_id = 'another' || seq",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_that_was_changed_costs_no_other_one(change, tmp_path):
    """Whatever was changed of it, the first or the last of a store: it is unreplayable, and says what was changed."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    for number in range(1, 5):
        store.record(recording(number))
    with opened(tmp_path / "runs.db") as connection:
        connection.execute(f"{CHANGES[change]} WHERE seq IN (1, 4)")
    judged = what_if(create_rag_agent(), store.runs())
    assert [row.kind for row in judged.rows] == ["unreplayable", "same", "same", "unreplayable"]
    changed = "content" if "contents" in CHANGES[change] else "entry"
    assert [row.why for row in judged.rows[::3]] == [f"changed: its {changed} is not what was recorded"] * 2
    assert "unreplayable        2  changed 2" in judged.table()
    assert not store.verify().ok


@each_row(
    ("arguments", "message"),
    ({"candidate": 7}, r"^candidate: a guarded graph or module:factory is required; given: int$"),
    ({"candidate": "rag"}, r"^candidate: module:factory is required, such as .*; given: 'rag'$"),
    ({"candidate": triage(), "budget": STRICT}, r"^budget: for a candidate that is module:factory; "),
)
def test_a_candidate_that_is_none_is_refused(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        what_if(runs=[], **arguments)


def test_what_is_no_run_is_refused():
    with pytest.raises(InputError, match=r"^runs\.1: a stored run or a recording is required; given: str$"):
        what_if(triage(), [recorded(triage), "run"])
    with pytest.raises(InputError, match=r"^runs: stored runs, as of store\.runs\(\), or recordings; given: SqlStore$"):
        what_if(triage(), sql_store("sqlite:///none.db"))

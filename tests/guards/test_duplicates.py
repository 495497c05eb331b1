"""Copies among what was found: the most recent one is shown, and stands for the others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, QUESTION, agent_with
from runs import check_result

from guardgraph.guards.rag import drop_duplicates
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

TEXT = "For P1 tickets the first response target is 15 minutes, for all customers with an “Enterprise” plan."


def candidate(doc_id, text=TEXT, updated_at="2026-01-15", score=0.5, **fields):
    """Make a parsed candidate."""
    about = {"source": "support_policy", "title": "SLA", "section": "P1", "updated_at": updated_at}
    return {"doc_id": doc_id, **about, "text": text, "score": score, **fields}


def shown(*candidates):
    """Return the ids that stay, each with those that it stands for."""
    return [(item["doc_id"], item.get("duplicates", [])) for item in drop_duplicates(candidates, min_score=0.2)]


def test_the_most_recent_copy_stays_at_the_better_rank():
    """White space, case, quote marks and dashes make no difference; the others' ids are listed by rank."""
    found = [
        candidate("a", TEXT.replace(" ", "\n"), "2025-06-01"),
        candidate("b", "Refunds take 10 days.", "2024-01-01"),
        candidate("c", TEXT.upper(), updated_at="2025-01-01"),
        candidate("d", TEXT.replace("“", '"').replace("”", '"'), "15 January 2026"),
    ]
    assert shown(*found) == [("d", ["a", "c"]), ("b", [])]
    assert shown(*drop_duplicates(found, min_score=0.2)) == [("d", ["a", "c"]), ("b", [])]


@pytest.mark.parametrize(
    ("first", "second", "newer"),
    [
        ("2026-01-15", "2026-01-16", 1),
        ("2026-01-15", "14.01.2026", 0),
        ("2026-01-15T23:00:00-05:00", "2026-01-16T01:00:00Z", 0),
        ("", "2020-01-01", 1),
        ("2026-01-15", "2026-01-15", 0),
        ("2026-13-45", "2019-01-01", 1),
    ],
)
def test_what_is_recent(first, second, newer):
    """Dates compare as days and moments, however they are written; without one a candidate is the oldest."""
    [(kept, left_out)] = shown(candidate("0", updated_at=first), candidate("1", updated_at=second))
    assert (kept, left_out) == (str(newer), [str(1 - newer)])


def test_a_run_shows_and_lists_them():
    """The answerer sees one of them; citation details, trace and history list the ids of the others."""
    found = [
        {**CANDIDATE, "doc_id": "old", "text": TEXT, "updated_at": "2025-01-01"},
        {**CANDIDATE, "doc_id": "new", "text": f"{TEXT} ", "updated_at": "2026-01-01"},
    ]
    answerer = scripted_tool({"answer": "It is 15 minutes.", "citations": ["new"]}, loop=True)
    result = check_result(RAG_REASONS, agent_with(*found, answerer=answerer).invoke(QUESTION))
    assert [item["doc_id"] for item in answerer.calls[0]["context_chunks"]] == ["new"]
    [detail] = result["citation_details"]
    assert detail["duplicates"] == result["trace"][0]["duplicates"] == ["old"]
    assert result["history"][0]["retrieval"]["duplicates"] == ["old"]
    assert result["trace"][0]["candidates"] == 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "2024", "2026-01-15"]), st.sampled_from([0.1, 0.5])))
)
def test_any_candidates(drawn):
    """Nobody is lost; each left out is a copy of one that stays and is as recent; a second look finds no more."""
    found = [candidate(str(at), *fields) for at, fields in enumerate(drawn)]
    by_id, kept = {item["doc_id"]: item for item in found}, drop_duplicates(found, min_score=0.2)
    assert sorted(name for item in kept for name in (item["doc_id"], *item.get("duplicates", []))) == sorted(by_id)
    for item in kept:
        for name in item.get("duplicates", []):
            other = by_id[name]
            assert (other["text"], other["score"]) == (item["text"], 0.5)
            assert other["updated_at"] <= item["updated_at"]
    assert drop_duplicates(kept, min_score=0.2) == kept

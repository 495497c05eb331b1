"""What becomes of what a RAG agent found: who may read it, copies of it, its order, and what the question finds."""

from guard_cases import json_values, outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, FOUND, QUESTION, agent_with
from runs import check_result
from tables import each_row

from guardgraph import Caller
from guardgraph.guards.rag import retrieval as retrieval_guards
from guardgraph.guards.rag.retrieval import drop_duplicates, list_queries, merge_found, parse_ranking
from guardgraph.state.context import is_access_allowed, normalize_document_access
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

KEYS = ["tenant", "readers", "span", *CANDIDATE]
ANY_JSON = json_values(KEYS, ["public", "tenant", "user:ada", "group:support", "acme"])
READERS = st.lists(st.sampled_from(["public", "tenant", "user:ada", "group:sales", "wiki"]), max_size=3)
TENANTS, USERS = st.sampled_from([None, "acme", "other"]), st.sampled_from([None, "ada"])
CONTROLLED = st.fixed_dictionaries(
    {key: st.just(value) for key, value in CANDIDATE.items()},
    optional={"tenant": TENANTS | ANY_JSON, "readers": READERS | ANY_JSON, "span": st.just([0, 21]) | ANY_JSON},
)
GROUPS = st.lists(st.sampled_from(["support", "sales"]), max_size=2)
CALLERS = st.none() | st.builds(Caller, tenant=TENANTS, user=USERS, groups=GROUPS)


@settings(max_examples=80, deadline=None)
@given(ANY_JSON | st.lists(CONTROLLED | ANY_JSON, max_size=3), CALLERS, st.booleans())
def test_any_retriever_output_is_kept_or_refused(raw, caller, required):
    """What is kept has documents that the caller may read and no others; a refusal has nothing of what was returned."""
    details = retrieval_guards.explain_access_refusal(raw, caller=caller, required=required)
    if details is not None:
        assert set(details) == {"allowed", "given"}
        assert details["given"] in {"another document", "a document without readers", "a document with something else"}
        refused = outcome(retrieval_guards.check_candidate_access, raw, caller=caller, required=required)
        assert refused["stop"] == "access_revoked"
        return
    parsed = outcome(retrieval_guards.parse_candidates, raw, allowed_sources=["support_policy"], top_k=4)
    for item in parsed["value"].candidates if "value" in parsed else ():
        assert "readers" in item or not required
        if "readers" in item:
            assert is_access_allowed(normalize_document_access(item["tenant"], item["readers"]), caller)
        assert "span" not in item or item["span"][0] < item["span"][1]


OTHERS = {"tenant": "acme", "readers": ["user:bob"]}


@each_row(
    ("raw", "given"),
    ([{"tenant": "acme", "readers": ["user:ada"]}], None),
    ([OTHERS], "another document"),
    ([{"tenant": 5, "readers": ["public"]}], "a document with something else"),
    (OTHERS, "a document with something else"),
    ([["x", OTHERS]], "a document with something else"),
    (["x"], "a document without readers"),
    ([{"text": "x"}], "a document without readers"),
)
def test_a_refusal_says_which_kind_of_document_it_is_for(raw, given):
    """And no more; one that says nothing of its readers is refused only where access is required."""
    caller = Caller(tenant="acme", user="ada")
    for required in (True, False):
        details = retrieval_guards.explain_access_refusal(raw, caller=caller, required=required) or {"given": None}
        assert details["given"] == (given if required or given != "a document without readers" else None)


SLA_TEXT = "For P1 tickets the first response target is 15 minutes, for all customers with an “Enterprise” plan."


def candidate(doc_id, text=SLA_TEXT, updated_at="2026-01-15", score=0.5, **fields):
    about = {"source": "support_policy", "title": "SLA", "section": "P1", "updated_at": updated_at}
    return {"doc_id": doc_id, **about, "text": text, "score": score, **fields}


def shown(*candidates):
    return [(item["doc_id"], item.get("duplicates", [])) for item in drop_duplicates(candidates, min_score=0.2)]


def test_the_most_recent_copy_stays_at_the_better_rank():
    """White space, case, quote marks and dashes make no difference; the others' ids are listed by rank."""
    found = [
        candidate("a", SLA_TEXT.replace(" ", "\n"), "2025-06-01"),
        candidate("b", "Refunds take 10 days.", "2024-01-01"),
        candidate("c", SLA_TEXT.upper(), updated_at="2025-01-01"),
        candidate("d", SLA_TEXT.replace("“", '"').replace("”", '"'), "15 January 2026"),
    ]
    assert shown(*found) == [("d", ["a", "c"]), ("b", [])]
    assert shown(*drop_duplicates(found, min_score=0.2)) == [("d", ["a", "c"]), ("b", [])]


@each_row(
    ("first", "second", "newer"),
    ("2026-01-15", "2026-01-16", 1),
    ("2026-01-15", "14.01.2026", 0),
    ("2026-01-15T23:00:00-05:00", "2026-01-16T01:00:00Z", 0),
    ("", "2020-01-01", 1),
    ("2026-01-15", "2026-01-15", 0),
    ("2026", "2026-01-15", 1),
    ("January 2026", "2026-01-02", 1),
    ("2026-13-45", "2019-01-01", 1),
)
def test_what_is_recent(first, second, newer):
    """Dates compare as days and moments, however they are written; without one a candidate is the oldest."""
    [(kept, left_out)] = shown(candidate("0", updated_at=first), candidate("1", updated_at=second))
    assert (kept, left_out) == (str(newer), [str(1 - newer)])


def test_a_run_shows_and_lists_them():
    """The answerer sees one of them; citation details, trace and history list the ids of the others."""
    found = [
        {**CANDIDATE, "doc_id": "old", "text": SLA_TEXT, "updated_at": "2025-01-01"},
        {**CANDIDATE, "doc_id": "new", "text": f"{SLA_TEXT} ", "updated_at": "2026-01-01"},
    ]
    answerer = scripted_tool({"answer": "It is 15 minutes.", "citations": ["new"]}, loop=True)
    result = check_result(RAG_REASONS, agent_with(*found, answerer=answerer).invoke(QUESTION))
    assert [item["doc_id"] for item in answerer.calls[0]["context_chunks"]] == ["new"]
    [detail] = result["citation_details"]
    assert detail["duplicates"] == result["trace"][0]["duplicates"] == ["old"]
    assert (result["history"][0]["retrieval"]["duplicates"], result["trace"][0]["candidates"]) == (["old"], 2)


DRAWN = st.tuples(st.sampled_from("ab"), st.sampled_from(["", "2024", "2026-01-15"]), st.sampled_from([0.1, 0.5]))


@settings(max_examples=60, deadline=None)
@given(st.lists(DRAWN))
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


def test_ranks_are_merged_and_scores_stay():
    """What both find is first, with its higher score; `top_k` is of all; the same words are searched once."""
    assert list_queries("what is P1", "What is P1?") == ["what is P1"]
    assert list_queries("P1", "What is P1?") == ["P1", "What is P1?"]
    a, b, c = ({"doc_id": name, "text": name, "score": score} for name, score in (("a", 0.5), ("b", 0.4), ("c", 0.9)))
    merged = merge_found([[a, b], [c, {**b, "score": 0.6}]], 3)
    assert merged == [{**b, "score": 0.6}, a, c]
    assert merge_found([[a, b], [c]], 2) == [a, c]
    assert merge_found([["odd", 5, None], [{}]], 9) == ["odd", {}, 5, None]


RANKED = [{**item, "title": "", "section": "", "updated_at": ""} for item in FOUND]
RANKED_TEXTS = st.sampled_from([*(item["text"] for item in RANKED), "x", 5])
RETURNED = st.sampled_from([*RANKED, *RANKED, None]) | st.fixed_dictionaries(
    {"doc_id": st.sampled_from(["night", "x", None]), "text": RANKED_TEXTS}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(RETURNED, max_size=5) | st.integers())
def test_any_ranking(returned):
    """Whatever is returned: what passes are the candidates themselves, each once, and only those that were named."""
    done = outcome(parse_ranking, returned, candidates=RANKED)
    assert done.get("stop", "tool_invalid_output:rerank") == "tool_invalid_output:rerank"
    assert all(any(item is given for given in RANKED) for item in done.get("value", ()))
    if "value" in done:
        ids = [item["doc_id"] for item in done["value"]]
        assert ids == list(dict.fromkeys(item["doc_id"] for item in returned))

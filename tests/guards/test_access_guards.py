"""Whatever a retriever returns: what is kept may be read by the caller, and a refusal tells nothing of it."""

from __future__ import annotations

from guard_cases import json_values, outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE
from tables import each_row

from guardgraph import Caller
from guardgraph.guards import rag
from guardgraph.state.context import is_access_allowed, normalize_document_access


def context(caller, **policy):
    """Return the context of a run."""
    return {"caller": caller, "policy": policy}


# Guards


KEYS = ["tenant", "readers", "span", *CANDIDATE]
ANY_JSON = json_values(KEYS, ["public", "tenant", "user:ada", "group:support", "acme"])
CONTROLLED = st.fixed_dictionaries(
    {key: st.just(value) for key, value in CANDIDATE.items()},
    optional={
        "tenant": st.sampled_from([None, "acme", "other"]) | ANY_JSON,
        "readers": st.lists(st.sampled_from(["public", "tenant", "user:ada", "group:sales", "wiki"]), max_size=3)
        | ANY_JSON,
        "span": st.just([0, 21]) | ANY_JSON,
    },
)
CALLERS = st.none() | st.builds(
    Caller,
    tenant=st.sampled_from([None, "acme", "other"]),
    user=st.sampled_from([None, "ada"]),
    groups=st.lists(st.sampled_from(["support", "sales"]), max_size=2),
)


@settings(max_examples=80, deadline=None)
@given(ANY_JSON | st.lists(CONTROLLED | ANY_JSON, max_size=3), CALLERS, st.booleans())
def test_any_retriever_output_is_kept_or_refused(raw, caller, required):
    """What is kept has documents that the caller may read and no others; a refusal has nothing of what was returned."""
    details = rag.explain_access_refusal(raw, caller=caller, required=required)
    if details is not None:
        assert set(details) == {"allowed", "given"}
        assert details["given"] in {"another document", "a document without readers", "a document with something else"}
        assert outcome(rag.check_candidate_access, raw, caller=caller, required=required)["stop"] == "access_revoked"
        return
    parsed = outcome(rag.parse_candidates, raw, allowed_sources=["support_policy"], top_k=4)
    for item in parsed["value"].candidates if "value" in parsed else ():
        assert "readers" in item or not required
        if "readers" in item:
            assert is_access_allowed(normalize_document_access(item["tenant"], item["readers"]), caller)
        assert "span" not in item or item["span"][0] < item["span"][1]


OTHERS = {"tenant": "acme", "readers": ["user:bob"]}


@each_row(
    ("raw", "given"),
    [
        ([{"tenant": "acme", "readers": ["user:ada"]}], None),
        ([OTHERS], "another document"),
        ([{"tenant": 5, "readers": ["public"]}], "a document with something else"),
        (OTHERS, "a document with something else"),
        ([["x", OTHERS]], "a document with something else"),
        (["x"], "a document without readers"),
        ([{"text": "x"}], "a document without readers"),
    ],
)
def test_a_refusal_says_which_kind_of_document_it_is_for(raw, given):
    """And no more; one that says nothing of its readers is refused only where access is required."""
    caller = Caller(tenant="acme", user="ada")
    for required in (True, False):
        details = rag.explain_access_refusal(raw, caller=caller, required=required) or {"given": None}
        assert details["given"] == (given if required or given != "a document without readers" else None)

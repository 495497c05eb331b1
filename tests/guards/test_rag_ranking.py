"""What a reranker may do with candidates: put them in another order, and nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE

from guardgraph.guards.rag import parse_ranking
from guardgraph.guards.stop import Stop

FOUND = [
    {**CANDIDATE, "doc_id": name, "text": f"The {name} team answers P1 within 15 minutes.", "score": score}
    for name, score in (("night", 0.9), ("day", 0.8), ("week", 0.7))
]


GIVEN = [{**item, "title": "", "section": "", "updated_at": ""} for item in FOUND]
TEXTS = st.sampled_from([*(item["text"] for item in GIVEN), "x", 5])
RETURNED = st.sampled_from([*GIVEN, *GIVEN, None]) | st.fixed_dictionaries(
    {"doc_id": st.sampled_from(["night", "x", None]), "text": TEXTS}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(RETURNED, max_size=5) | st.integers())
def test_any_ranking(returned):
    """Whatever is returned: what passes are the candidates themselves, each once, and only those that were named."""
    try:
        ranked = parse_ranking(returned, candidates=GIVEN)
    except Stop as stop:
        if stop.reason != "tool_invalid_output:rerank":
            raise
        return
    assert all(any(item is given for given in GIVEN) for item in ranked)
    assert [item["doc_id"] for item in ranked] == list(dict.fromkeys(item["doc_id"] for item in returned))

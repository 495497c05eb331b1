"""What the RAG agent's guards decide of what was found and answered: candidates, context, citations."""

from __future__ import annotations

import math

from guard_cases import outcome, reference_cases, stop_of
from tables import each_row

from guardgraph.guards import rag

SOURCES = ("support_policy", "security_policy", "billing_policy")
CANDIDATE = {"doc_id": "a", "source": "support_policy", "text": "Uptime is 99.95 %.", "score": 0.5}
CHUNK = {**CANDIDATE, "title": "T", "section": "S", "updated_at": "2026-01-15"}


def chunk(doc_id, text="words", **fields):
    """Make a chunk of the context."""
    return {**CHUNK, "doc_id": doc_id, "text": text, **fields}


def parse_found(raw, allowed=SOURCES, top_k=4):
    """Parse candidates as the demo's context guard does."""
    return rag.parse_candidates(raw, allowed_sources=allowed, top_k=top_k).candidates


# What a retriever returned

BAD_CANDIDATES = {
    "no object": "a",
    "no doc_id": {key: value for key, value in CANDIDATE.items() if key != "doc_id"},
    **{f"doc_id {value!r}": {**CANDIDATE, "doc_id": value} for value in (None, "", " ", 5, ["a"])},
    **{f"text {value!r}": {**CANDIDATE, "text": value} for value in (None, "", "\n", 5, {})},
    **{f"source {value!r}": {**CANDIDATE, "source": value} for value in (None, "", "wiki", "operations_notes", 5, [])},
    **{
        f"score {value!r:.20}": {**CANDIDATE, "score": value}
        for value in (None, True, False, "0.5", -0.1, 1.01, math.nan, math.inf, -math.inf, 10**400, -(10**400), [])
    },
    **{
        f"{key} {value!r}": {**CANDIDATE, key: value} for key in ("title", "section", "updated_at") for value in (5, [])
    },
}


@each_row("case", BAD_CANDIDATES)
def test_a_bad_candidate(case):
    """A malformed candidate is left out by name beside others; alone, or of a source not asked for, it is a fault."""
    bad = BAD_CANDIDATES[case]
    stop = stop_of(parse_found, [bad])
    assert stop.reason == "tool_invalid_output:retrieve"
    if case.startswith(("source ",)):
        assert stop_of(parse_found, [CANDIDATE, bad]).reason == stop.reason
    else:
        parsed = rag.parse_candidates([bad, CANDIDATE], allowed_sources=SOURCES, top_k=4)
        assert parsed.candidates == parse_found([CANDIDATE])
        [told] = parsed.left_out
        assert {key: told[key] for key in told if key != "doc_id"} == stop.evidence["details"]
    assert stop.evidence["details"].keys() == {"allowed", "given"}
    assert len(stop.evidence["details"]["given"]) <= 120


def test_candidates():
    """Missing titles are empty, ids stripped, a score of 0 is no candidate, unknown keys are dropped."""
    raw = [{**CANDIDATE, "doc_id": " a "}, {**CANDIDATE, "doc_id": "b", "score": 0}, {**CHUNK, "score": 1, "note": "x"}]
    found = parse_found(raw)
    assert found == [{**CANDIDATE, "title": "", "section": "", "updated_at": ""}, {**CHUNK, "score": 1.0}]
    assert isinstance(found[1]["score"], float)


def test_rank_is_the_order_of_the_list():
    """A list keeps its order, whatever the scores, and is cut at top_k after zeros are dropped."""
    scores = [0, 0.2, 0.9, 0, 0.1, 0.9]
    raw = [{**CANDIDATE, "doc_id": str(place), "score": score} for place, score in enumerate(scores)]
    assert [item["doc_id"] for item in parse_found(raw, top_k=3)] == ["1", "2", "4"]
    assert parse_found(raw, top_k=0) == []


def test_every_candidate_is_judged():
    """A candidate behind top_k is judged too: a retriever that breaks its contract is not trusted at all."""
    raw = [CANDIDATE, {**CANDIDATE, "source": "wiki"}]
    assert stop_of(parse_found, raw, top_k=1).reason == "tool_invalid_output:retrieve"


# The context


def test_reference_packs():
    """Chunks are packed as the reference implementation does."""
    for case, expected in reference_cases("rag_context_pack"):
        packed = rag.pack_context(**case)
        assert {**packed, "chunks": [item["doc_id"] for item in packed["chunks"]]} == expected["value"]


# The answer


def test_reference_citations():
    """Citations are parsed as the reference implementation does, and then stop the run as the contract says."""
    for case, expected in reference_cases("rag_citations"):
        chunks, (valid, details, invalid, known) = case["context_chunks"], expected["value"]
        assert rag.parse_citations(case["citations"], chunks) == (valid, invalid)
        decided = outcome(rag.check_citations, case["citations"], chunks)
        if invalid:
            assert decided == {"stop": "invalid_answer:citations_out_of_context"}
            evidence = stop_of(rag.check_citations, case["citations"], chunks).evidence
            assert evidence == {"invalid_citations": invalid, "context_doc_ids": known}
        else:
            assert decided == ({"value": details} if valid else {"stop": "invalid_answer:missing_citations"})


def test_citations_out_of_context():
    """An unknown id stops the run, with what is unknown and what was there, both sorted, each once."""
    stop = stop_of(rag.check_citations, ["z", "a", "y ", "z", "A"], [chunk("b"), chunk("a"), chunk("a")])
    assert stop.reason == "invalid_answer:citations_out_of_context"
    assert stop.evidence == {"invalid_citations": ["A", "y", "z"], "context_doc_ids": ["a", "b"]}


@each_row(
    ("raw", "given"),
    [
        ({"doc_id": "a"}, '{"doc_id": "a"}'),
        (["a"], "a"),
        ([{"doc_id": 1, "text": "A"}], '{"doc_id": 1, "text": "A"}'),
        ([{"doc_id": "z", "text": "A"}], "z"),
        ([{"doc_id": "a", "text": "B"}], "B"),
    ],
)
def test_what_is_no_ranking_names_what_was_given(raw, given):
    """A list of candidates with the ids and the texts that it was given; anything else is the reranker's fault."""
    candidates = [{"doc_id": "a", "text": "A"}, {"doc_id": "b", "text": "B"}]
    stop = stop_of(rag.parse_ranking, raw, candidates=candidates)
    assert (stop.reason, stop.evidence["details"]["given"]) == ("tool_invalid_output:rerank", given)
    ranked = rag.parse_ranking([*reversed(candidates), candidates[0]], candidates=candidates)
    assert [item["doc_id"] for item in ranked] == ["b", "a"]


@each_row(("codes", "is_kept"), [(["de", "x" * 8], True), (["de", ""], False), (["x" * 99], False), ("de", False)])
def test_languages_of_a_candidate_are_a_list_of_codes(codes, is_kept):
    """What a base says of languages without a measured threshold is kept; anything else is a candidate left out."""
    item = {**CANDIDATE, "unmeasured": codes}
    found = rag.parse_candidates([item, {**CANDIDATE, "doc_id": "b"}], allowed_sources=SOURCES, top_k=4)
    assert [each.get("unmeasured") for each in found.candidates] == ([codes, None] if is_kept else [None])
    assert len(found.left_out) == (not is_kept)


def test_marks_of_an_answer_are_citations_of_their_sentences():
    """They are taken out of the text; one of what is not in the context stops the run."""
    chunks = [chunk("a"), chunk("b")]
    read = rag.read_answer("It is up. [a] It is fast. [b]", [], chunks, must_cite=True)
    assert (read.text, read.is_marked) == ("It is up. It is fast.", True)
    assert [sentence.ids for sentence in read.sentences] == [("a",), ("b",)]
    assert [item["doc_id"] for item in read.details] == ["a", "b"]
    stop = stop_of(rag.read_answer, "It is up. [z]", ["a"], chunks, must_cite=False)
    assert stop.reason == "invalid_answer:citations_out_of_context"
    assert stop.evidence == {"invalid_citations": ["z"], "context_doc_ids": ["a", "b"]}


@each_row("span", [[0, True], [5, 5], [-1, 3], [0], "x", [0.0, 5]])
def test_a_span_is_two_places_of_the_document(span):
    """Else the candidate is left out, with what is required."""
    found = [{**CANDIDATE, "span": each} for each in (span, [0, 5])]
    parsed = rag.parse_candidates([found[0], {**found[1], "doc_id": "b"}], allowed_sources=SOURCES, top_k=4)
    assert [item["span"] for item in parsed.candidates] == [[0, 5]]
    assert parsed.left_out[0]["allowed"].startswith("span: [start, end)")

"""What the RAG agent's guards decide of a question, an intent, candidates and an answer, whatever they are given."""

import json
import math

from guard_cases import json_values, outcome, reference_cases, stop_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.answers import check_text_is_said, is_partial, judge_answer, read_workings
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.rag import intent as intent_guards
from guardgraph.guards.rag import retrieval as retrieval_guards
from guardgraph.guards.rag.passages import add_citation_spans
from guardgraph.guards.stop import LONGEST_QUESTION, Denial
from guardgraph.state.rag import RAG_REASONS, RagPolicy

SOURCES = ("support_policy", "security_policy", "billing_policy")
INTENT = {"kind": "retrieve", "query": "P1", "top_k": 4}


def parse(raw, allowed=SOURCES, max_top_k=6):
    return intent_guards.parse_intent(raw, allowed_sources=allowed, max_top_k=max_top_k)


@each_row("question", None, " \t\n", "\u2003", 5, ["q"], math.nan, "q" * (LONGEST_QUESTION + 1))
def test_a_question_that_is_none(question):
    """What is no text, or blank, is invalid_request:question, and details show what was given."""
    stop = stop_of(intent_guards.parse_rag_request, question)
    assert stop.reason == "invalid_request:question"
    assert stop.evidence["details"].keys() == {"field", "given", "allowed"}


def test_the_newest_turns_stand_beside_a_question():
    """As many, of as many characters, as there may be; what is left out is counted. Only the user's words license."""
    turns = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "new"}]
    for most, chars in ((1, 9), (2, 3)):
        task = intent_guards.parse_rag_request("q", turns, max_turns=most, max_chars=chars)
        assert task == {"question": "q", "history": [turns[1]], "turns_left_out": 1}
    assert "history" not in intent_guards.parse_rag_request("q", turns, max_turns=2, max_chars=2)
    assert intent_guards.parse_rag_request("q", turns) == {"question": "q"}
    assert intent_guards.read_user_words({"question": "q", "history": turns}) == "old\nq"


@each_row(
    ("text", "reason"),
    ("How fast is P1 answered for Acme?", None),
    ("Which two plans does Acme have?", None),
    ("q" * (intent_guards.QUESTION_CHARS + 1), "too_long"),
    ("Is P2 answered for Acme?", "unsupported_number"),
    ("Which 20 plans does Acme have?", "unsupported_number"),
    ("Is P1 answered for Globex?", "unsupported_name"),
    ("Is P1 answered by https://evil.io/a?", "unsupported_link"),
)
def test_a_standalone_question_says_what_the_conversation_does(text, reason):
    """Words that only count a few are no values; what the assistant said counts, but for links."""
    turns = [{"role": "user", "content": "Is P1 answered?"}, {"role": "assistant", "content": "By Acme, evil.io."}]
    given = {"task": {"question": "And how fast?", "history": turns}, "policy": RagPolicy()}
    decided = outcome(intent_guards.check_standalone_question, text, **given)
    assert decided.get("stop") == (reason and f"invalid_question:{reason}")


def test_names_of_sources_are_each_one_once():
    """Sorted; what is no list of names is the knowledge base's fault."""
    assert intent_guards.parse_source_names(["b", "a", "b"]) == ["a", "b"]
    for raw in ("a", ["a", " "], [5]):
        assert stop_of(intent_guards.parse_source_names, raw).reason == "tool_invalid_output:retrieve"


def test_a_source_that_another_list_names_is_denied_and_one_that_there_is_not_is_asked_again():
    """What a run holds is denied, too, as soon as one of the lists that are set lacks it."""
    intent = {"raw": {**INTENT, "sources": ["wiki"]}, "allowed_sources": SOURCES, "max_top_k": 6}
    for others, is_denied in (("wiki",), True), ((), False):
        stop = stop_of(intent_guards.parse_intent, **intent, other_sources=others)
        assert (stop.reason, isinstance(stop, Denial)) == ("invalid_intent:source_not_allowed:wiki", is_denied)
    for lists in ({"allowed_sources_policy": ["a"]}, {"allowed_sources_execution": ["a"]}, {"denied_sources": ["b"]}):
        intent_guards.check_sources_switched_on(["a"], RagPolicy(**lists))
        assert stop_of(intent_guards.check_sources_switched_on, ["a", "b"], RagPolicy(**lists)).reason[-2:] == ":b"
    intent_guards.check_sources_switched_on(["b"], RagPolicy())


def test_reference_intents():
    """The policy guard decides as the reference implementation does, and says beside which sources there are."""
    for case, expected in reference_cases("rag_intent"):
        came = outcome(parse, case["raw"], case["allowed_sources_policy"], case["max_top_k"])
        assert {key: value for key, value in came.items() if key != "details"} == expected


def execute(intent, **lists):
    given_ = {"policy": SOURCES, "execution": SOURCES, "max_query_chars": 240, **lists}
    return intent_guards.check_intent_execution(intent, **given_)


def test_no_sources_named_are_those_on_both_lists():
    """A query may have max_query_chars characters and not one more; it is judged first."""
    stop = stop_of(execute, {**INTENT, "query": "q" * 241, "sources": ["wiki"]})
    assert stop.reason == "invalid_intent:query_too_long"
    assert execute({**INTENT, "query": "q" * 240}) == execute(INTENT)
    assert execute(INTENT) == sorted(SOURCES)
    assert execute(INTENT, execution=["wiki", "security_policy"]) == ["security_policy"]
    assert execute(INTENT, policy=()) == execute(INTENT, execution=()) == []
    assert execute({**INTENT, "sources": ["security_policy", "billing_policy"]}) == sorted(SOURCES)[:2]


@each_row(
    ("lists", "first"),
    ({"execution": ["billing_policy"]}, ":security_policy"),
    ({"policy": ["billing_policy"]}, ":security_policy"),
    ({"execution": []}, ":billing_policy"),
    ({"denied": ["support_policy"]}, "_listed:support_policy"),
)
def test_a_source_that_is_switched_off(lists, first):
    """A requested source must be on both lists, and on none that denies; the first in sorted order gives the reason."""
    assert stop_of(execute, {**INTENT, "sources": list(SOURCES)}, **lists).reason == f"source_denied{first}"


CANDIDATE = {"doc_id": "a", "source": "support_policy", "text": "Uptime is 99.95 %.", "score": 0.5}
CHUNK = {**CANDIDATE, "title": "T", "section": "S", "updated_at": "2026-01-15"}


def chunk(doc_id, text="words", **fields):
    return {**CHUNK, "doc_id": doc_id, "text": text, **fields}


def parse_found(raw, allowed=SOURCES, top_k=4):
    return retrieval_guards.parse_candidates(raw, allowed_sources=allowed, top_k=top_k).candidates


ODD_NUMBERS = (-0.1, 1.01, math.nan, math.inf, -math.inf, 10**400, -(10**400), [])
BAD_CANDIDATES = {
    "no object": "a",
    "no doc_id": {key: value for key, value in CANDIDATE.items() if key != "doc_id"},
    **{f"doc_id {value!r}": {**CANDIDATE, "doc_id": value} for value in (None, "", " ", 5, ["a"])},
    **{f"text {value!r}": {**CANDIDATE, "text": value} for value in (None, "", "\n", 5, {})},
    **{f"source {value!r}": {**CANDIDATE, "source": value} for value in (None, "", "wiki", "operations_notes", 5, [])},
    **{f"score {value!r:.20}": {**CANDIDATE, "score": value} for value in (None, True, False, "0.5", *ODD_NUMBERS)},
    **{f"{key} {odd!r}": {**CANDIDATE, key: odd} for key in ("title", "section", "updated_at") for odd in (5, [])},
    **{f"span {each!r}": {**CANDIDATE, "span": each} for each in ([0, True], [5, 5], [-1, 3], [0], "x", [0.0, 5])},
    **{f"codes {each!r:.20}": {**CANDIDATE, "unmeasured": each} for each in (["de", ""], ["x" * 99], "de")},
}


@each_row("case", *BAD_CANDIDATES)
def test_a_bad_candidate(case):
    """A malformed candidate is left out by name beside others; alone, or of a source not asked for, it is a fault."""
    bad = BAD_CANDIDATES[case]
    stop = stop_of(parse_found, [bad])
    assert stop.reason == "tool_invalid_output:retrieve"
    if case.startswith(("source ",)):
        assert stop_of(parse_found, [CANDIDATE, bad]).reason == stop.reason
    else:
        parsed = retrieval_guards.parse_candidates([bad, CANDIDATE], allowed_sources=SOURCES, top_k=4)
        assert parsed.candidates == parse_found([CANDIDATE])
        [told] = parsed.left_out
        assert {key: told[key] for key in told if key != "doc_id"} == stop.evidence["details"]
    assert stop.evidence["details"].keys() == {"allowed", "given"}
    assert len(stop.evidence["details"]["given"]) <= 120


def test_candidates():
    """Missing titles are empty, ids stripped, a score of 0 is no candidate, unknown keys are dropped."""
    own = {**CHUNK, "score": 1.0, "span": [0, 5], "unmeasured": ["d", "x" * 8]}
    raw = [{**CANDIDATE, "doc_id": " a "}, {**CANDIDATE, "doc_id": "b", "score": 0}, {**own, "score": 1, "note": "x"}]
    found = parse_found(raw)
    assert found == [{**CANDIDATE, "title": "", "section": "", "updated_at": ""}, own]
    assert isinstance(found[1]["score"], float)
    unusable = {**CANDIDATE, "doc_id": "c", "unusable": {"allowed": "x", "given": "y"}}
    parsed = retrieval_guards.parse_candidates([CANDIDATE, unusable], allowed_sources=SOURCES, top_k=4)
    assert ([item["doc_id"] for item in parsed.candidates], parsed.left_out[0]["given"]) == (["a"], "y")
    stop = stop_of(parse_found, [CANDIDATE, {**CANDIDATE, "tenant": 5, "readers": []}])
    assert (stop.reason, stop.evidence["details"]) == ("tool_invalid_output:retrieve", retrieval_guards.MALFORMED)
    kinds = retrieval_guards.UNCONTROLLED, retrieval_guards.FORBIDDEN, retrieval_guards.MALFORMED
    assert [*map(retrieval_guards.is_uncontrolled_access, kinds)] == [True, False, False]


def test_rank_is_the_order_of_the_list():
    """A list keeps its order, whatever the scores, and is cut at top_k after zeros are dropped and all are judged."""
    scores = [0, 0.2, 0.9, 0, 0.1, 0.9]
    raw = [{**CANDIDATE, "doc_id": str(place), "score": score} for place, score in enumerate(scores)]
    assert [item["doc_id"] for item in parse_found(raw, top_k=3)] == ["1", "2", "4"]
    assert parse_found(raw, top_k=0) == []
    stop = stop_of(parse_found, [*raw, {**CANDIDATE, "source": "wiki"}], top_k=1)
    assert stop.reason == "tool_invalid_output:retrieve"


def test_reference_packs():
    for case, expected in reference_cases("rag_context_pack"):
        packed = retrieval_guards.pack_context(**case)
        assert {**packed, "chunks": [item["doc_id"] for item in packed["chunks"]]} == expected["value"]


def test_reference_citations():
    """Citations are parsed as the reference implementation does, and then stop the run as the contract says."""
    for case, expected in reference_cases("rag_citations"):
        chunks, (valid, details, invalid, known) = case["context_chunks"], expected["value"]
        assert answer_guards.parse_citations(case["citations"], chunks) == (valid, invalid)
        decided = outcome(answer_guards.check_citations, case["citations"], chunks)
        if invalid:
            assert decided == {"stop": "invalid_answer:citations_out_of_context"}
            evidence = stop_of(answer_guards.check_citations, case["citations"], chunks).evidence
            assert evidence == {"invalid_citations": invalid, "context_doc_ids": known}
        else:
            assert decided == ({"value": details} if valid else {"stop": "invalid_answer:missing_citations"})


@each_row(
    ("raw", "given"),
    ({"doc_id": "a"}, '{"doc_id": "a"}'),
    (["a"], "a"),
    ([{"doc_id": 1, "text": "A"}], '{"doc_id": 1, "text": "A"}'),
    ([{"doc_id": "z", "text": "A"}], "z"),
    ([{"doc_id": "a", "text": "B"}], "B"),
)
def test_what_is_no_ranking_names_what_was_given(raw, given):
    """A list of candidates with the ids and the texts that it was given; anything else is the reranker's fault."""
    candidates = [{"doc_id": "a", "text": "A"}, {"doc_id": "b", "text": "B"}]
    stop = stop_of(retrieval_guards.parse_ranking, raw, candidates=candidates)
    assert (stop.reason, stop.evidence["details"]["given"]) == ("tool_invalid_output:rerank", given)
    ranked = retrieval_guards.parse_ranking([*reversed(candidates), candidates[0]], candidates=candidates)
    assert [item["doc_id"] for item in ranked] == ["b", "a"]


def test_marks_of_an_answer_are_citations_of_their_sentences():
    """They are taken out of the text; one of what is not in the context stops the run."""
    chunks = [chunk("a"), chunk("b")]
    read = answer_guards.read_answer("It is up. [a] It is fast. [b]", [], chunks, must_cite=True)
    assert (read.text, read.is_marked) == ("It is up. It is fast.", True)
    assert [sentence.ids for sentence in read.sentences] == [("a",), ("b",)]
    assert [item["doc_id"] for item in read.details] == ["a", "b"]
    read = answer_guards.read_answer("It is up. [a] It is red.", [], chunks, must_cite=True)
    assert [sentence.ids for sentence in read.sentences] == [("a",), ("a",)]
    stop = stop_of(answer_guards.read_answer, "It is up. [a]\n\nIt is red.", [], chunks, must_cite=True)
    assert (stop.reason, stop.evidence) == ("invalid_answer:uncited_sentence", {"sentence": "It is red."})
    assert not answer_guards.read_answer("It is up.", ["a", "b"], chunks, must_cite=False).is_marked
    assert answer_guards.read_answer("It is up.", ["a"], chunks, must_cite=False).is_marked
    stop = stop_of(answer_guards.read_answer, "It is up. [z]", ["a"], chunks, must_cite=False)
    assert stop.reason == "invalid_answer:citations_out_of_context"
    assert stop.evidence == {"invalid_citations": ["z"], "context_doc_ids": ["a", "b"]}
    assert stop_of(answer_guards.read_answer, "[a]", ["a"], chunks, must_cite=False).reason == "llm_empty"


@each_row(
    ("answer", "refused"),
    ("Ada: “All is well, says Bob.” [a]", None),
    ("Ada: “All is well, says Bob” [b]", "All is well, says Bob"),
    ("It is up. [a] Ada: “All is bad, says Bob” [a] [b]", "All is bad, says Bob"),
)
def test_a_quote_stands_in_what_its_sentence_cites(answer, refused):
    """Where each sentence has to cite, word for word; of another source it is refused, with its sentence."""
    chunks = [chunk("a", "Ada: “All is well, says Bob.” It is up."), chunk("b", "Ada: all.")]
    read = answer_guards.read_answer(answer, [], chunks, must_cite=True)
    rules = {"task": {"question": "q"}, "workings": [], "policy": RagPolicy(require_sentence_citations=True)}
    if refused is None:
        assert answer_guards.check_answer_sentences(read, **rules).verdict == "supported"
    else:
        stop = stop_of(answer_guards.check_answer_sentences, read, **rules)
        shown = {"unsupported": [refused], "sentence": f"Ada: “{refused}”"}
        assert (stop.reason, stop.evidence) == ("invalid_answer:quote_not_in_source", shown)


def test_what_is_read_and_judged_of_an_answer():
    """Workings are texts; links always stop; marks are partial where one is more than doubtful."""
    assert (read_workings({"workings": ["1 + 1"]}), read_workings({}), read_workings("x")) == (["1 + 1"], [], [])
    assert stop_of(read_workings, {"workings": ["1", 2]}).reason == "llm_invalid_schema"
    assert not is_partial([{"verdict": "doubtful"}])
    assert is_partial([{"verdict": "doubtful"}, {"verdict": "unsupported"}])
    read = answer_guards.read_answer("See evil.io.", ["a"], [chunk("a", "See.")], must_cite=False)
    judged = judge_answer(check(read, "q"), RagPolicy(on_unsupported="mark", on_doubt="mark"))
    assert (judged.stops, judged.refusal.evidence) == (True, {"unsupported": ["evil.io"]})
    assert judged.refusal.reason == "invalid_answer:unsupported_link"
    said = "It has 30 seats. Cats sing in choirs."
    read = answer_guards.read_answer(said, ["a"], [chunk("a", "It has 20 seats.")], must_cite=False)
    for on_doubt, told in (("ignore", ["20"]), ("mark", ["20", None])):
        shown = judge_answer(check(read, "q"), RagPolicy(on_doubt=on_doubt), said).refusal.answer["unverified"]
        assert [found.get("told") for item in shown for found in item["findings"]] == told
    assert stop_of(check_text_is_said, " q ", "invalid_answer:empty", echoes=["q"]).reason == "invalid_answer:empty"


def test_a_citation_says_which_sentences_rest_on_it_and_where_its_evidence_stands():
    """By marks, or by the words that they share; a source on which none rests has no place in its document."""
    chunks = [chunk("a", "It is up. It is red.", span=[10, 30]), chunk("b", "Ada pays the bill.")]
    chunks.append(chunk("c", "Bob left."))
    for answer, cited, by in (("It is red. [a] Ada pays. [b]", "c", "cited"), ("It is red. Ada pays.", "abc", "words")):
        read = answer_guards.read_answer(answer, [*cited], chunks, must_cite=by == "cited")
        first, second, third = (
            [detail[key] for key in ("doc_id", "spans_by", "answer_spans", "document_span", "passage_span")]
            for detail in sorted(add_citation_spans(read, check(read, "q")), key=lambda detail: detail["doc_id"])
        )
        assert first == ["a", by, [[0, 10]], [20, 30], [10, 30]]
        assert second == ["b", by, [[11, 20]], [0, 18], [0, 18]]
        assert third == ["c", by, [], None, [0, 9]]
    read = answer_guards.read_answer("Zoe sings. [c]", [], chunks, must_cite=True)
    assert add_citation_spans(read, check(read, "q"))[0]["document_span"] == [0, 9]


KEYS = ["kind", "query", "top_k", "sources", "doc_id", "source", "text", "score", "title", "section", "updated_at"]
ANY_JSON = json_values(KEYS, ["retrieve", "P1", *SOURCES])
POLICY = RagPolicy(on_doubt="ignore")


def check(read, question):
    return answer_guards.check_answer_sentences(read, task={"question": question}, workings=[], policy=POLICY)


@settings(max_examples=60, deadline=None)
@given(ANY_JSON | st.dictionaries(st.sampled_from(KEYS), ANY_JSON | st.sampled_from(["retrieve", "P1", 1])))
def test_any_intent(raw):
    """Any JSON value is a question or none; as intent it stops with a known reason, or gives one that is read again."""
    assert outcome(intent_guards.parse_rag_request, raw).get("stop") in (None, "invalid_request:question")
    result = outcome(parse, raw)
    if "stop" in result:
        assert RAG_REASONS.find(result["stop"]).family == "invalid_intent"
    else:
        assert outcome(parse, result["value"]) == result
        assert set(result["value"].get("sources", ())) <= set(SOURCES)


FIELDS = st.fixed_dictionaries({}, optional={key: ANY_JSON | st.just(value) for key, value in CHUNK.items()})


@settings(max_examples=60, deadline=None)
@given(ANY_JSON | st.lists(FIELDS | st.just(CANDIDATE), max_size=4), st.integers(0, 5))
def test_any_retriever_output(raw, top_k):
    """Any JSON value as a retriever's output stops, or gives candidates that can be packed and cited."""
    result = outcome(parse_found, raw, top_k=top_k)
    if "stop" in result:
        assert result["stop"] == "tool_invalid_output:retrieve"
        json.dumps(result["details"], allow_nan=False)
        return
    assert len(result["value"]) <= top_k
    assert all(0 < item["score"] <= 1 and item["source"] in SOURCES for item in result["value"])
    packed = retrieval_guards.pack_context(result["value"], min_score=0.2, max_chunks=3, max_chars=50)
    assert len(packed["chunks"]) <= 3
    assert sum(len(item["text"]) for item in packed["chunks"]) == packed["total_chars"] <= 50
    for item in packed["chunks"]:
        assert answer_guards.check_citations([item["doc_id"]], packed["chunks"])[0]["doc_id"] == item["doc_id"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=5) | st.sampled_from(["a", " b", "\ud800"])), st.text(), st.text())
def test_any_answer(citations, answer, text):
    """Any strings as citations, answer and text are decided with reasons of the catalogue."""
    chunks = [chunk("a", text), chunk("b", answer)]
    result = outcome(answer_guards.check_citations, citations, chunks)
    assert "value" in result or RAG_REASONS.find(result["stop"]).family == "invalid_answer"
    for cited in (chunks[:1], chunks):
        read = outcome(answer_guards.read_answer, answer, [item["doc_id"] for item in cited], cited, must_cite=False)
        if "value" in read:
            judged = judge_answer(check(read["value"], text), POLICY)
            assert judged.refusal is None or RAG_REASONS.find(judged.refusal.reason).family == "invalid_answer"
            hidden = judged.refusal is not None and judged.refusal.reason == "invalid_answer:active_markup"
            assert cited is not chunks or judged.refusal is None or hidden  # invisible signs are no source's to say

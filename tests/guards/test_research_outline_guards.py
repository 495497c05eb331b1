"""Outlines and answers in sections: whatever is proposed is read or refused."""

from guard_cases import json_values, outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from outlined_briefs import BODIES, FIRST, NODE, REFUNDS, RIGHT, SECTIONS, TITLES, answer_of, written
from research_cases import vendor
from tables import each_row

from guardgraph import ResearchPolicy
from guardgraph.guards.research import answer as guards
from guardgraph.guards.research.outline import LONGEST_TITLE, check_outline, parse_outline
from guardgraph.guards.stop import Stop
from guardgraph.state.research import RESEARCH_REASONS


@each_row(
    "raw",
    {"answer": "It is up.", "citations": ["n1"]},
    answer_of(*SECTIONS, titles=["Course", TITLES[1]]),
    answer_of(*SECTIONS, titles=TITLES[::-1]),
    answer_of(SECTIONS[0], titles=TITLES[:1]),
    answer_of(SECTIONS[0], " "),
    {"sections": ["x", "y"], "citations": []},
    {"sections": {"x": "y"}, "citations": []},
)
def test_an_answer_has_the_sections_of_its_outline(raw):
    result = written(raw)
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:sections", "synthesize")
    assert result["details"]["expected"] == TITLES


def test_a_brief_has_no_more_sections_than_it_may():
    """A limit that was tightened meanwhile holds; where sentences need not cite, none is told of a note."""
    limits = {"must_cite": False, "notes": NOTES, "max_answer_chars": 900}
    done = outcome(guards.parse_brief, answer_of(*SECTIONS), outline=TITLES, max_sections=1, **limits)
    assert done == {"stop": "invalid_answer:sections", "details": {"sections": 2, "limit": 1}}
    marked = {"answer": f"{FIRST} [n9]", "citations": ["n1"]}
    done = outcome(guards.parse_brief, marked, outline=[], max_sections=0, **limits)
    assert done == {"stop": "invalid_answer:citations_out_of_context"}
    plain = guards.parse_brief({"answer": FIRST, "citations": ["n1"]}, outline=[], max_sections=0, **limits)
    assert guards.describe_cited_spans(NOTES[0], plain) == {}
    read = guards.parse_brief(answer_of(*SECTIONS), outline=TITLES, max_sections=2, **limits)
    spans = [guards.describe_cited_spans(each, read)["answer_spans"] for each in NOTES[:2]]
    assert [read["answer"][start:end] for start, end in spans[0]] == [FIRST, NODE]
    assert [read["answer"][start:end] for start, end in spans[1]] == [RIGHT, REFUNDS]
    quoting = {**plain, "answer": "It said “All is well, they say.”", "citations": ["n1"]}
    quoting["sentences"] = [{"start": 0, "end": len(quoting["answer"]), "notes": ["n1"]}]
    done = outcome(guards.check_answer_sentences, quoting, question="q", notes=NOTES, pages={}, policy=ResearchPolicy())
    assert done["stop"] == "invalid_answer:quote_not_in_source"


NOTES = [
    {"id": f"n{at}", "claim": text, "quote": text, "url": url, "title": "News", "published_at": ""}
    for at, (text, url) in enumerate(zip(BODIES.values(), vendor(*BODIES), strict=True), 1)
]
RULES = {"question": "What failed?", "policy": ResearchPolicy()}
TITLED = ["A", "a ", "x" * 81, "<b>", "See https://evil.io", "3.4%", "99%", "Zephyr", "Initech"]
OUTLINES = st.builds(lambda titles: {"sections": titles}, st.lists(st.sampled_from(TITLED), max_size=4))


@settings(max_examples=200, deadline=None)
@given(json_values(["sections"], TITLED) | OUTLINES)
def test_any_value_is_an_outline_or_is_refused(raw):
    """What passes is a few short titles on one line, no two the same; all else has a listed reason."""

    def judge():
        titles = parse_outline(raw, max_sections=3)
        check_outline(titles, notes=NOTES, **RULES)
        return titles

    done = outcome(judge)
    if "value" in done:
        titles = done["value"]
        assert 1 <= len(titles) <= 3
        assert all(title == " ".join(title.split()) and 0 < len(title) <= LONGEST_TITLE for title in titles)
        assert len({title.casefold() for title in titles}) == len(titles)
    else:
        assert RESEARCH_REASONS.find(done["stop"]) is not None


PIECES = st.lists(
    st.sampled_from([*"\n.! “”[]", "\n\n", "[n1]", "[n2, n1]", "[n9]", "答", "- ", FIRST, NODE]), max_size=12
).map("".join)


@settings(max_examples=200, deadline=None)
@given(PIECES, PIECES)
def test_any_sections(first, second):
    """What passes has its texts where it says, no mark is left in them, and read again it is the same."""
    given_ = answer_of(first, second, citations=())
    try:
        read = guards.parse_sectioned_answer(**given_, outline=TITLES, notes=NOTES, max_answer_chars=900)
    except Stop:
        return
    one, two = read["sections"]
    assert (one["start"], two["start"] - one["end"], two["end"]) == (0, 2, len(read["answer"]))
    assert all(read["answer"][item["start"] : item["end"]].strip() for item in (one, two))
    assert not {"[n1]", "[n2, n1]"} & {*read["answer"].split()}
    shown = guards.show_marked_answer(read)
    again = guards.parse_sectioned_answer(**shown, outline=TITLES, notes=NOTES, max_answer_chars=900)
    assert (again["answer"], again["sections"]) == (read["answer"], read["sections"])


@each_row(
    ("raw", "reason"),
    ([], "not_object"),
    ({"sections": []}, "sections"),
    ({"sections": list("abcd")}, "too_many"),
    ({"sections": ["A", "a"]}, "title_twice"),
    ({"sections": ["..."]}, "title"),
    ({"sections": ["x" * (LONGEST_TITLE + 1)]}, "title_too_long"),
)
def test_an_outline_is_refused_by_what_is_wrong(raw, reason):
    """The titles themselves may be as long, and as many, as is allowed."""
    assert outcome(parse_outline, raw, max_sections=3)["stop"] == f"invalid_outline:{reason}"
    for title, wrong in (("99% up", "unsupported_number"), ("Initech", "unsupported_name")):
        assert outcome(check_outline, [title], notes=NOTES, **RULES)["stop"] == f"invalid_outline:{wrong}"
    assert parse_outline({"sections": ["x" * LONGEST_TITLE, " b  c", "d"]}, max_sections=3)[1:] == ["b c", "d"]

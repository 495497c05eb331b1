"""Whole runs of the Research agent: which sources are read, which notes are believed."""

import pytest
import research_cases as cases
from langgraph.checkpoint.memory import InMemorySaver
from runs import check_result
from tables import each_row

from guardgraph import ResearchBudget, create_research_agent
from guardgraph.nodes.offline.research import write_offline_brief as offline_answer
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader

TEN = ResearchBudget(max_urls=10)
JUDGED = {
    f"ftp://{cases.SLA_HOST}/a": "scheme",
    f"https://{cases.SLA_HOST}.evil.example/a": "policy",
    f"https://{cases.REGULATOR_HOST}/a": "execution",
    "https://xn--mnchen-3ya.example": "policy",
}


def test_every_url_is_judged_before_anything_is_read():
    """Denied sources are listed with their reasons, in order, and the reader never hears of them."""
    reader = cases.reads()
    parts = {"search": cases.hits(*JUDGED, *cases.vendor("b")), "reader": reader, "extractor": cases.quotes()}
    result = check_result(RESEARCH_REASONS, cases.research(budget=TEN, **parts, writer=lambda view: CITE_ONE))
    assert cases.read_urls(reader) == cases.vendor("b")
    assert result["aggregate"]["denied_sources"] == [cases.denied(url, reason) for url, reason in JUDGED.items()]
    assert result["history"][3]["denied_sources"] == result["aggregate"]["denied_sources"]
    assert result["trace"][3]["denied_sources"] == len(JUDGED)


CITE_ONE = {"answer": "It says something.", "citations": ["n1"]}
ODD = ["no url", None, 5, True, ["https://vendor.example.com/a"], {"url": "x"}, "data:text/plain,x", "/a", "https://["]


def test_odd_urls_never_end_the_run():
    """What is no absolute URL is dropped, one page in five spellings is one page, and the run goes on."""
    spellings = [
        f"https://{cases.SLA_HOST}/a?utm_source=x&gclid=1&fbclid=2&ref=3",
        f"HTTPS://{cases.SLA_HOST.upper()}:443/a/#part",
        f" https://{cases.SLA_HOST}/b/../a\n",
        f"https://{cases.SLA_HOST}/a?",
        f"https://{cases.SLA_HOST}/a",
    ]
    reader = cases.reads()
    parts = {"search": cases.hits(*ODD, *spellings), "reader": reader, "extractor": cases.quotes()}
    result = check_result(RESEARCH_REASONS, cases.research(budget=TEN, **parts, writer=lambda view: CITE_ONE))
    assert cases.read_urls(reader) == [spellings[0]]
    assert result["aggregate"]["denied_sources"] == []
    assert (result["aggregate"]["urls_found"], result["aggregate"]["urls_after_dedupe"]) == (len(ODD) + 5, 1)
    assert len(result["dropped_urls"]) == len(ODD)
    assert all(isinstance(shown, str) for shown in result["dropped_urls"])
    assert result["aggregate"]["dropped_urls"] == result["dropped_urls"]
    assert "failed_sources" not in {**result, **result["aggregate"]}


def test_what_cannot_be_read_does_not_count():
    """Pages that fail or say nothing are listed, use up none of max_read_pages, and the run goes on."""
    reader = cases.reads(a=LookupError("gone"), b={"body": " \n"}, c={"title": "c", "body": ""})
    parts = {"search": cases.hits(*cases.vendor(*"abcdefgh")), "reader": reader, "extractor": cases.quotes()}
    result = check_result(RESEARCH_REASONS, cases.research({"max_urls": 8}, **parts))
    assert cases.read_urls(reader) == cases.vendor(*"abcdef")
    assert result["aggregate"]["pages_read"] == 3
    assert [(item["url"], item["reason"]) for item in result["failed_sources"]] == list(
        zip(cases.vendor(*"abc"), ["read_failed", "empty_page", "empty_page"], strict=True)
    )
    assert result["failed_sources"][0]["details"].items() >= {"type": "LookupError", "message": "gone"}.items()
    assert result["aggregate"]["failed_sources"] == result["failed_sources"]
    assert "dropped_urls" not in {**result, **result["aggregate"]}


def test_a_reader_that_returns_no_page_has_broken_its_contract():
    """What is no page ends the run, even when other pages were read."""
    reader = cases.reads(b={"body": None})
    result = check_result(RESEARCH_REASONS, cases.research(search=cases.hits(*cases.vendor("a", "b")), reader=reader))
    assert (result["stop_reason"], result["phase"]) == ("tool_invalid_output:read_source", "read_extract")


PARTS = ("reader", "extractor", "writer")


def paused(before, context, **parts):
    """Run the demo up to a node, then resume it under a context; return the result and the calls after it."""
    made = {
        "reader": scripted_tool(make_recorded_reader(), loop=True),
        "extractor": scripted_tool(make_recorded_extractor(), loop=True),
        "writer": scripted_tool(offline_answer, loop=True),
        **parts,
    }
    graph = create_research_agent(checkpointer=InMemorySaver(), **made)
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(cases.asked(), config, interrupt_before=[before])
    earlier = {name: len(made[name].calls) for name in PARTS}
    result = check_result(RESEARCH_REASONS, graph.invoke(None, config, context=context))
    return result, {name: made[name].calls[earlier[name] :] for name in PARTS}


READING = dict.fromkeys(("source_guard", "read", "pages_guard", "extract", "notes_guard"), "read_extract")
WRITING = dict.fromkeys(("verify_guard", "synthesize", "answer_guard"), "synthesize")


@pytest.mark.paired
@pytest.mark.parametrize(("before", "phase"), [*READING.items(), *WRITING.items()])
@pytest.mark.parametrize("context", [cases.lists(execution=[]), cases.lists(policy=[])])
def test_a_source_switched_off_meanwhile_is_not_used(before, phase, context):
    """Wherever a run was interrupted, a resume under a tighter context stops it, and nobody is shown anything."""
    result, calls = paused(before, context)
    assert (result["stop_reason"], result["phase"]) == ("no_reliable_sources", phase)
    assert calls == {"reader": [], "extractor": [], "writer": []}
    shown = [item["url"] for item in result["denied_sources"]]
    assert sorted(shown) == sorted([cases.STATUS, cases.SLA, cases.REGULATOR, cases.RUMORS])
    assert result["failed_sources"] == []


def test_an_answer_from_a_source_that_is_off_is_not_given():
    """The answer was written when its source was on; when it is judged, the note is no longer there."""
    result, _ = paused("answer_guard", cases.lists(execution=[cases.SLA_HOST]))
    assert result["stop_reason"] == "invalid_answer:citation_unknown"
    assert result["invalid_citations"] == ["n1"]


@each_row(("most", "told"), (120, 3), (60, 3), (40, 2), (20, 1), (5, 1))
def test_the_offline_brief_says_less_where_all_is_too_long(most, told):
    """First without words of its own, then fewer claims, one at least, with what it cites."""
    claims = [f"Claim {letter} is here." for letter in "abc"]
    view = {"notes": [{"id": f"n{at}", "claim": claim} for at, claim in enumerate(claims)], "max_answer_chars": most}
    text = f"Research brief: {' '.join(claims)} Timeline values are estimates and may change."
    answer = text if most == 120 else " ".join(claims[:told])
    assert offline_answer(view) == {"answer": answer, "citations": [f"n{at}" for at in range(told)]}

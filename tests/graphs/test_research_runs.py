"""Whole runs of the Research agent: its demo, what its parts see, open lists, hints, notes that are left out."""

from copy import deepcopy

import pytest
from recorded_runs import Kept
from research_cases import ANSWER, NOTES, PAGES, PLAN, QUESTION, SAMPLE, denied, hits, quotes, reads, research
from runs import BOTH, check_result, masked, run
from tables import each_row

from guardgraph import ConfigurationError, ResearchBudget, ResearchPolicy, create_research_agent, replay
from guardgraph.state.research import DOMAIN_LISTS, RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool
from guardgraph.tools.demo import load_research_demo
from guardgraph.tools.recordings import make_recorded_reader

DEMO, READ = load_research_demo(), [*PAGES][:2]
MANY = [f"https://vendor.example.com/{number}" for number in range(12)]
DEMO_PATH = [
    *("request_guard", "plan", "plan_guard", "query_guard", "search", "hits_guard", "dedupe_guard", "source_guard"),
    *("read", "pages_guard", "extract", "notes_guard", "verify_guard", "synthesize", "answer_guard", "answered"),
]
TIERS = ({"scope": "suffix:gov", "tier": "official"},)
OPEN = ResearchPolicy(open=True, trust=TIERS, denied_domains=["domain:evil.example"])
URLS = ["https://a.example.org/a", "https://x.evil.example/b", "https://nasa.gov/c", "http://192.0.2.7:81/d"]
CITE_ONE = {"answer": "It says something.", "citations": ["n1"]}
DROP = ResearchPolicy(on_unsupported="mark")
MISQUOTED = {**NOTES[0], "quote": "Nothing of the kind stands in any page."}
NAMED = "verification_failed:quote_not_in_source"
TWO_NOTES = [MISQUOTED, NOTES[1]]


@pytest.mark.parametrize("mode", BOTH)
def test_the_demo(mode):
    """The demo's result is the sample's, but for what it says beyond it, such as path, times and passages."""
    result = check_result(RESEARCH_REASONS, run(create_research_agent(), DEMO, mode))
    expected = deepcopy(SAMPLE) | {"pattern": "research", "path": DEMO_PATH}
    for told in expected["history"]:
        told["elapsed_ms"] = "*"
    for told in (expected["history"][0], expected["history"][-1]):
        told["proposer"] = "offline"
    for key in ("passages", "timeline", "usage"):
        expected[key] = masked(result[key])
    assert masked(result) == expected


def test_what_the_parts_are_shown():
    planner, writer = scripted_tool(PLAN), scripted_tool(ANSWER)
    search, extractor = hits(*READ), scripted_tool(NOTES)
    reader = scripted_tool(lambda asked: PAGES[asked["url"]], loop=True)
    research(input=DEMO, planner=planner, writer=writer, search=search, reader=reader, extractor=extractor)
    seen = {name: PAGES[name] for name in READ}
    assert planner.calls == [{**DEMO, "request": DEMO["request"]["request"]}]
    assert search.calls == [{"query": QUESTION, "max_results": 12}]
    assert sorted(call["url"] for call in reader.calls) == sorted(READ)
    limits = {"max_page_seconds": 10.0, "max_wire_bytes": 10_000_000, "max_page_bytes": 20_000_000}
    told = {"hosts": ["official-status.example.com", "vendor.example.com"], "limits": limits}
    assert all({**told, "url": call["url"]} == call for call in reader.calls)
    assert extractor.calls == [{"goal": DEMO["goal"], "question": QUESTION, "pages": seen, "max_notes": 6}]
    [view] = writer.calls
    assert view.keys() == {"goal", "question", "notes", "max_answer_chars"}
    assert view["notes"] == [{"id": f"n{number}", **note} for number, note in enumerate(NOTES, start=1)]
    assert view["max_answer_chars"] == 850


def test_no_hint_raises_a_limit():
    """More URLs, pages, notes and characters than the deployment allows change nothing."""
    limits = {"max_urls": 20, "max_read_pages": 10, "max_notes": 20, "max_answer_chars": 2000}
    writer = scripted_tool({"answer": "x" * 851, "citations": ["n1"]})
    result = research(limits, search=hits(*MANY), reader=reads(), extractor=quotes(), writer=writer)
    assert (result["stop_reason"], writer.calls[0]["max_answer_chars"]) == ("invalid_answer:too_long", 850)
    assert [step.get("urls_after_dedupe", step.get("pages_read")) for step in result["trace"][2:4]] == [6, 3]


def run_open(hints=None, **given):
    reader = reads()
    parts = {"search": hits(*URLS), "reader": reader, "extractor": quotes(), "writer": lambda view: CITE_ONE}
    return check_result(RESEARCH_REASONS, research(hints, **{**parts, "policy": OPEN, **given})), reader.calls


def test_an_open_run_reads_every_host_that_is_not_denied():
    """The reader is told so; the most trusted host is read first; a search is told no hosts; it is replayed."""
    search, kept = hits(*URLS), Kept()
    search.takes_hosts = True
    result, calls = run_open(search=search, recorder=kept)
    assert {call["url"] for call in calls} == {URLS[0], URLS[2]}
    assert all((call["hosts"], call["denied"]) == (["*"], ["domain:evil.example"]) for call in calls)
    assert result["aggregate"]["denied_sources"] == [denied(URLS[1], "listed"), denied(URLS[3], "port")]
    assert result["citation_details"][0]["tier"] == "official"
    assert "hosts" not in search.calls[0]
    parts = {"extractor": quotes(), "writer": lambda view: CITE_ONE}
    assert replay(create_research_agent(policy=OPEN, **parts), kept.only) == result


@pytest.mark.parametrize("name", DOMAIN_LISTS)
def test_whoever_names_hosts_closes_an_open_policy(name):
    """A hint, a context: only these hosts are read then; an empty list allows nothing."""
    for hosts, urls in ((["nasa.gov"], [URLS[2]]), ([], [])):
        for asked_for in ({"hints": {name: hosts}}, {"context": {"policy": {name: hosts}}}):
            result, calls = run_open(**asked_for)
            assert [call["url"] for call in calls] == urls
            assert urls or result["stop_reason"] == "no_reliable_sources"


def test_false_is_tighter():
    """A context may close the policy, and none opens it; closed, only the lists' own defaults are left."""
    assert run_open(context={"policy": {"open": False}})[1] == []
    hosts = {"allowed_domains_policy": ["nasa.gov"], "allowed_domains_execution": ["nasa.gov"]}
    closed = ResearchPolicy(trust=TIERS, **hosts)
    assert [call["url"] for call in run_open(policy=closed, context={"policy": {"open": True}})[1]] == [URLS[2]]
    tightened = OPEN.tightened_by(ResearchPolicy(allowed_domains_execution=["nasa.gov"]))
    assert not tightened.open
    assert tightened.tightened_by(ResearchPolicy(open=True)) == tightened
    assert tightened.allowed_domains_policy == tightened.allowed_domains_execution == ("nasa.gov",)


@each_row(
    ("policy", "told"),
    (ResearchPolicy(open=True), r"policy\.open: true wants trust"),
    (OPEN.model_copy(update={"allowed_domains_policy": ("a.example",)}), "no list is allowed beside open: true"),
    (ResearchPolicy(allowed_domains_policy=["*"]), "says open: true"),
    (ResearchPolicy(denied_domains=["*"]), "no entry means every host"),
)
def test_an_open_policy_has_tiers_and_no_lists(policy, told):
    """And no entry of a list means every host: what is open says so in a field of its own."""
    with pytest.raises(ConfigurationError, match=told):
        create_research_agent(policy=policy)


def given_notes(proposed):
    return {"notes": [{key: note[key] for key in ("claim", "quote", "url")} for note in proposed]}


def test_one_misquoted_note_of_six_is_left_out():
    """The answer is of the rest, whose ids do not change, and the writer is shown nothing of the note."""
    writer = scripted_tool({"answer": "The incident is known.", "citations": ["n6"]})
    parts = {"extractor": scripted_tool([*[NOTES[0]] * 2, MISQUOTED, *[NOTES[1]] * 3]), "writer": writer}
    result = check_result(RESEARCH_REASONS, research(policy=DROP, **parts))
    assert (result["outcome"], result["citations"]) == ("grounded_research_answer", ["n6"])
    assert [note["id"] for note in writer.calls[0]["notes"]] == ["n1", "n2", "n4", "n5", "n6"]
    assert MISQUOTED["quote"] not in str(writer.calls)
    said = {key: MISQUOTED[key] for key in ("claim", "quote", "url")}
    assert result["dropped_notes"] == [{"id": "n3", **said, "reason": NAMED}]
    assert (result["aggregate"]["notes_count"], result["aggregate"]["verified_notes"]) == (6, 5)
    assert (result["trace"][4]["checked_notes"], result["trace"][4]["issues"]) == (6, 2)
    assert result["history"][4]["dropped_notes"] == [{"id": "n3", "reason": NAMED}]


@each_row(
    ("policy", "context", "taken"),
    (None, {"policy": {"on_unsupported": "mark"}}, TWO_NOTES),
    (DROP, {"policy": {"on_unsupported": "stop"}}, TWO_NOTES),
    (DROP, None, [MISQUOTED, MISQUOTED]),
)
def test_the_run_stops_as_before(policy, context, taken):
    result = research(policy=policy, context=context, extractor=scripted_tool(taken))
    assert (check_result(RESEARCH_REASONS, result)["stop_reason"], "dropped_notes" in result) == (NAMED, False)
    assert result["verification"]["ok"] is False


def ask_model(*said, most=2):
    model = ScriptedChatModel(PLAN, *map(given_notes, said), {"answer": "It is known.", "citations": ["n2"]})
    budget = ResearchBudget(max_attempts=most)
    result = research(model=model, reader=make_recorded_reader(), policy=DROP, budget=budget)
    return check_result(RESEARCH_REASONS, result)


def test_a_model_is_asked_again_before_a_note_is_left_out():
    """Its second notes are as good as any; what is still misquoted when no attempt is left is dropped."""
    mended = ask_model(TWO_NOTES, [NOTES[0], NOTES[1]])
    assert (mended["status"], [item["reason"] for item in mended["attempts"]]) == ("ok", [NAMED])
    assert "dropped_notes" not in mended
    for most in (1, 2, 3):
        left = ask_model(*[TWO_NOTES] * most, most=most)
        assert (left["status"], len(left.get("attempts", []))) == ("ok", most - 1)
        assert [note["id"] for note in left["dropped_notes"]] == ["n1"]

"""How far sources of a report are trusted: tiers, recency, and pages that agree or contradict each other."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from recorded_runs import Kept
from runs import check_result
from tables import each_row
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer

from guardgraph import (
    ConfigurationError,
    ResearchPolicy,
    create_research_agent,
    load_trust,
    replay,
    verify,
    web_reader,
    what_if,
)
from guardgraph.grammar import Stop
from guardgraph.guards.research.agreement import (
    Independence,
    SourceText,
    check_agreement,
    compare_claims,
    compare_notes,
)
from guardgraph.guards.research.trust import TrustTable, choose_reference_day, order_by_trust, rate_page
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.state.trust import TIERS

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

HOSTS = ("herald.test", "gazette.test", "blog.test")
THREAD = {"configurable": {"thread_id": "1"}}
QUESTION = "How many people did the fire at the Halden mill hurt?"
GIVEN = {
    "goal": "Report the fire.",
    "request": {"request": {"question": QUESTION, "report_date": "2026-03-20"}, "policy_hints": {}},
}
HERALD = "The fire at the Halden mill hurt 14 people on Monday evening."
GAZETTE = "Police said on Tuesday that the fire at the Halden mill had hurt 14 people."
MORE = "It began in the cellar of the old building, and no one knows why yet."
BLOG = "The fire at the Halden mill hurt 41 people on Monday evening."
TRUST = (
    {"scope": "domain:herald.test", "tier": "official", "owner": "Herald Group", "source": "press list"},
    {"scope": "gazette.test", "tier": "known"},
    {"scope": "blog.test", "tier": "doubtful", "date": "2026-01-01"},
)

ONE_OWNER = (
    {"scope": "herald.test", "tier": "known", "owner": "A B"},
    {"scope": "gazette.test", "tier": "known", "owner": "a  b"},
)


def page(text, day="2026-03-19", links="", more=""):
    """Return a page of a newspaper, its day declared in its head."""
    head = f'<title>News</title><meta property="article:published_time" content="{day}">' if day else "<title>N</title>"
    body = f"<main><h1>Fire</h1><p>{text}</p><p>{more}</p></main>{links}"
    return answer(f"<html><head>{head}</head><body>{body}</body></html>", content_type="text/html; charset=utf-8")


@pytest.fixture
def server():
    """Two newspapers that say the same, and a blog that does not."""
    pages = {"herald.test/": page(HERALD), "gazette.test/": page(GAZETTE), "blog.test/": page(BLOG)}
    with WebServer(pages) as server:
        yield server


def agent_of(server, *hosts, given=None, **policy):
    """Return an agent that finds the first page of each host and reads it from the server."""
    urls = [f"http://{host}/" for host in hosts or HOSTS]
    return create_research_agent(
        search=lambda asked: [{"url": url} for url in urls],
        reader=web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False),
        extractor=take_notes,
        policy=ResearchPolicy(
            allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS, check_names=False, **policy
        ),
        **(given or {}),
    )


def take_notes(asked):
    """Take the sentence of each page that speaks of the mill."""
    said = {
        url: next(line for line in each["body"].split("\n") if "mill" in line) for url, each in asked["pages"].items()
    }
    return [{"claim": text, "quote": text, "url": url, "title": "", "published_at": ""} for url, text in said.items()]


def ask(agent, *args, **kwargs):
    """Run the agent once, and hold what it returns against the catalogue."""
    return check_result(RESEARCH_REASONS, agent.invoke(GIVEN, *args, **kwargs))


def test_agreement_and_conflict_are_shown_of_each_claim(server):
    """Two newspapers agree, the blog conflicts with both; result, trace and history have it."""
    result = ask(agent_of(server, corroboration="mark"))
    said = {item["id"]: item for item in result["agreement"]}
    assert [said[name]["standing"] for name in ("n1", "n2", "n3")] == ["conflict", "conflict", "conflict"]
    assert said["n1"]["agrees_with"] == ["n2"]
    assert said["n1"]["independent"] == 2
    assert said["n1"]["conflicts_with"] == [{"id": "n3", "says": "41", "instead_of": "14"}]
    told = next(step for step in result["history"] if step["action"] == "compare_notes")
    assert told["agreement"] == result["agreement"]
    assert next(step for step in result["trace"] if "compared_notes" in step)["conflict"] == 3


def test_sources_that_have_to_agree_and_conflict_stop_the_run(server):
    """Both notes are shown, with quotes and values."""
    result = ask(agent_of(server, corroboration="require"))
    assert (result["stop_reason"], result["phase"]) == ("conflicting_sources", "verify")
    assert {note["quote"] for note in result["details"]["notes"]} <= {HERALD, GAZETTE, BLOG}
    assert BLOG in {note["quote"] for note in result["details"]["notes"]}


@pytest.mark.parametrize(
    ("pages", "trust"),
    [
        ({"gazette.test/": page(GAZETTE, links='<a href="http://www.herald.test/1">seen</a>')}, ()),
        ({"gazette.test/": answer(GAZETTE)}, ()),
        ({}, ONE_OWNER),
        ({host: page(HERALD, more=MORE) for host in ("herald.test/", "gazette.test/")}, ()),
    ],
    ids=["linked", "links unknown", "one owner", "a copy"],
)
def test_what_is_not_independent_does_not_corroborate(server, pages, trust):
    """A page that links the other, one whose links nobody knows, one owner, and a copied text."""
    server.pages |= pages
    result = ask(agent_of(server, *HOSTS[:2], corroboration="require", trust=trust))
    assert result["stop_reason"] == "insufficient_corroboration:2"
    assert [note["independent"] for note in result["details"]["notes"]] == [1, 1]


def test_trust_orders_reading_and_notes_and_stands_in_citations(server):
    """The most trusted host is read first, whatever the search's order; its number has tier and recency."""
    agent = agent_of(server, "blog.test", "gazette.test", "herald.test", trust=TRUST)
    result = ask(agent)
    cited = result["citation_details"]
    assert [item["url"].rstrip("/") for item in cited] == [f"http://{host}" for host in HOSTS]
    assert [item["tier"] for item in cited] == ["official", "known", "doubtful"]
    assert [item["trust"] for item in cited] == sorted((item["trust"] for item in cited), reverse=True)
    assert cited[0]["trust"] == pytest.approx(0.999, abs=0.001)
    assert cited[0]["trusted_by"] == {"owner": "Herald Group", "source": "press list"}


def test_what_is_trusted_too_little_is_not_even_asked_for(server):
    """A host under min_trust is denied before it is read; one whose page turns out too old, behind that."""
    server.pages["gazette.test/"] = page(GAZETTE, day="2019-01-01")
    result = ask(agent_of(server, trust=TRUST, min_trust=0.3))
    denied = {item["url"].rstrip("/"): item["reason"] for item in result["aggregate"]["denied_sources"]}
    assert denied == {"http://blog.test": "source_denied_trust", "http://gazette.test": "source_denied_trust"}
    assert not any("blog.test" in url for url in server.log)
    assert len(result["citation_details"]) == 1
    none = ask(agent_of(server, "blog.test", trust=TRUST, min_trust=0.3))
    assert none["stop_reason"] == "no_reliable_sources"


def test_a_recorded_run_is_weighed_as_it_was(server):
    """Replay is exact, long after and without the network; another trust table is decided exactly, or is unknown."""
    kept = Kept()
    agent = agent_of(server, trust=TRUST, corroboration="mark", given={"recorder": kept})
    result = ask(agent)
    recording = kept.only
    assert replay(agent, recording) == result
    stricter = agent_of(server, trust=TRUST, corroboration="require")
    assert what_if(stricter, [recording]).rows[0].kind == "changed"
    upside_down = tuple(
        {**entry, "tier": tier} for entry, tier in zip(TRUST, ("doubtful", "known", "official"), strict=True)
    )
    other = agent_of(server, trust=upside_down, corroboration="mark")
    assert what_if(other, [recording]).rows[0].kind == "unknown"


def waiting(server, **policy):
    """Run an agent until it asks a person, and return the agent and what it asks."""
    agent = agent_of(server, given={"checkpointer": InMemorySaver()}, corroboration="mark", **policy)
    agent.invoke(GIVEN, THREAD)
    [asked] = agent.get_state(THREAD).interrupts
    return agent, asked.value


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ({"high_risk_terms": ("Fire at the Halden",)}, {"term": "Fire at the Halden"}),
        ({"high_risk_scopes": ("domain:blog.test",)}, {"host": "blog.test"}),
        ({"high_risk_tiers": ("unrated",)}, {"tier": "unrated", "url": "http://herald.test"}),
    ],
)
def test_a_topic_of_high_risk_waits_for_a_person(server, policy, why):
    """Who sees answer, claims, quotes and conflicts, and why they are asked; what they approve ends the run."""
    agent, asked = waiting(server, **policy)
    shown = asked["shown"]
    assert why in [{**item, "url": item["url"].rstrip("/")} if "url" in item else item for item in shown["high_risk"]]
    assert {claim["quote"] for claim in shown["claims"]} == {HERALD, GAZETTE, BLOG}
    assert [claim["standing"] for claim in shown["claims"]] == ["conflict", "conflict", "conflict"]
    result = agent.invoke(Command(resume={"hash": asked["hash"], "decision": "approve"}), THREAD)
    assert (result["status"], result["approved_by"]) == ("ok", "unverified")
    assert result["answer"] == shown["brief"]["answer"]
    assert verify(agent) == []


def test_an_edited_brief_is_guarded_like_any_answer(server):
    """Their own words pass where the notes bear them out; others do not count, and the run goes on waiting."""
    said = {"answer": "Two newspapers say that the fire hurt 14 people.", "citations": ["n1", "n2"]}
    agent, asked = waiting(server, high_risk_terms=("fire",))
    edited = {"hash": asked["hash"], "decision": "edit"}
    for edit, reason in [
        ({**said, "answer": "The fire hurt 99 people."}, "invalid_answer:contradicts_source"),
        ({**said, "citations": ["n9"]}, "invalid_answer:citation_unknown"),
        ("just this", "review_rejected"),
    ]:
        assert agent.invoke(Command(resume={**edited, "edited": edit}), THREAD)["status"] == "waiting"
        [again] = agent.get_state(THREAD).interrupts
        assert reason in again.value["problem"]
    result = agent.invoke(Command(resume={**edited, "edited": said}), THREAD)
    assert (result["status"], result["answer"], result["citations"]) == ("ok", said["answer"], said["citations"])
    assert result["path"].count("answer_guard") == 2


def test_a_trust_file_is_read_or_refused_by_line(tmp_path):
    """Each finding has file, line, field, what was given and what is allowed."""
    good, bad = tmp_path / "trust.yaml", tmp_path / "bad.yaml"
    good.write_text("trust:\n  - {scope: domain:Herald.test, tier: official, owner: Herald Group, date: 2026-03-01}\n")
    assert load_trust(good) == (
        {"scope": "domain:herald.test", "tier": "official", "owner": "Herald Group", "date": "2026-03-01"},
    )
    bad.write_text("trust:\n  - scope: http://a.test\n    tier: gold\n  - {scope: a.test, tier: known, date: soon}\n")
    with pytest.raises(ConfigurationError) as refused:
        load_trust(bad)
    lines = str(refused.value).splitlines()
    assert [line.partition("bad.yaml:")[2].partition(": ")[0] for line in lines] == ["2", "3", "4"]
    assert "trust.1.date: a day such as 2026-03-14 is required; given: 'soon'" in lines[2]


def differ(one, other):
    """Return the first values in which two texts conflict, None where they do not."""
    return compare_claims(one, other).conflict


BASE = "The Halden mill employed 320 people in March 2024."


@each_row(
    ("other", "values"),
    [
        ("The Halden mill employed 230 people in March 2024.", ("320", "230")),
        ("In March 2024 the mill at Halden employed 410 people.", ("320", "410")),
        ("The Halden mill employed three hundred and twenty people in March 2024.", None),
        ("The Halden mill employed 230 people in March 2019.", None),
        ("The Halden mill employed at least 230 people in March 2024.", None),
        ("The Bergen mill employed 230 people in March 2024.", None),
        ("The Halden mill paid 230 million euros in March 2024.", None),
        ("", None),
    ],
)
def test_values_of_one_thing_conflict(other, values):
    """Another number of the same does; the same said otherwise, another year, a bound, and another thing do not."""
    assert differ(BASE, other) == values
    assert differ(other, BASE) == (values and values[::-1])


TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from([*BASE.split(), "14", "2019", "27 %", "since", "$5 million", "Olsen", "not", "."]), max_size=14
    ).map(" ".join),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_any_claims_are_compared_alike_from_both_sides(claims):
    """Whatever they say: nothing raises, conflicts and agreement are mutual, no claim has both with one note."""
    notes = [
        {"id": f"n{at}", "claim": text, "quote": text, "url": f"https://h{at}.test/", "title": "", "published_at": ""}
        for at, text in enumerate(claims)
    ]
    said = {item["id"]: item for item in compare_notes(notes, {})}
    for name, item in said.items():
        against = [other["id"] for other in item["conflicts_with"]]
        assert not {name} & {*against, *item["agrees_with"]}
        assert not {*against} & {*item["agrees_with"]}
        assert all(name in [back["id"] for back in said[other]["conflicts_with"]] for other in against)
        assert all(name in said[other]["agrees_with"] for other in item["agrees_with"])
        assert item["independent"] == 1  # nobody knows anything of the pages
    with pytest.raises(Stop):
        check_agreement([*said.values()], notes, min_independent=2)


def test_comparing_takes_time_that_is_bounded():
    """Sixty notes, the most that a report takes, are compared in seconds of this machine's."""
    notes = [
        {
            "id": f"n{at}",
            "claim": f"The Halden mill number {at} of the Olsen group employed {300 + at} people in March 2024.",
            "quote": "x" * 20,
            "url": f"https://h{at}.test/",
            "title": "",
            "published_at": "",
        }
        for at in range(60)
    ]
    began = time.process_time()
    compare_notes(notes, {})
    assert time.process_time() - began < 20


def source(name, *, body="", owner="", linked=()):
    """Return what is known of a page."""
    return SourceText(
        f"https://{name}/", name, owner, body or f"Text of {name}", None if linked is None else frozenset(linked)
    )


WIRE = "The mill at Halden burned down on Monday night and nobody knows why it began in the cellar of the old house. "


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (source("a.example.com"), source("b.example.com"), "same_domain"),
        (source("a.test", owner="x"), source("b.test", owner="x"), "same_owner"),
        (source("a.test", linked=None), source("b.test"), "unknown_links"),
        (source("a.test", linked=["www.b.test"]), source("b.test"), "linked"),
        (source("a.test", body=WIRE + "Our own reporter."), source("b.test", body="By wire. " + WIRE), "copied"),
        (
            source("a.test", body=WIRE),
            source("b.test", body="The fire in the mill began on Monday, say witnesses."),
            None,
        ),
    ],
)
def test_pages_that_are_one_source(one, other, why):
    """A domain, an owner, links or none that are known, and a copied text."""
    judged = Independence({one.url: one, other.url: other})
    assert judged.explain_dependence(one.url, other.url) == why
    assert judged.explain_dependence(other.url, one.url) == why
    assert judged.count_sources([one.url, other.url]) == (2 if why is None else 1)


@given(st.sampled_from([*TIERS.values(), 0.0]), st.text(max_size=12) | st.dates().map(str), st.dates().map(str))
def test_trust_is_a_number_from_0_to_what_the_tier_is_worth(worth, dated, as_of):
    """Whatever the dates say; a page of the future and one of no date have half of it."""
    assert 0 <= rate_page(worth, dated, as_of) <= worth <= 1
    assert rate_page(worth, "", as_of) == rate_page(worth, "never", as_of) == round(worth / 2, 3)


def test_the_narrowest_entry_counts():
    """A host before its domain, a domain before a suffix, a longer suffix before a shorter one."""
    table = TrustTable(
        [
            {"scope": "suffix:uk", "tier": "doubtful"},
            {"scope": "suffix:gov.uk", "tier": "known"},
            {"scope": "domain:office.gov.uk", "tier": "established"},
            {"scope": "www.office.gov.uk", "tier": "official"},
        ]
    )
    asked = ["www.office.gov.uk", "a.office.gov.uk", "b.gov.uk", "c.co.uk", "d.test"]
    tiers = [table.find_source_trust(f"https://{host}/x").tier for host in asked]
    assert tiers == ["official", "established", "known", "doubtful", "unrated"]
    assert table.find_source_trust("no url").tier == "unrated"
    assert order_by_trust([1, 13, 2, 3], lambda number: number % 10) == [13, 3, 2, 1]


def test_the_day_of_the_question_is_that_of_the_report_or_of_the_run():
    """What is no day says nothing, and nobody's clock is asked."""
    assert choose_reference_day("2026-03-14", "2026-11-01T10:00:00Z") == "2026-03-14"
    assert choose_reference_day("last week", "2026-11-01T10:00:00Z") == "2026-11-01"
    assert choose_reference_day(None, "") == ""

"""How far sources of a report are trusted: tiers, recency, and pages that agree or contradict each other."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from research_cases import note_pages
from runs import THREAD, check_result
from tables import each_row

from guardgraph import ConfigurationError, ResearchPolicy, create_research_agent, load_trust, verify
from guardgraph.state.research import RESEARCH_REASONS

HOSTS = ("herald.test", "gazette.test", "blog.test")
QUESTION = "How many people did the fire at the Halden mill hurt?"
REQUEST = {"question": QUESTION, "report_date": "2026-03-20"}
GIVEN = {"goal": "Report the fire.", "request": {"request": REQUEST, "policy_hints": {}}}
HERALD = "The fire at the Halden mill hurt 14 people on Monday evening."
GAZETTE = "Police said on Tuesday that the fire at the Halden mill had hurt 14 people."
BLOG = "The fire at the Halden mill hurt 41 people on Monday evening."
WRITTEN = f"{HERALD} [n1]"
ALONE = "The fire at the Halden mill began at noon in the cellar."
TRUST = (
    {"scope": "domain:herald.test", "tier": "official", "owner": "Herald Group", "source": "press list"},
    {"scope": "gazette.test", "tier": "known"},
    {"scope": "blog.test", "tier": "doubtful", "date": "2026-01-01"},
)
OWNERS = {"herald.test": "A B", "gazette.test": "a  b"}
ONE_OWNER = tuple({"scope": host, "tier": "known", "owner": owner} for host, owner in OWNERS.items())


def agent_of(*hosts, linked=(), blog=BLOG, day="2026-03-19", given=None, **policy):
    """Return an agent that finds a page of each host: two newspapers that say the same, and a blog that does not."""
    texts = dict(zip(HOSTS, (HERALD, GAZETTE, blog), strict=True))

    def read(request):
        host = request["url"].split("/")[2]
        links = [*linked] if host == "gazette.test" else []
        return {"title": "", "published_at": day, "body": texts[host], "linked_hosts": links}

    lists = {"allowed_domains_policy": HOSTS, "allowed_domains_execution": HOSTS}
    return create_research_agent(
        search=lambda asked: [{"url": f"http://{host}/"} for host in hosts or HOSTS],
        reader=read,
        extractor=note_pages,
        policy=ResearchPolicy(**lists, check_names=False, **policy),
        **(given or {}),
    )


def ask(agent):
    return check_result(RESEARCH_REASONS, agent.invoke(GIVEN))


def test_agreement_and_conflict_are_shown_of_each_claim():
    """Two newspapers agree, the blog conflicts with both; result, trace and history have it, or it is the stop."""
    result = ask(agent_of(corroboration="mark"))
    said = {item["id"]: item for item in result["agreement"]}
    assert [said[name]["standing"] for name in ("n1", "n2", "n3")] == ["conflict"] * 3
    conflicting = [{"id": "n3", "says": "41", "instead_of": "14"}]
    assert {"agrees_with": ["n2"], "independent": 2, "conflicts_with": conflicting}.items() <= said["n1"].items()
    told = next(step for step in result["history"] if step["action"] == "compare_notes")
    assert told["agreement"] == result["agreement"]
    assert next(step for step in result["trace"] if "compared_notes" in step)["conflict"] == 3
    stopped = ask(agent_of(corroboration="require"))
    assert (stopped["stop_reason"], stopped["phase"]) == ("conflicting_sources", "verify")
    assert {BLOG} < {note["quote"] for note in stopped["details"]["notes"]} <= {HERALD, GAZETTE, BLOG}


@pytest.mark.parametrize(("linked", "trust"), [(["www.herald.test"], ()), ((), ONE_OWNER)], ids=["linked", "one owner"])
def test_what_is_not_independent_does_not_corroborate(linked, trust):
    result = ask(agent_of(*HOSTS[:2], linked=linked, corroboration="require", trust=trust))
    assert result["stop_reason"] == "insufficient_corroboration:2"
    assert [note["independent"] for note in result["details"]["notes"]] == [1, 1]


def test_what_too_few_sources_say_is_left_out_where_the_policy_marks():
    """It is listed with its reason; a conflict is never dropped, and with nothing left the run ends."""
    marks = {"corroboration": "require", "on_unsupported": "mark"}
    result = ask(agent_of(blog=ALONE, **marks))
    few = "insufficient_corroboration:2"
    assert [(note["quote"], note["reason"]) for note in result["dropped_notes"]] == [(ALONE, few)]
    assert result["citations"] == ["n1", "n2"]
    stopped = agent_of(**marks), agent_of("herald.test", **marks), agent_of(blog=ALONE, corroboration="require")
    assert [ask(agent)["stop_reason"] for agent in stopped] == ["conflicting_sources", few, few]


def test_pages_of_too_little_trust_count_for_nothing():
    """Of their hosts, or so old; with none left the run ends, also where the least trust was raised meanwhile."""
    result = ask(agent_of(trust=TRUST, min_trust=0.7))
    denied = [item["url"].rstrip("/") for item in result["aggregate"]["denied_sources"]]
    assert denied == [f"http://{host}" for host in HOSTS[1:]]
    denied = {"url": "http://herald.test", "reason": "source_denied_trust", "trust": 0.5}
    for before, listed in (("pages_guard", [denied]), ("synthesize", []), ("answer_guard", [])):
        old = agent_of("herald.test", trust=TRUST, day="2001-01-01", given={"checkpointer": InMemorySaver()})
        old.invoke(GIVEN, THREAD, interrupt_before=[before])
        result = check_result(RESEARCH_REASONS, old.invoke(None, THREAD, context={"policy": {"min_trust": 0.7}}))
        assert (result["stop_reason"], result["denied_sources"]) == ("no_reliable_sources", listed)


def test_trust_orders_reading_and_notes_and_stands_in_citations():
    """The most trusted host is read first, whatever the search's order; its number has tier and recency."""
    cited = ask(agent_of("blog.test", "gazette.test", "herald.test", trust=TRUST))["citation_details"]
    assert [item["url"].rstrip("/") for item in cited] == [f"http://{host}" for host in HOSTS]
    assert [item["tier"] for item in cited] == ["official", "known", "doubtful"]
    assert [item["trust"] for item in cited] == sorted((item["trust"] for item in cited), reverse=True)
    assert cited[0]["trust"] == pytest.approx(0.999, abs=0.001)
    assert cited[0]["trusted_by"] == {"owner": "Herald Group", "source": "press list"}


def waiting(**policy):
    given = {"checkpointer": InMemorySaver(), "writer": lambda view: {"answer": WRITTEN, "citations": ["n1"]}}
    agent = agent_of(given=given, corroboration="mark", require_sentence_citations=True, **policy)
    return agent, agent.invoke(GIVEN, THREAD)["waiting_for"]


@each_row(
    ("policy", "why"),
    ({"high_risk_terms": ("Fire at the Halden",)}, {"term": "Fire at the Halden"}),
    ({"high_risk_scopes": ("domain:herald.test",)}, {"host": "herald.test"}),
    ({"high_risk_tiers": ("unrated",)}, {"tier": "unrated", "url": "http://herald.test"}),
)
def test_a_topic_of_high_risk_waits_for_a_person(policy, why):
    """Who sees answer, claims, quotes and conflicts, and why they are asked; what they approve ends the run."""
    agent, asked = waiting(**policy)
    shown = asked["shown"]
    assert why in [{**item, "url": item["url"].rstrip("/")} if "url" in item else item for item in shown["high_risk"]]
    standing = [[(item["quote"], item["standing"]) for item in shown[name]] for name in ("claims", "conflicts")]
    assert standing == [[(HERALD, "conflict")], [(BLOG, "conflict")]]
    result = agent.invoke(Command(resume={"hash": asked["hash"], "decision": "approve"}), THREAD)
    assert (result["status"], result["approved_by"]) == ("ok", "unverified")
    assert (result["answer"], shown["brief"]["answer"], verify(agent)) == (HERALD, WRITTEN, [])


def test_an_edited_brief_is_guarded_like_any_answer():
    """Their own words pass where the notes bear them out and they mark so; others do not count, and it waits on."""
    said = {"answer": "Two newspapers say that the fire hurt 14 people [n1, n2].", "citations": []}
    agent, asked = waiting(high_risk_terms=("fire",))
    edited = {"hash": asked["hash"], "decision": "edit"}
    for edit, reason in [
        ({**said, "answer": "The fire hurt 99 people [n1]."}, "invalid_answer:contradicts_source"),
        ({"answer": "The fire hurt 14 people.", "citations": ["n1", "n2"]}, "invalid_answer:uncited_sentence"),
        ({**said, "citations": ["n9"]}, "invalid_answer:citation_unknown"),
        ("just this", "review_rejected"),
    ]:
        assert reason in agent.invoke(Command(resume={**edited, "edited": edit}), THREAD)["waiting_for"]["problem"]
    result = agent.invoke(Command(resume={**edited, "edited": said}), THREAD)
    answer = "Two newspapers say that the fire hurt 14 people."
    assert (result["status"], result["answer"], result["citations"]) == ("ok", answer, ["n1", "n2"])
    assert result["path"].count("answer_guard") == 2


def test_a_trust_file_is_read_or_refused_by_line(tmp_path):
    """Each finding has file, line, field, what was given and what is allowed."""
    good, bad = tmp_path / "trust.yaml", tmp_path / "bad.yaml"
    good.write_text("trust:\n  - {scope: domain:Herald.test, tier: official, owner: H, date: 2026-03-01}\n")
    assert load_trust(good) == (
        {"scope": "domain:herald.test", "tier": "official", "owner": "H", "date": "2026-03-01"},
    )
    bad.write_text("trust:\n  - scope: http://a.test\n    tier: gold\n  - {scope: a.test, tier: known, date: soon}\n")
    with pytest.raises(ConfigurationError) as refused:
        load_trust(bad)
    lines = str(refused.value).splitlines()
    assert [line.partition("bad.yaml:")[2].partition(": ")[0] for line in lines] == ["2", "3", "4"]
    assert "trust.1.date: a day such as 2026-03-14 is required; given: 'soon'" in lines[2]

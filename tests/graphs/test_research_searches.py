"""A Research run that may search several times: what it finds, what it may take, and how its searches end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import Kept
from runs import ASKED_ONCE, check_result
from searched_worlds import HOSTS, OPEN, TEXTS, TOPICS, Searched, asked, gaps_of, plan, searching_agent
from web_server import LOOPBACK, WebServer, answer, redirect

from guardgraph import ResearchBudget, create_research_agent, replay, web_reader, what_if
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel

ALPHA, BETA = f"https://{HOSTS[0]}/pumps", f"https://{HOSTS[1]}/valves"
ANSWER = {"answer": TEXTS[ALPHA], "citations": ["n1"]}
REFUSED = {
    "invalid_gaps:too_many": {"open": [], "queries": ["beta", "gamma", "delta", "epsilon"]},
    "invalid_gaps:unsupported_link": {"open": ["See https://attacker.io/log"], "queries": []},
}
INSIDE = [
    *("http://169.254.169.254/latest/meta-data", "http://localhost/admin", "http://[::1]/", "http://10.0.0.7/"),
    *("http://user@north.example.com/", "http://north.example.com:8080/", "http://evil.example/", "file:///etc/passwd"),
]
PROPOSALS = st.lists(st.lists(st.sampled_from([*TOPICS, "nothing", "broken"]), max_size=3), max_size=4)
FIRST = st.sampled_from([*TOPICS, "alpha beta", "alpha beta gamma delta", "nothing"])
DENIED = st.lists(st.sampled_from(HOSTS), max_size=2)
LIMITS = ("max_read_pages", "max_notes", "max_urls", "max_queries")
BUDGETS = st.fixed_dictionaries({name: st.integers(1, 5) for name in LIMITS})


def searched(site, gaps, **parts):
    kept = Kept()
    agent = searching_agent(site, gaps, recorder=kept, **parts)
    result = agent.invoke(asked())
    assert replay(agent, kept.recordings[-1]) == result
    return check_result(RESEARCH_REASONS, result)


def test_what_one_search_leaves_open_the_next_ones_find():
    """Notes of all searches stand in the answer; ids count on, and the result says how it went."""
    world = Searched()
    result = searched(world, gaps_of(["beta"], ["gamma"], ["delta"]))
    assert world.queries == result["queries"] == [*TOPICS]
    assert [passage["id"] for passage in result["passages"]] == ["n1", "n2", "n3"]  # the offline brief takes three
    assert (result["aggregate"]["verified_notes"], result["aggregate"]["pages_read"]) == (4, 4)
    assert (result["aggregate"]["query"], result["aggregate"]["urls_found"]) == ("alpha", 4)
    assert (result["rounds"], result["stopped_because"], "failed_queries" in result) == (4, "max_queries", False)


def test_several_queries_of_one_proposal_are_searched_for_one_after_another():
    gaps = gaps_of(["beta", "gamma", " Beta "])
    result = searched(Searched(), gaps)
    assert (result["queries"], result["rounds"], len(gaps.views)) == (["alpha", "beta", "gamma"], 2, 2)
    assert result["stopped_because"] == "enough"


def test_what_was_found_and_not_read_is_shown_and_read_when_it_is_found_again():
    """Of two pages one is read by the first search, since others are to come; its URL counts once."""
    world, gaps = Searched(), gaps_of(["beta"])
    result = searched(world, gaps, first="alpha beta", queries=2, budget={"max_read_pages": 2})
    assert (gaps.views[0]["unread_urls"], world.urls) == ([BETA], [ALPHA, BETA])
    assert result["aggregate"]["urls_after_dedupe"] == 2


def test_a_later_search_that_fails_or_finds_nothing_is_listed():
    result = searched(Searched(failing=["beta"]), gaps_of(["beta", "quux", "gamma"]))
    failed = [(item["query"], item["reason"]) for item in result["failed_queries"]]
    assert failed == [("beta", "tool_invalid_output:search_sources"), ("quux", "no_sources_after_dedupe")]
    assert result["aggregate"]["verified_notes"] == 2
    alone = searched(Searched(failing=["alpha"]), gaps_of(["beta"]))
    assert (alone["stop_reason"], alone["phase"]) == ("tool_invalid_output:search_sources", "search")
    denied = [OPEN.model_copy(update={"denied_domains": (host,)}) for host in HOSTS[:2]]
    assert searched(Searched(), gaps_of(), policy=denied[0])["stop_reason"] == "no_reliable_sources"
    later = searched(Searched(), gaps_of(["beta"]), policy=denied[1])
    assert [item["url"] for item in later["aggregate"]["denied_sources"]] == [BETA]
    assert searched(Searched(), gaps_of(), first="quux")["stop_reason"] == "no_sources_after_dedupe"


@pytest.mark.parametrize("limit", ["max_notes", "max_urls", "max_read_pages"])
def test_an_answer_names_the_limit_that_ended_its_searches_where_the_policy_has_it_so(limit):
    rules = OPEN.model_copy(update={"on_limit": "partial"})
    result = searched(Searched(), gaps_of(["beta"], ["gamma"]), policy=rules, budget={limit: 2})
    assert (result["outcome"], result["ended_by"], len(result["queries"])) == ("grounded_partial", limit, 2)


def proposed(*replies, context=ASKED_ONCE):
    """Run an agent on a model that plans and takes a note, then replies."""
    world, kept = Searched(), Kept()
    note = {"claim": TEXTS[ALPHA], "quote": TEXTS[ALPHA], "url": ALPHA}
    model = ScriptedChatModel(plan("alpha")(None), {"notes": [note]}, *replies)
    given = {"policy": OPEN, "search": world.search, "reader": world.read, "recorder": kept}
    agent = create_research_agent(model, budget=ResearchBudget(max_queries=4), **given)
    result = agent.invoke(asked(), context=context)
    assert replay(agent, kept.recordings[-1]) == result
    return world, check_result(RESEARCH_REASONS, result)


@pytest.mark.parametrize("failure", [TimeoutError(), "no JSON", ""])
def test_a_proposal_that_fails_ends_the_searches_and_not_the_run(failure):
    _, result = proposed(failure, ANSWER)
    assert (result["stop_reason"], result["stopped_because"]) == ("success", "gaps_failed")
    assert next(entry for entry in result["trace"] if entry["phase"] == "gaps")["failed"].startswith("llm_")


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_proposal_is_asked_for_again(reason):
    world, result = proposed(REFUSED[reason])
    assert (result["stop_reason"], result["phase"], world.queries) == (reason, "gaps", ["alpha"])
    more = ({"open": [], "queries": ["beta"]}, {"notes": []}, {"open": [], "queries": []}, ANSWER)
    world, result = proposed(REFUSED[reason], *more, context=None)
    assert (result["stop_reason"], world.queries) == ("success", ["alpha", "beta"])
    assert [attempt["reason"] for attempt in result["attempts"]] == [reason]


@pytest.mark.parametrize("query", ["of acme-corp", "ACME-CORP", "ask j.doe@acme.io", "night\nshift", "project zephyr"])
def test_a_query_says_nothing_of_who_asks(query):
    """Nor a term that the policy denies; it is not asked for again, and no search is told."""
    caller = {"tenant": "acme-corp", "user": "j.doe@acme.io", "groups": ["night shift"]}
    context = {"caller": caller, "policy": {"denied_query_terms": ["Project Zephyr"]}}
    world, result = proposed({"open": [], "queries": [query]}, context=context)
    assert (result["stop_reason"], world.queries, "attempts" in result) == ("query_denied", ["alpha"], False)
    assert "zephyr" not in str(result.get("details")).casefold()


def test_the_offline_rule_searches_for_words_that_no_note_has():
    """Without a model a run asks on for what its question names and its notes do not."""
    world, limits = Searched(), ResearchBudget(max_queries=3, max_urls=3)
    agent = create_research_agent(search=world.search, reader=world.read, policy=OPEN, budget=limits)
    result = agent.invoke(asked("alpha beta gamma"))
    assert world.queries[0] == "alpha beta gamma"
    assert (world.queries[1], result["aggregate"]["verified_notes"]) == ("beta gamma", 3)


def test_no_query_and_no_later_hit_leads_inside():
    """What a proposal makes a search find is judged as the first hits are, at every hop; a query is text, no URL."""
    pages = {
        "north.example.com/pumps": answer(TEXTS[ALPHA]),
        "south.example.com/out": redirect("http://169.254.169.254/latest"),
        "south.example.com/valves": answer(TEXTS[BETA]),
    }
    with WebServer(pages) as server:

        def search(request):
            if request["query"] == "alpha":
                return [{"url": "http://north.example.com/pumps"}]
            later = [*INSIDE, "http://south.example.com/out", "http://south.example.com/valves"]
            return [{"url": url} for url in later]

        reader = web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False)
        gaps = gaps_of(["http://169.254.169.254/ beta"])
        result = searched(Searched(), gaps, search=search, reader=reader, queries=2)
    assert {*server.resolved} == {"north.example.com", "south.example.com"}
    assert "http://evil.example" in {item["url"] for item in result["aggregate"]["denied_sources"]}
    assert (len(result["aggregate"]["denied_sources"]), len(result["dropped_urls"])) == (len(INSIDE) - 1, 1)
    assert [item["reason"] for item in result["failed_sources"]] == ["redirect_denied"]
    assert result["aggregate"]["verified_notes"] == 2


@settings(max_examples=40, deadline=None)
@given(PROPOSALS, FIRST, DENIED, BUDGETS, BUDGETS)
def test_any_run_keeps_its_limits_and_is_decided_again(proposals, first, denied, budget, others):
    """No limit is exceeded, no URL read twice, none denied; a what-if says what a live run would, or is unknown."""
    policy = OPEN.model_copy(update={"denied_domains": tuple(denied)})

    def make(budget, **given):
        world = Searched(failing=["broken"])
        return world, searching_agent(world, gaps_of(*proposals), first=first, budget=budget, policy=policy, **given)

    world, agent = make(budget, recorder=(kept := Kept()))
    result = check_result(RESEARCH_REASONS, agent.invoke(asked()))
    assert len(world.queries) <= budget["max_queries"]
    assert len(world.urls) == len(set(world.urls)) <= min(budget["max_read_pages"], budget["max_urls"])
    assert not any(host in url for url in world.urls for host in denied)
    if result["status"] == "ok":
        assert result["aggregate"]["notes_count"] <= budget["max_notes"]
        assert ("queries" in result) == (budget["max_queries"] > 1)
    recording = kept.recordings[-1]
    assert replay(agent, recording) == result
    _, other = make({**budget, "max_read_pages": others["max_read_pages"], "max_queries": others["max_queries"]})
    row = what_if(other, [recording]).rows[0]
    live = other.invoke(asked())
    if row.kind == "same":
        assert (live["stop_reason"], live.get("answer")) == (result["stop_reason"], result.get("answer"))

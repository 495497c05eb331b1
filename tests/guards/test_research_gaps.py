"""What the Research agent's guards decide between searches: what is missing, when it ends, how a page is rated."""

from datetime import date, timedelta

from guard_cases import json_values, outcome, stop_of
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.research import risk, trust
from guardgraph.guards.research import searches as between
from guardgraph.guards.research.searches import share_limit
from guardgraph.state.research import RESEARCH_REASONS


@given(st.integers(0, 50), st.integers(0, 60), st.integers(1, 6))
def test_shares_of_a_limit_never_exceed_it(limit, used, searches):
    """Whatever each search leaves or takes, all of them together take no more than the limit, and can take it whole."""
    left = used
    for at in range(searches, 0, -1):
        share = share_limit(limit, used=left, searches_left=at)
        assert 0 <= share <= max(limit - left, 0)
        left += share
    assert left == max(limit, used)


def gaps(raw, asked=("old",), most=3, denied=("Falcon",), known=()):
    return between.parse_gaps(raw, asked=asked, max_queries=most, denied=denied, known=known)


@given(json_values(["open", "queries"], ["a", "x"]), st.integers(1, 4))
def test_any_proposal_is_read_or_refused(raw, most):
    """What passes has no more new queries than are left, each a text that was not asked before."""
    done = outcome(gaps, raw, asked=["a"], most=most, denied=["x"])
    if "stop" in done:
        assert RESEARCH_REASONS.find(done["stop"]).family == "invalid_gaps"
    else:
        assert len(done["value"].queries) <= most - 1
        assert all(query.strip() and query.casefold() != "a" for query in done["value"].queries)


@each_row(
    ("raw", "reason"),
    ([], "not_object"),
    ({"open": ["x" * 401]}, "open"),
    ({"open": ["x"] * 21}, "open"),
    ({"queries": "x"}, "queries"),
    ({"queries": ["x"] * 21}, "queries"),
    ({"queries": [" "]}, "query"),
    ({"queries": ["x" * 401]}, "query_too_long"),
    ({"queries": ["a", "b", "c"]}, "too_many"),
)
def test_a_proposal_of_what_is_missing_is_refused_by_what_is_wrong(raw, reason):
    """At most so many texts of at most so many characters, and no more new queries than are left."""
    assert stop_of(gaps, raw).reason == f"invalid_gaps:{reason}"


def test_what_is_missing_is_read():
    """The limits themselves are allowed; a query that was asked, in any case and spacing, is not asked again."""
    assert gaps({"open": [" x ", "y" * 400]}) == (["x", "y" * 400], [])
    assert gaps({"queries": ["OLD", "a  b", "A B", "c" * 400]}) == ([], ["a b", "c" * 400])
    assert gaps({"queries": ["x"] * 20}).queries == ["x"]
    assert stop_of(gaps, {"queries": ["the FALCON plan"]}).reason == "query_denied"
    assert gaps({"queries": ["my xfalcon, falcony plan"]}).queries == ["my xfalcon, falcony plan"]
    assert gaps({"queries": ["the falcon plan"]}, known=["What of Falcon?"]).queries == ["the falcon plan"]
    hidden = ("al\u200bice", "al\xadice", "alice_smith", "查询张伟公司", "acmes acme", "x#ok!x")
    for query in hidden:  # unseen letters and underscores hide no term, nor does a script without blanks
        assert stop_of(gaps, {"queries": [query]}, denied=["alice", "张伟", "acme", "#ok!"]).reason == "query_denied"


@each_row(
    ("queries", "used", "spent", "seconds", "end"),
    (3, (0, 9), 10.0, 100.0, "max_queries"),
    (2, (9, 9), 10.0, 100.0, "max_urls"),
    (2, (8, 9), 10.0, 31.0, None),
    (2, (8, 9), 10.0, 30.0, "time"),
)
def test_searches_end_at_a_limit_and_while_there_is_time_to_answer(queries, used, spent, seconds, end):
    """The time of the search before has to be left twice: for the next one and for the answer."""
    state = {**between.start_searches("q"), "queries": ["q"] * queries}
    given_ = {"max_queries": 3, "used": {"max_urls": used}, "spent": spent, "seconds": seconds}
    assert between.find_searches_end(state, **given_) == end


def test_a_search_that_begins_takes_the_query_that_waits_longest():
    """What waits is judged anew, and a search that brought nothing is listed by its query."""
    state = {**between.start_searches("a", hits=2, urls=["u"]), "waiting": ["b", "Falcon", "c"]}
    kept = between.drop_denied_queries(state, denied=["falcon"], known=[])
    assert (kept["waiting"], kept["failed_queries"]) == (["b", "c"], [{"query": "", "reason": "query_denied"}])
    begun = between.begin_next_search(kept, notes=4, spent=7.0)
    assert (begun["queries"], begun["waiting"], begun["notes"], begun["began"]) == (["a", "b"], ["c"], 4, 7.0)
    assert (begun["rounds"], begun["hits"], begun["urls"]) == (1, 2, ["u"])
    assert between.list_failed_query(begun, "no hits")["failed_queries"][1:] == [{"query": "b", "reason": "no hits"}]
    assert [between.count_searches_left(each, max_queries=3) for each in (None, state, begun)] == [3, 3, 2]


DAY = date(2026, 6, 1)


@given(st.integers(0, 2000), st.sampled_from([0.0, 0.3, 1.0]))
def test_a_page_is_rated_by_its_age(days, worth):
    """Half of a tier's worth has any page, the other half halves within a year; no date has none of it."""
    dated = (DAY - timedelta(days=days)).isoformat()
    expected = round(worth * (0.5 + 0.5 * 0.5 ** (days / 365)), 3)
    assert trust.rate_page(worth, dated, DAY.isoformat()) == expected
    assert trust.rate_page(worth, f"{dated}T10:00:00Z", f"{DAY.isoformat()}T09:00:00Z") == expected
    later = (DAY + timedelta(days=days + 1)).isoformat()
    for other in (later, "", "yesterday", dated[:-1]):
        assert trust.rate_page(worth, other, DAY.isoformat()) == round(worth / 2, 3)


@each_row(
    ("url", "tier"),
    ("https://data.example.org/a", "official"),
    ("https://www.example.org/a", "established"),
    ("https://a.b.gov.uk/", "known"),
    ("https://a.ac.uk/", "doubtful"),
    ("https://example.com/", trust.UNRATED),
)
def test_the_narrowest_entry_of_a_host_counts(url, tier):
    """A host before its domain, a domain before a suffix, a longer suffix before a shorter one."""
    tiers = {"data.example.org": "official", "domain:example.org": "established", "suffix:uk": "known"}
    tiers["suffix:ac.uk"] = "doubtful"
    table = trust.TrustTable({"scope": scope, "tier": name} for scope, name in tiers.items())
    assert table.find_source_trust(url).tier == tier
    assert trust.TrustTable([]).find_source_trust(url).tier == trust.UNRATED


def test_what_is_trusted_too_little_is_denied_and_the_most_trusted_comes_first():
    """The bound itself is enough; what is trusted alike stays in order."""
    assert [trust.explain_trust_denial(worth, 0.5) for worth in (0.5, 0.4)] == [None, "source_denied_trust"]
    assert trust.order_by_trust(["a1", "b2", "c1"], lambda item: float(item[1])) == ["b2", "a1", "c1"]
    assert trust.choose_reference_day("no day", "2026-06-01T10:00") == "2026-06-01"
    assert trust.choose_reference_day("2026-05-01", "2026-06-01") == "2026-05-01"
    assert trust.choose_reference_day(None, "") == ""


def test_a_topic_of_high_risk_is_told_by_words_hosts_and_tiers():
    """Words as wholes, hosts by scope, each once; a brief has one hash however its citations repeat."""
    urls = ["https://x.gov.uk/a", "https://x.gov.uk/b", "nowhere"]
    given_ = {"risky_terms": ["blood", "dose"], "risky_scopes": ["suffix:gov.uk"], "risky_tiers": ["doubtful"]}
    tiers = {urls[1]: "doubtful", urls[0]: "known"}
    found = risk.find_high_risks(["Bloody.", "The DOSE is 5 mg."], urls, tiers, **given_)
    assert found == [{"term": "dose"}, {"host": "x.gov.uk"}, {"tier": "doubtful", "url": urls[1]}]
    assert risk.find_high_risks(["Fine."], ["https://a.io"], {}, **given_) == []
    brief = {"answer": " It is so. ", "citations": ["n1", "n2", "n1"]}
    assert risk.hash_brief(brief) == risk.hash_brief({"answer": "It is so.", "citations": ["n1", "n2"]})
    assert risk.hash_brief(brief) != risk.hash_brief({**brief, "answer": "It is not."})


@each_row(
    ("edited", "is_read"),
    ({"answer": "It is so.", "citations": ["n1"], "workings": ["1 + 1 = 2"]}, True),
    ({"sections": [{"title": "A", "text": "x"}], "citations": []}, True),
    ({"answer": "It is so.", "citations": [1]}, False),
    ({"answer": 5, "citations": []}, False),
    ("It is so.", False),
)
def test_a_brief_in_a_persons_own_words_is_read_or_refused(edited, is_read):
    decided = outcome(risk.parse_edited_brief, edited)
    assert decided["value"] == edited if is_read else decided["stop"] == "review_rejected"

"""Entries of the domain lists: a host, a registrable domain, all hosts under a public suffix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research_cases import denied, hits, lists, quotes, read_urls, reads, research
from runs import check_result
from tables import each_row

from guardgraph import ConfigurationError, ResearchPolicy, create_research_agent
from guardgraph.grammar import Tightens
from guardgraph.guards.urls import explain_url_denial, list_allowed_hosts, make_host_scope
from guardgraph.plain.scopes import find_scope_problem, make_scope_set, meet_scopes
from guardgraph.state.research import RESEARCH_REASONS

CITE_ONE = {"answer": "It says something.", "citations": ["n1"]}


@each_row(
    ("entry", "meant", "others"),
    ("docs.example.com", ["docs.example.com"], ["example.com", "a.docs.example.com", "docs.example.com."]),
    ("domain:example.com", ["example.com", "a.b.example.com"], ["badexample.com", "example.com.evil.org", "com"]),
    ("domain:example.co.uk", ["www.example.co.uk", "example.co.uk"], ["other.co.uk", "co.uk"]),
    ("domain:alice.github.io", ["alice.github.io", "x.alice.github.io"], ["bob.github.io", "github.io"]),
    ("domain:amazonaws.com", ["amazonaws.com", "docs.amazonaws.com"], ["somebody.s3.amazonaws.com"]),
    ("domain:münchen.de", ["www.xn--mnchen-3ya.de"], ["muenchen.de"]),
    ("suffix:gov", ["gov", "www.nasa.gov"], ["gov.uk", "nasa.gov.evil.org", "nasagov", "www.nasa.gov."]),
    (" SUFFIX:gov", [], ["nasa.gov", "gov"]),
    ("domain:1.2.3.4", [], ["1.2.3.4", "3.4"]),
)
def test_an_entry_means_these_hosts_and_no_others(entry, meant, others):
    """By labels and never by letters; a suffix under which a company lets others have names parts their owners."""
    found = make_scope_set((entry,))
    assert [host for host in [*meant, *others] if found.has_host(host)] == meant


@each_row(
    ("entry", "said"),
    ("*.example.com", "did you mean 'domain:example.com'?"),
    ("domain:docs.example.com", "did you mean 'domain:example.com'?"),
    ("domain:gov", "did you mean 'suffix:gov'?"),
    ("domain:github.io", "did you mean 'suffix:github.io'?"),
    ("suffix:example.com", "a public suffix, such as gov, is required behind suffix:"),
    ("suffix:example.com", "did you mean 'domain:example.com'?"),
    ("suffix:*", "a public suffix"),
    ("Domain:example.com", "a host, domain:NAME or suffix:NAME is required"),
)
def test_an_entry_that_means_nothing_is_refused(entry, said):
    """The error says what is required, and what may have been meant."""
    assert said in find_scope_problem(entry)
    with pytest.raises(ConfigurationError, match=r"^policy\.allowed_domains_policy: "):
        create_research_agent(policy=ResearchPolicy(allowed_domains_policy=[entry]))


ENTRIES = (
    *("example.com", "docs.example.com", "a.docs.example.com", "nasa.gov", "www.nasa.gov", "a.s3.amazonaws.com"),
    *("domain:example.com", "domain:nasa.gov", "domain:amazonaws.com", "domain:a.s3.amazonaws.com", "1.2.3.4"),
    *("suffix:com", "suffix:gov", "suffix:s3.amazonaws.com", "suffix:co.uk", "suffix:uk", "domain:example.co.uk", "*"),
)
HOSTS = (
    *("example.com", "docs.example.com", "a.docs.example.com", "x.example.com", "other.com", "com", "nasa.gov"),
    *("www.nasa.gov", "gov", "amazonaws.com", "x.amazonaws.com", "s3.amazonaws.com", "a.s3.amazonaws.com"),
    *("b.a.s3.amazonaws.com", "c.s3.amazonaws.com", "example.co.uk", "www.example.co.uk", "co.uk", "uk", "1.2.3.4"),
)
LISTS = st.lists(st.sampled_from(ENTRIES), max_size=5).map(lambda items: tuple(dict.fromkeys(items)))


def _list_meant(entries):
    return {host for host in HOSTS if make_scope_set(tuple(entries)).has_host(host)}


@given(LISTS, LISTS, LISTS)
def test_two_lists_meet_in_the_hosts_that_both_mean(one, other, third):
    """Whichever stands first, however three are grouped, and twice is as good as once."""
    met = meet_scopes(one, other)
    assert _list_meant(met) == _list_meant(one) & _list_meant(other) == _list_meant(meet_scopes(other, one))
    assert meet_scopes(met, one) == meet_scopes(met, other) == met
    assert meet_scopes(one, one) == one
    grouped = meet_scopes(met, third), meet_scopes(one, meet_scopes(other, third))
    assert sorted(grouped[0]) == sorted(grouped[1])
    assert _list_meant(list_allowed_hosts(policy=one, execution=other)) == _list_meant(met)


@given(LISTS, LISTS)
def test_a_difference_is_tighter_where_all_of_it_is_covered(ours, theirs):
    """So `policy diff` says of a list that it is looser, tighter, equal or other by the hosts that it means."""
    all_within = all(make_scope_set(ours).covers(scope) for scope in make_scope_set(theirs).scopes)
    all_around = all(make_scope_set(theirs).covers(scope) for scope in make_scope_set(ours).scopes)
    kinds = {(True, True): "equal", (True, False): "tighter", (False, True): "looser", (False, False): "other"}
    assert Tightens.scopes.compared(ours, theirs) == kinds[all_within, all_around]


def test_a_run_reads_what_entries_of_both_lists_mean():
    """The request's hints, the policy and the context narrow in the same way, and results name what was denied."""
    urls = [f"https://{host}/a" for host in ("docs.example.com", "example.com", "www.nasa.gov", "evil.com.example.org")]
    wide = ResearchPolicy(
        allowed_domains_policy=["domain:example.com", "suffix:gov"],
        allowed_domains_execution=["suffix:com", "suffix:gov"],
    )

    def run(hints=None, **given):
        reader = reads()
        parts = {"search": hits(*urls), "reader": reader, "extractor": quotes(), "writer": lambda view: CITE_ONE}
        return check_result(RESEARCH_REASONS, research(hints, policy=wide, **parts, **given)), read_urls(reader)

    result, read = run()
    assert (result["status"], read) == ("ok", urls[:3])
    assert result["aggregate"]["denied_sources"] == [denied(urls[3], "policy")]
    assert run({"allowed_domains_policy": ["docs.example.com", "evil.com.example.org"]})[1] == urls[:1]
    assert run({"allowed_domains_policy": ["suffix:gov"]})[1] == urls[2:3]
    assert run(context=lists(execution=["domain:nasa.gov"]))[1] == urls[2:3]
    assert run({"allowed_domains_policy": ["domain:com"]})[0]["stop_reason"] == "no_reliable_sources"


@each_row("spelling", "evil.example.com", "EVIL.example.com.", "domain:example.org", "suffix:org")
def test_a_denied_entry_wins_over_wider_ones(spelling):
    """In every spelling of an entry and of a host; a point at the end of a name is no way around."""
    policy = ["domain:example.com", "suffix:org", "evil.example.com."]
    wide = {"policy": policy, "execution": ["suffix:com", "suffix:org"]}
    for url in ("https://evil.example.com/x", "https://evil.example.com./x", "https://a.example.org/"):
        is_meant = ("evil" in spelling.lower()) == ("evil" in url)
        is_listed = explain_url_denial(url, **wide, denied=[spelling]) == "source_denied_listed"
        assert is_listed == is_meant
    assert explain_url_denial("https://docs.example.com/", **wide, denied=[spelling]) is None


@given(LISTS, LISTS, LISTS)
def test_a_reader_is_told_what_is_denied_within_wider_entries(policy, execution, denied):
    """By what it is told, it may go where the lists allow and nothing denies, and nowhere else."""
    told = make_host_scope(policy=policy, execution=execution, denied=denied)
    for host in HOSTS:
        lists = {"policy": told["hosts"], "execution": told["hosts"], "denied": told.get("denied", ())}
        may_go = explain_url_denial(f"https://{host}/", **lists) is None
        allowed = explain_url_denial(f"https://{host}/", policy=policy, execution=execution, denied=denied) is None
        assert may_go == allowed

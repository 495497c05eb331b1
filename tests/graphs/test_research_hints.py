"""Which hosts and how much of them a Research run may read: hints, contexts, and a policy that is open."""

from __future__ import annotations

import pytest
from recorded_runs import Kept
from research_cases import asked, denied, hits, quotes, reads, research, vendor
from runs import check_result

from guardgraph import ConfigurationError, ResearchPolicy, create_research_agent, replay
from guardgraph.guards.urls import explain_url_denial
from guardgraph.state.research import DOMAIN_LISTS, RESEARCH_REASONS


def test_no_hint_raises_a_limit():
    """More URLs, pages, notes and characters than the deployment allows change nothing."""
    limits = {"max_urls": 20, "max_read_pages": 10, "max_notes": 20, "max_answer_chars": 2000}
    parts = {"search": hits(*vendor(*"abcdefghijkl")), "reader": reads(), "extractor": quotes()}
    shown = []
    writer = lambda view: shown.append(view) or {"answer": "x" * 851, "citations": ["n1"]}  # noqa: E731
    result = research(limits, writer=writer, **parts)
    assert result["stop_reason"] == "invalid_answer:too_long"
    assert shown[0]["max_answer_chars"] == 850
    assert [step.get("urls_after_dedupe", step.get("pages_read")) for step in result["trace"][2:4]] == [6, 3]


TIERS = ({"scope": "suffix:gov", "tier": "official"},)
OPEN = ResearchPolicy(open=True, trust=TIERS, denied_domains=["domain:evil.example"])
URLS = ["https://a.example.org/a", "https://x.evil.example/b", "https://nasa.gov/c", "http://192.0.2.7:81/d"]
ALLOWED = {URLS[0], URLS[2]}
CITE_ONE = {"answer": "It says something.", "citations": ["n1"]}


def run(hints=None, **given):
    """Return the result of a run over four URLs, and the requests that its reader was given."""
    reader = reads()
    parts = {"search": hits(*URLS), "reader": reader, "extractor": quotes(), "writer": lambda view: CITE_ONE}
    result = research(hints, **{**parts, "policy": OPEN, **given})
    return check_result(RESEARCH_REASONS, result), reader.calls


def test_an_open_run_reads_every_host_that_is_not_denied():
    """The reader is told so; the most trusted host is read first; a search is told no hosts; it is replayed."""
    told = []

    def search(request):
        told.append(request)
        return [{"url": url} for url in URLS]

    search.takes_hosts = True
    kept = Kept()
    parts = {"reader": reads(), "extractor": quotes(), "writer": lambda view: CITE_ONE}
    agent = create_research_agent(search=search, policy=OPEN, recorder=kept, **parts)
    result = agent.invoke(asked())
    calls = parts["reader"].calls
    assert {call["url"] for call in calls} == ALLOWED
    assert all((call["hosts"], call["denied"]) == (["*"], ["domain:evil.example"]) for call in calls)
    assert result["aggregate"]["denied_sources"] == [denied(URLS[1], "listed"), denied(URLS[3], "port")]
    assert result["citation_details"][0]["tier"] == "official"
    assert "hosts" not in told[0]
    assert replay(agent, kept.recordings[-1]) == result


@pytest.mark.parametrize("name", DOMAIN_LISTS)
def test_whoever_names_hosts_closes_an_open_policy(name):
    """A hint, a context: only these hosts are read then; an empty list allows nothing."""
    for given in ({"hints": {name: ["nasa.gov"]}}, {"context": {"policy": {name: ["nasa.gov"]}}}):
        assert [call["url"] for call in run(**given)[1]] == [URLS[2]]
    for given in ({"hints": {name: []}}, {"context": {"policy": {name: []}}}):
        result, calls = run(**given)
        assert (result["stop_reason"], calls) == ("no_reliable_sources", [])


def test_false_is_tighter():
    """A context may close the policy, and none opens it; closed, only the lists' own defaults are left."""
    assert run(context={"policy": {"open": False}})[1] == []
    hosts = {"allowed_domains_policy": ["nasa.gov"], "allowed_domains_execution": ["nasa.gov"]}
    closed = ResearchPolicy(trust=TIERS, **hosts)
    assert [call["url"] for call in run(policy=closed, context={"policy": {"open": True}})[1]] == [URLS[2]]
    overlay = ResearchPolicy(allowed_domains_execution=["nasa.gov"])
    tightened = OPEN.tightened_by(overlay)
    assert not tightened.open
    assert tightened.tightened_by(ResearchPolicy(open=True)) == tightened
    assert tightened.allowed_domains_policy == tightened.allowed_domains_execution == ("nasa.gov",)
    both = ResearchPolicy(allowed_domains_policy=["suffix:gov"], allowed_domains_execution=["nasa.gov"])
    assert OPEN.tightened_by(both).allowed_domains_policy == ("suffix:gov",)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (ResearchPolicy(open=True), r"policy\.open: true wants trust"),
        (OPEN.model_copy(update={"allowed_domains_policy": ("a.example",)}), "no list is allowed beside open: true"),
        (ResearchPolicy(allowed_domains_policy=["*"]), "says open: true"),
        (ResearchPolicy(denied_domains=["*"]), "no entry means every host"),
    ],
)
def test_an_open_policy_has_tiers_and_no_lists(policy, told):
    """And no entry of a list means every host: what is open says so in a field of its own."""
    with pytest.raises(ConfigurationError, match=told):
        create_research_agent(policy=policy)


def test_an_open_policy_reads_no_private_names_of_urls_by_itself():
    """What the lists deny for a URL's own sake they deny where every host is allowed too."""
    lists = {"policy": ["*"], "execution": ["*"]}
    reasons = {
        "ftp://a.example.org/": "scheme",
        "https://u:p@a.example.org/": "userinfo",
        "https://a.example.org:8443/": "port",
        "file:///etc/passwd": "scheme",
    }
    for url, reason in reasons.items():
        assert explain_url_denial(url, **lists) == f"source_denied_{reason}"

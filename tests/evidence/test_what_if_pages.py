"""A what-if of domain lists and caps: pages say over which URLs they were read, so it is exact or unknown."""

from hypothesis import given, settings
from hypothesis import strategies as st
from research_cases import REGULATOR_HOST, SLA_HOST, STATUS_HOST, asked, hits, quotes, vendor
from tables import each_row
from test_what_if_exact import check_exact, some

from guardgraph import ReadFailure, ResearchBudget, ResearchPolicy, create_research_agent
from guardgraph.graphs.shadows import judge_recording_again
from guardgraph.guards.urls import explain_url_denial
from guardgraph.testing import InMemoryRecorder

HOSTS = (SLA_HOST, STATUS_HOST, REGULATOR_HOST)
CITES = {"answer": "It says something.", "citations": ["n1"]}


def leading(*way, size=1000):
    """Make a reader that follows redirects: the first page leads over these URLs, and each is judged by `hosts`."""

    def read(request):
        hosts, limits, hops = request["hosts"], request["limits"], []
        for url in [request["url"], *(way if request["url"].endswith("/a") else ())]:
            hops.append({"url": url, "denied": explain_url_denial(url, policy=hosts, execution=hosts)})
            if hops[-1]["denied"] is not None:
                return ReadFailure("redirect_denied", {"hops": hops, "limits": limits})
        if size > limits["max_wire_bytes"]:
            return ReadFailure("too_large", {"hops": hops, "limits": limits})
        return {"body": f"This is what {url} says.", "final_url": url, "hops": hops, "limits": limits}

    return read


def made(reader, hosts=HOSTS, budget=None, **given):
    policy = ResearchPolicy(allowed_domains_policy=hosts, allowed_domains_execution=hosts)
    parts = {"search": hits(*vendor("a", "b")), "extractor": quotes(), "writer": lambda view: CITES}
    return create_research_agent(reader=reader, policy=policy, budget=budget, **parts, **given)


def judged(reader, then, now, before=None, after=None):
    recorder = InMemoryRecorder()
    made(reader, then, before, recorder=recorder).invoke(asked())
    return judge_recording_again(made(reader, now, after).frame, recorder.runs[0])


OVER = f"https://{STATUS_HOST}/over"
END = f"https://{REGULATOR_HOST}/end"


@each_row(
    ("then", "now", "difference"),
    (HOSTS, (SLA_HOST, REGULATOR_HOST), f"its hop {OVER} was allowed, and is source_denied_policy"),
    ((SLA_HOST,), HOSTS, f"its hop {OVER} was source_denied_policy, and is allowed"),
)
def test_a_hop_that_is_judged_otherwise_makes_a_run_unknown(then, now, difference):
    """Where the page would have led under the other list, nobody knows."""
    again = judged(leading(OVER, END), then, now)
    assert (again.kind, again.call.node, again.call.number) == ("unknown", "read", 1)
    assert again.call.difference == f"visit 1, call 1: {difference}"


def test_what_a_robots_txt_denied_is_known_under_the_same_lists_only():
    """It may lead to other hosts itself, which the hops of a page do not say."""

    def reader(request):
        if request["url"].endswith("a"):
            raise ReadFailure("robots_denied", {"hops": [{"url": request["url"], "denied": None}]})
        return {"body": "This is what the other page says."}

    assert judged(reader, HOSTS, HOSTS).kind == "same"
    assert judged(reader, HOSTS, (SLA_HOST,)).kind == "unknown"


def test_caps_of_a_page_count_where_they_may_have_decided():
    """What was read is read with more room too; with less, and for a failure with any other, nobody knows."""
    few, more = ResearchBudget(max_wire_bytes=1000), ResearchBudget(max_wire_bytes=2000)
    assert judged(leading(), HOSTS, HOSTS, few, more).kind == "same"
    again = judged(leading(), HOSTS, HOSTS, more, few)
    assert again.call.difference == "visit 1, call 1: its max_wire_bytes was 2000, and is 1000"
    assert judged(leading(size=1500), HOSTS, HOSTS, few, more).kind == "unknown"


LIMITS = {"max_wire_bytes": [500, 1000, 5000], "max_seconds": [25.0, 4.0, 1.0], "max_read_pages": [1, 2]}
BUDGETS = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in LIMITS.items()}).map(
    lambda given: ResearchBudget(**given)
)
WAYS = st.lists(st.sampled_from([OVER, END, "https://nowhere.example/", "ftp://vendor.example.com/"]), max_size=3)


@settings(max_examples=30)
@given(WAYS, st.sampled_from([10, 700, 3000]), some(HOSTS), some(HOSTS), st.tuples(BUDGETS, BUDGETS))
def test_what_is_known_of_a_run_over_redirects_is_what_a_live_run_gives(way, size, then, now, budgets):
    """Whatever the lists, the caps and the time: a run that is same or changed is what would have been."""
    reader, (before, after) = leading(*way, size=size), budgets

    def agent(hosts, budget):
        return lambda **given: made(reader, hosts, budget, **given)

    check_exact(agent(then, before), agent(now, after), asked(), None, 3)

"""How the Research agent reads: what a reader is told, why pages fail, and where they were in the end."""

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Kept
from research_cases import SLA_HOST, STATUS_HOST, asked, hits, lists, quotes, reads, research, vendor
from runs import THREAD, check_result

from guardgraph import ReadFailure, ResearchBudget, create_research_agent, replay
from guardgraph.state.research import READ_FAILURES, RESEARCH_REASONS
from guardgraph.testing import scripted_tool

ELSEWHERE = f"https://{STATUS_HOST}/there"
SAYS = "This is what the page says in the end."
CITES = {"answer": "It says something.", "citations": ["n1"]}
HOPS = [{"url": vendor("a")[0], "denied": None}, {"url": "http://169.254.169.254/", "denied": "source_denied_policy"}]
REFUSE = {"policy": {"unsure_text": "refuse"}}


def led(final=ELSEWHERE, **said):
    return scripted_tool({"title": "T", "published_at": "", "body": SAYS, "final_url": final, **said}, loop=True)


def reading(reader, *names, hints=None, **parts):
    given = {"extractor": quotes(), "writer": lambda view: CITES, **parts}
    return check_result(RESEARCH_REASONS, research(hints, search=hits(*vendor(*names or "a")), reader=reader, **given))


def test_a_reader_is_told_the_hosts_on_both_lists():
    """Hints and context count; beside them stand the configured caps of a page, tightened by the context."""
    reader, hints = reads(), {"allowed_domains_execution": [SLA_HOST, STATUS_HOST]}
    context = {**lists(policy=[SLA_HOST]), "budget": {"max_wire_bytes": 1000}}
    reading(reader, hints=hints, context=context, budget=ResearchBudget(max_page_seconds=3.5))
    limits = {"max_page_seconds": 3.5, "max_wire_bytes": 1000, "max_page_bytes": 20_000_000}
    assert reader.calls == [{"url": vendor("a")[0], "hosts": [SLA_HOST], "limits": limits}]


@pytest.mark.paired
@pytest.mark.parametrize("how", ["raised", "returned", "awaited", "a Runnable's"])
@pytest.mark.parametrize("reason", READ_FAILURES)
def test_an_expected_failure_is_listed_with_its_reason(reason, how):
    """However a reader says it: the run goes on, shows reason, short details and hops, and can be replayed."""
    failure = ReadFailure(reason, {"status": 404, "said": "x" * 900, "hops": HOPS, "limits": {"max_wire_bytes": 5}})

    def read(request):
        if request["url"].endswith("b"):
            return {"body": SAYS}
        if how == "returned":
            return failure
        raise failure

    async def aread(request):
        return read(request)

    reader = {"awaited": aread, "a Runnable's": RunnableLambda(read)}.get(how, read)
    kept = Kept()
    result = reading(reader, "a", "b", recorder=kept)
    [failed] = result["failed_sources"]
    details = {"status": 404, "said": "x" * 197 + "..."}
    assert failed == {"url": vendor("a")[0], "reason": reason, "details": details, "hops": HOPS}
    again = replay(create_research_agent(extractor=quotes(), writer=lambda view: CITES), kept.only)
    assert again["failed_sources"] == result["failed_sources"]


def test_a_note_cites_where_its_page_was_in_the_end():
    """The URL that was asked stands beside it; time and hashes of the page are shown, and where the quote stands."""
    known = {"fetched_at": "2026-01-01T00:00:00Z", "sha256": "a" * 64, "text_sha256": "b" * 64}
    [cited] = reading(led(**known))["citation_details"]
    link = f"{ELSEWHERE}#:~:text=This%20is%20what%20the%20page%20says%20in%20the%20end."
    where = {"url": ELSEWHERE, "asked_url": vendor("a")[0], "document_span": [0, len(SAYS)], "link": link}
    assert cited == {"id": "n1", "title": "T", "published_at": "", **where, **known}


@pytest.mark.parametrize("before", ["pages_guard", "extract", "notes_guard", "synthesize", "answer_guard"])
def test_a_final_host_that_is_switched_off_meanwhile_is_not_used(before):
    """Whoever resumes under tighter lists uses nothing of a page that was read over there."""
    parts = {"extractor": quotes(), "writer": scripted_tool(CITES, loop=True)}
    agent = create_research_agent(search=hits(*vendor("a")), reader=led(), checkpointer=InMemorySaver(), **parts)
    agent.invoke(asked(), THREAD, interrupt_before=[before])
    asked_before = [len(part.calls) for part in parts.values()]
    result = check_result(RESEARCH_REASONS, agent.invoke(None, THREAD, context=lists(execution=[SLA_HOST])))
    assert result["stop_reason"] == "no_reliable_sources"
    denied = {"url": vendor("a")[0], "reason": "source_denied_execution", "final_url": ELSEWHERE}
    assert result["denied_sources"] == [denied]
    assert [len(part.calls) for part in parts.values()] == asked_before


def test_only_declared_dates_stand_in_a_citation():
    """Where a reader tells them apart, a guess is shown as a guess, and a claim's year is not taken from it."""
    [guessed] = reading(led(published_at="2025-03-01", declared_date=""))["citation_details"]
    assert (guessed["published_at"], guessed["guessed_date"]) == ("", "2025-03-01")
    [declared] = reading(led(published_at="2025-03-01", declared_date="2024-02-02"))["citation_details"]
    assert (declared["published_at"], "guessed_date" in declared) == ("2024-02-02", False)
    claims = quotes(claim="It was said on 1 March 2025.", quote="It was said on 1 March and is so.")
    body = {"body": "It was said on 1 March and is so.", "published_at": "2025-03-01"}
    assert reading(led(**body), extractor=claims)["status"] == "ok"
    refused = reading(led(**body, declared_date=""), extractor=claims)
    assert refused["stop_reason"] == "verification_failed:number_not_in_quote"


@pytest.mark.parametrize(("pages", "number"), [([[1, 0], [2, 60]], 1), ([[7, 0]], 7), ([[2, 60], [3, 0]], 3)])
def test_a_citation_names_its_page(pages, number):
    [cited] = reading(led(pages=pages))["citation_details"]
    assert (cited["page"], cited["link"]) == (number, f"{ELSEWHERE}#page={number}")


def test_a_policy_may_refuse_a_text_that_is_unsure():
    """The page is listed with its reason, and counts for nothing."""
    result = reading(led(extraction="unsure"), context=REFUSE)
    assert result["stop_reason"] == "no_reliable_sources"
    assert [(item["url"], item["reason"]) for item in result["failed_sources"]] == [(vendor("a")[0], "unsure_text")]
    assert reading(led(), context=REFUSE)["status"] == "ok"

"""Runs of the Research agent over pages of a server on loopback."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pdf_files import pdf_of
from web_contacts import only_loopback
from web_server import WebServer, answer, redirect

from guardgraph import ResearchBudget, ResearchPolicy, create_research_agent

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

HOSTS = ("a.test", "b.test")

TEXT = "The service was restored at noon, and all customers were told of it."


def given(**hints):
    question = {"question": "When was the service restored?"}
    return {"goal": "Say what happened.", "request": {"request": question, "policy_hints": hints}}


def agent_of(server, urls, **arguments):
    """Return an agent that finds these URLs and reads them from the server."""

    def notes(asked):
        page = {"claim": TEXT, "quote": TEXT, "title": "", "published_at": ""}
        return [{**page, "id": f"n{at}", "url": url} for at, url in enumerate(asked["pages"])]

    return create_research_agent(
        search=lambda asked: [{"url": url} for url in urls],
        reader=server.reader(robots=True),
        extractor=notes,
        policy=ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS, check_names=False),
        budget=ResearchBudget(max_page_seconds=5.0),
        **arguments,
    )


@pytest.fixture
def server():
    with WebServer({"a.test/": redirect("http://b.test/"), "b.test/": answer(TEXT)}) as server:
        yield server


def failures(result):
    return {failed["url"]: failed["reason"] for failed in result["failed_sources"]}


@pytest.mark.parametrize("run", ["invoke", "ainvoke"])
def test_a_run_reads_pages_and_says_of_others_why_not(server, run):
    server.pages |= {"b.test/gone": answer("no", "410 Gone"), "b.test/image": answer(b"x", content_type="image/png")}
    agent = agent_of(server, ["http://a.test/", "http://b.test/gone", "http://b.test/image"])
    result = agent.invoke(given()) if run == "invoke" else asyncio.run(agent.ainvoke(given()))
    assert result["status"] == "ok"
    assert failures(result) == {"http://b.test/gone": "http_status", "http://b.test/image": "content_type"}


@pytest.mark.parametrize("field", ["allowed_domains_policy", "allowed_domains_execution"])
def test_the_context_reaches_every_hop(server, field):
    agent = agent_of(server, ["http://a.test/"])
    result = agent.invoke(given(), context={"policy": {field: ["a.test"]}})
    assert failures(result) == {"http://a.test": "redirect_denied"}
    assert "http://b.test/" not in server.log
    assert failures(agent.invoke(given(), context={"budget": {"max_page_bytes": 10}})) == {"http://a.test": "too_large"}


def test_a_list_that_is_tightened_before_a_run_is_resumed_reaches_every_hop(server):
    agent = agent_of(server, ["http://a.test/"], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    agent.invoke(given(), thread, interrupt_before=["read"])
    assert server.log == []
    result = agent.invoke(None, thread, context={"policy": {"allowed_domains_execution": ["a.test"]}})
    assert failures(result) == {"http://a.test": "redirect_denied"}
    assert {url.split("/")[2] for url in server.log} == {"a.test"}


@pytest.mark.parametrize("kind", ["text/html", "application/pdf"])
def test_what_an_answer_cites_is_not_fetched(kind):
    """Nobody contacts a host that a page, a note or a citation leads to: its links are text."""
    with WebServer() as elsewhere, WebServer() as server:
        link = f"http://127.0.0.1:{elsewhere.ports[80]}/private"
        page = pdf_of(f"{TEXT} See {link} for more.") if kind == "application/pdf" else (
            f"<link rel=canonical href={link}><p><a href={link}>{TEXT}</a></p><p>See {link} for more.</p>"
        )  # fmt: skip
        server.pages["b.test/"] = answer(page, content_type=kind)
        server.pages["b.test/robots.txt"] = answer(f"Sitemap: {link}\n")
        agent = agent_of(server, ["http://b.test/", link, f"http://a.test@127.0.0.1:{elsewhere.ports[80]}/"])
        result = agent.invoke(given())
        assert (elsewhere.log, elsewhere.resolved) == ([], [])
        assert {*server.log} == {"http://b.test/", "http://b.test/robots.txt"}
    (cited,) = result["citation_details"]
    assert cited["link"].startswith("http://b.test/#page=1" if kind == "application/pdf" else "http://b.test/#:~:text=")
    assert {item["reason"] for item in result["aggregate"]["denied_sources"]} <= {
        "source_denied_policy", "source_denied_port", "source_denied_userinfo"
    }  # fmt: skip

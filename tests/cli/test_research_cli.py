"""`guardgraph research` on pages of one's own."""

import hashlib
import json
import sys

import pytest
from cli_runs import empty_folder, refused, run
from research_cases import REQUEST, research
from tables import each_row
from web_server import WebServer, answer, redirect

from guardgraph import format_brief

here = pytest.fixture(autouse=True)(empty_folder)

QUESTION = "How fast are P1 incidents answered?"
SAYS = "Support answers P1 incidents within 15 minutes."
HTML = "<title>Support</title><body><main><p>{}</p><p>Invoices are due in 30 days.</p></main>"
FACTORY = """
import guardgraph

PORT = {port}

def reader():
    return guardgraph.web_reader(resolve=lambda host, port: ("127.0.0.1", PORT), allowed_addresses=["127.0.0.0/8"])
"""
HOSTS = ("--allow", "docs.example.com", "--allow", "status.example.com")
PAGES = {
    "docs.example.com/sla": redirect("http://status.example.com/now"),
    "status.example.com/now": answer(HTML.format(SAYS), content_type="text/html"),
    "docs.example.com/gone": answer("gone", "404 Not Found"),
    "docs.example.com/out": redirect("http://evil.example/"),
}
URLS = "".join(f"http://{url}\n" for url in (*PAGES, "evil.example/") if url != "status.example.com/now")


@pytest.fixture
def web(here, monkeypatch):
    """A server, and a factory of a reader that finds every name there."""
    monkeypatch.delitem(sys.modules, "my_web", raising=False)
    (here / "urls.txt").write_text(URLS)
    with WebServer(dict(PAGES)) as server:
        (here / "my_web.py").write_text(FACTORY.format(port=server.ports[80]))
        yield server
    sys.modules.pop("my_web", None)


def researched(*more):
    return run("research", QUESTION, "--urls", "urls.txt", "--reader", "my_web:reader", *HOSTS, *more)


def test_pages_of_a_file_are_researched(web):
    """A person sees each page as it is read, the answer, quotes with links, and what was left out and why."""
    done = researched()
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "http://docs.example.com/gone: http_status" in said
    assert f"Research brief: {SAYS}" in said
    assert "http://status.example.com/now#:~:text=Support%20answers" in said
    assert "asked_url http://docs.example.com/sla" in said
    assert "http_status (status 404" in said
    assert "redirect_denied (url http://evil.example/" in said
    assert "source_denied_policy" in said
    assert "recordings of the demo" not in said
    assert not any("evil.example" in url for url in web.log)


def test_pages_are_found_by_a_searxng_server(web):
    web.pages["/search"] = answer(json.dumps({"results": [{"url": "http://docs.example.com/sla"}]}))
    searx = f"http://127.0.0.1:{web.ports[80]}"
    done = run("research", QUESTION, "--searx", searx, "--reader", "my_web:reader", *HOSTS, "--json")
    assert json.loads(done.stdout)["passages"] == [{"id": "n1", "claim": SAYS, "quote": SAYS}]


@pytest.mark.process
def test_a_run_keeps_the_texts_that_it_read(here, web):
    """The texts stand by their hash in the folder of `--evidence`, and the result names the hash of each."""
    result = json.loads(researched("--evidence", "kept", "--json").stdout)
    [text] = (here / "kept").iterdir()
    assert SAYS in text.read_text()
    assert {item["text_sha256"] for item in result["citation_details"]} == {text.stem}
    assert hashlib.sha256(text.read_bytes()).hexdigest() == text.stem


@each_row(
    ("given", "said"),
    (("research", "q", "--urls", "urls.txt"), "--allow HOST"),
    (("research", "q", "--urls", "urls.txt", "--searx", "http://localhost"), "not both"),
    (("research", "--urls", "urls.txt", "--allow", "a.example"), "QUESTION"),
    (("research", "q", "--searx", "localhost:8080", "--allow", "a.example"), "SearXNG"),
    (("research", "q", "--urls", "urls.txt", "--allow", "a.example", "--cache", "urls.txt"), "urls.txt"),
    (("research", "q", "--urls", "urls.txt", "--allow", "a.example", "--reader", "none:none"), "none:none"),
    (("research", "q", "--urls", "urls.txt", *HOSTS, "--reader", "my_web:PORT"), "--reader"),
)
def test_what_is_wrong_is_one_line(here, web, given, said):
    assert said in refused(run(*given))
    assert web.log == []


def test_a_report_searches_several_times(web):
    done = researched("--report", "--json")
    result = json.loads(done.stdout)
    assert (len(result["queries"]), result["stopped_because"]) == (2, "enough")
    assert "Still open" in researched("--report").stdout


def test_a_terminal_shows_the_steps_and_stderr_says_why_there_is_no_brief(here, monkeypatch):
    (here / "policy.yaml").write_text("pattern: research\npolicy: {allowed_domains_execution: [regulator.example.org]}")
    done = run("research", "--markdown", "--policy", "policy.yaml")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "there is no brief: the run was stopped, no_reliable_sources in read_extract" in done.stderr
    told = []
    monkeypatch.setattr("guardgraph.cli.making.print_on_stderr", told.append)
    assert run("research", "--markdown").exit_code == 0
    assert told == []
    monkeypatch.setattr("guardgraph.cli.making.is_stderr_watched", lambda: True)
    printed = run("research", "--markdown").stdout
    assert printed == format_brief(research(), asked=REQUEST["request"]["question"])
    assert told[0].startswith("request_guard: ")
    assert told[-1] == "answered: grounded_research_answer"

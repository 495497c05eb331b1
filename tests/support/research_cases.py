"""What tests of the Research agent share: the demo's data, and agents made of scripted parts."""

import json

from guard_cases import DATA
from runs import run

from guardgraph import create_research_agent
from guardgraph.guards.research.request import RESEARCH_ACTIONS
from guardgraph.testing import scripted_tool
from guardgraph.tools.demo import RESEARCH_GOAL as GOAL
from guardgraph.tools.demo import load_demo_file

FILES = ("request", "search_results", "pages", "notes")
REQUEST, HITS, PAGES, NOTES = (load_demo_file(f"research_{name}.json") for name in FILES)
SAMPLE = json.loads((DATA / "research_sample_output.json").read_text(encoding="utf-8"))
QUESTION = REQUEST["request"]["question"]
STATUS, SLA, REGULATOR = PAGES
RUMORS = HITS[-1]["url"]
STATUS_HOST, SLA_HOST, REGULATOR_HOST = "official-status.example.com", "vendor.example.com", "regulator.example.org"
STEPS = [
    {"id": f"r{number}", "action": action, "args": {"query": QUESTION} if number == 1 else {}}
    for number, action in enumerate(RESEARCH_ACTIONS, start=1)
]
PLAN = {"steps": STEPS}
ANSWER = {"answer": SAMPLE["answer"], "citations": SAMPLE["citations"]}


def asked(question=QUESTION, **hints):
    return {"goal": GOAL, "request": {"request": {"question": question}, "policy_hints": hints}}


def research(hints=None, *, input=None, mode="invoke", context=None, **parts):
    agent = create_research_agent(**parts)
    return run(agent, asked(**(hints or {})) if input is None else input, mode, context=context)


def hits(*urls):
    return scripted_tool([{"url": url} for url in urls], loop=True)


def reads(**pages):
    """Make a reader that returns a page for every URL, or what is given for the ends of URLs; errors are raised."""

    def read(request):
        name = request["url"].rpartition("/")[2]
        page = pages.get(name, {"title": name, "published_at": "", "body": f"This is what the page {name} says."})
        if isinstance(page, Exception):
            raise page
        return page

    return scripted_tool(read, loop=True)


def quotes(**changes):
    """Make an extractor that quotes every page."""

    def extract(request):
        return [
            {"claim": "It says something.", "quote": page["body"], "url": url, **changes}
            for url, page in request["pages"].items()
        ]

    return scripted_tool(extract, loop=True)


def notes(*changed, base=NOTES[0]):
    return scripted_tool([{**base, **change} for change in changed], loop=True)


def read_urls(reader):
    return sorted(call["url"] for call in reader.calls)


def vendor(*names):
    return [f"https://{SLA_HOST}/{name}" for name in names]


def denied(url, reason):
    return {"url": url, "reason": f"source_denied_{reason}"}


def lists(policy=None, execution=None):
    given = {"allowed_domains_policy": policy, "allowed_domains_execution": execution}
    return {"policy": {name: hosts for name, hosts in given.items() if hosts is not None}}


def note_pages(request):
    """Take the whole text of each page as a note."""
    return [
        {"claim": each["body"], "quote": each["body"], "url": url, "title": each["title"], "published_at": ""}
        for url, each in request["pages"].items()
    ]

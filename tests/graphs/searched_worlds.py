"""Small worlds for a Research agent that searches several times: pages that queries find by their words."""

from guardgraph import ResearchBudget, ResearchPolicy, create_research_agent
from guardgraph.guards.research.request import RESEARCH_ACTIONS

HOSTS = tuple(f"{name}.example.com" for name in ("north", "south", "east", "west"))
TEXTS = {
    f"https://{HOSTS[0]}/pumps": "Alpha pumps move 40 litres a minute in the north hall.",
    f"https://{HOSTS[1]}/valves": "Beta valves close within 3 seconds of an alarm.",
    f"https://{HOSTS[2]}/tanks": "Gamma tanks were last inspected in March 2025.",
    f"https://{HOSTS[3]}/pipes": "Delta pipes hold a pressure of 12 bar.",
}
QUESTION = "How do alpha pumps, beta valves, gamma tanks and delta pipes work?"
OPEN = ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS)
TOPICS = ("alpha", "beta", "gamma", "delta")


def asked(question=QUESTION, **hints):
    return {"goal": "Tell the plant.", "request": {"request": {"question": question}, "policy_hints": hints}}


def plan(query):
    first, *rest = [{"id": f"r{at}", "action": name, "args": {}} for at, name in enumerate(RESEARCH_ACTIONS, 1)]
    return lambda view: {"steps": [{**first, "args": {"query": query}}, *rest]}


class Searched:
    """A search of pages by URL, which raises for some queries, and a reader; they keep what they were asked."""

    takes_hosts = False

    def __init__(self, texts=TEXTS, failing=()):
        self.texts, self.failing = texts, failing
        self.queries, self.urls = [], []

    def search(self, request):
        self.queries.append(request["query"])
        if request["query"] in self.failing:
            raise RuntimeError("the search broke")
        words = request["query"].casefold().split()
        found = [url for url, text in self.texts.items() if any(word in text.casefold() for word in words)]
        return [{"url": url} for url in found[: request["max_results"]]]

    def read(self, request):
        self.urls.append(request["url"])
        return {"title": "A page", "published_at": "", "body": self.texts[request["url"]]}


def gaps_of(*proposals):
    """Make a proposer that proposes these queries, one list after another, then none."""
    left = list(proposals)

    def propose(view):
        propose.views.append(view)
        return {"open": ["what is left"] if left else [], "queries": left.pop(0) if left else []}

    propose.views = []
    return propose


def searching_agent(site, gaps, *, queries=4, first="alpha", budget=None, **parts):
    """Make an agent that searches a world, first for alpha."""
    limits = {"max_seconds": 300.0, "max_queries": queries, "max_read_pages": 8, "max_urls": 12, "max_notes": 12}
    given = {"policy": OPEN, "planner": plan(first), "search": site.search, "reader": site.read, "gaps": gaps}
    return create_research_agent(**{**given, **parts}, budget=ResearchBudget(**{**limits, **(budget or {})}))

"""What tests of pages share: runs to report, the same with hostile words in every field, and what a page says."""

import re
from functools import cache
from xml.etree import ElementTree as xml

from rag_agents import CANDIDATE, QUESTION, agent, agent_with
from research_cases import ANSWER, PLAN, STATUS, research
from self_critique_cases import GIVEN, REVISE

import guardgraph
from guardgraph.plain.letters import escape_odd_letters
from guardgraph.testing import scripted_tool

HOSTILE = (
    "</style></script></title></textarea></svg>--><script>document.title='x'</script>"
    "<img src='http://127.0.0.1:9/x' onerror=\"document.title='x'\"><iframe src=//127.0.0.1:9></iframe>"
    "javascript:alert('x') \"' &amp;&lt; \u202eesrever\u202c \u200f\u0627\u0644\u0639\u0631\u0628\u064a\u0629 "
    "\x00\x1b[31m\ufeff\u2028\ud800 "
)
"""Markup that closes whatever it stands in, what would load or run, changes of direction, letters that hide."""
HUGE = "W" * 5_000
ADDRESS = "javascript:document.title='x'//https://127.0.0.1:9/"
GIVEN_BY_THE_GRAMMAR = frozenset({"path", "node", "kind", "verdict", "status", "pattern"})


def _hostile_rag():
    candidate = {**CANDIDATE, "text": f"P1 within 15 minutes. {HOSTILE}", "title": HOSTILE, "section": HOSTILE}
    answer = {"answer": f"P1 within 15 minutes. {HOSTILE}", "citations": ["a"]}
    return agent_with(candidate, answer=answer).invoke(QUESTION)


def _hostile_research():
    page = {"title": HOSTILE, "published_at": HOSTILE, "body": f"Payments are degraded. {HOSTILE}"}
    note = {"claim": f"Payments are degraded. {HOSTILE}", "quote": page["body"], "title": HOSTILE, "url": STATUS}
    answer = {"answer": f"Payments are degraded. {HOSTILE}", "citations": ["n1"]}
    parts = {"reader": page, "extractor": [note], "writer": answer, "planner": PLAN}
    return research(**{name: scripted_tool(given, loop=True) for name, given in parts.items()})


def _hostile_critique():
    critique = {**REVISE, "reason": HOSTILE, "risks": [{"type": "missing_uncertainty", "note": HOSTILE}]}
    return guardgraph.create_self_critique_agent(critic=lambda view: critique).invoke(GIVEN)


def _repaired():
    return guardgraph.create_self_critique_agent(reviser=lambda view: {"revised_answer": "Sorry."}).invoke(GIVEN)


MADE = {
    "rag": lambda: agent().invoke(QUESTION),
    "rag stopped": lambda: agent({"kind": "retrieve", "query": "SLA", "sources": ["wiki"]}).invoke(QUESTION),
    "rag refused": lambda: agent().invoke({"question": 3}),
    "research": research,
    "research stopped": lambda: research(writer=lambda view: {**ANSWER, "answer": "Payments fail at 9.9%."}),
    "critique": lambda: guardgraph.create_self_critique_agent().invoke(GIVEN),
    "critique stopped": _repaired,
    "hostile rag": _hostile_rag,
    "hostile research": _hostile_research,
    "hostile critique": _hostile_critique,
}
"""Runs of all three patterns, by name."""

RUNS = [*MADE, *(f"poisoned {name}" for name in ("rag", "rag stopped", "research", "critique")), "foreign"]
"""Every run that `result_of` knows."""


@cache
def result_of(name):
    """Return the result of a run; that of a poisoned one says hostile things in every field of its own."""
    if name == "foreign":
        return _foreign()
    if name.startswith("poisoned "):
        return poisoned(result_of(name.removeprefix("poisoned ")))
    return MADE[name]()


def _foreign():
    names = [f"{number}{HOSTILE}" for number in range(3)]
    told = {"kind": "guard", "elapsed_ms": 1, "verdict": HOSTILE, "steps": HOSTILE}
    timeline = [{"node": name, **told} for name in names]
    return {"path": names, "stop_reason": HOSTILE, "timeline": timeline, HOSTILE: [[[[[{HOSTILE: HOSTILE}]]]]]}


def poisoned(value, key=""):
    """Return a value with hostile words in every text, key and list, but for what the graph itself says."""
    if key in GIVEN_BY_THE_GRAMMAR:
        return value
    if isinstance(value, dict):
        inside = {name: poisoned(item, name) for name, item in value.items()}
        return {**inside, "url": ADDRESS, HOSTILE: HOSTILE, "huge": HUGE}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return f"{value}{HOSTILE}" if isinstance(value, str) else value


def page(result, graph=None, **asked):
    return tree(guardgraph.report(result, graph, **asked).html)


def tree(html):
    return xml.fromstring(html.partition("\n")[2])


def said(element):
    return "".join(element.itertext())


def texts_in(value):
    """Yield every text and key of a value, but for what is empty."""
    if isinstance(value, dict):
        for key, item in value.items():
            if item != "":
                yield key
                yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


def shown(text):
    return re.sub(r"\s", "", escape_odd_letters(text.replace("\r\n", "\n")))


def with_class(root, name):
    return [item for item in root.iter() if name in item.get("class", "").split()]


def record(root):
    return said(with_class(root, "json")[-1])

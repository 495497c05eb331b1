"""Odd texts, wherever a user, a model, a page or a tool may write one: every run ends for a reason of the catalogue.

`GUARDGRAPH_EXAMPLES` says how many texts each agent is tried with; the nightly lane tries many, with seeds of its own.
"""

import os
import time
from functools import cache

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, POLICY
from research_cases import PAGES, PLAN, STATUS, asked
from self_critique_cases import APPROVE, CONTEXT, ESCALATE, REVISE

from guardgraph import ResearchPolicy, SelfCritiquePolicy, ToolPolicy
from guardgraph.graphs.patterns import PATTERNS

EXAMPLES = int(os.environ.get("GUARDGRAPH_EXAMPLES", "6"))
SEEDED = seed(time.time_ns() if EXAMPLES > 100 else 0)
ODD = [
    "", " ", "\t", "\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\u00a0",
    "\u3000", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u202a", "\u2066", "\u2069", "\u061c",
    "\u034f", "\ufe0f", "\x00", "\x01", "\x07", "\x1b[31m", "\x7f", "\x9b", "\ud800", "\udfff", "\ufffd", "\ufffe",
    "\uffff", "\U0010ffff", "e\u0301", "\u0301", "a" + "\u0300" * 40, "\u0627\u0644\u0633\u0639\u0631 \u0665\u0660",
    "\u05d0\u05d1", "\u0e01\u0e33", "\U0001f469\u200d\U0001f4bb", "\U0001f1e9\U0001f1ea", "\u2160", "\u00bd",
    "\u2075", "\u2082", "\uff11\uff12", "\u0661", "\u22125", "\u20ac", "$", "%", "\u2030", "\u00b0", "\u2013",
    "\u2014", "\u2026", "\u00ab", "\u00bb", "\u201e", "\u201c", "\u201a", "'", '"', "`", "```", "\\", "/", "|", "||",
    "*", "**", "_", "#", "- ", "1. ", "> ", "[", "]", "[1]", "[]", "(", ")", "{", "}", "<", ">", "<b>", "&", "&amp;",
    "&#0;", "!", "?", ".", "..", ",", ";", ":", "://", "@", "a@b", "www.", "http://", "https://a.b/c", "1", "0", "-0",
    "1e999", "1,2,3,4", "1.2.3.4", "12:34:56:78", "31.02.2024", "2024-13-45", "99/99/9999", "1/0", "NaN", "Infinity",
    "9" * 40, "x" * 300, "Lorem ipsum dolor.", "The fee is 5 euros.", "no", "not", "N/A", "null", "{}", "[]", "true",
    "<think>", "</think>",
]  # fmt: skip
"""Pieces that texts are put together of: blanks and line ends, marks that are not drawn, directions, halves of pairs,
letters that combine, digits of other scripts, markup, punctuation, broken dates and numbers."""
TEXTS = st.lists(st.sampled_from(ODD) | st.text(max_size=6), max_size=7).map("".join)
LARGE = {
    "one word": "x" * 1_000_000,
    "digits": "7" * 1_000_000,
    "lines": "\n" * 1_000_000,
    "sentences": "The fee is 5 euros, or not. " * 36_000,
    "punctuation": "\u201a\u201e'\"([{" * 130_000,
    "combining": "a" + "\u0301" * 1_000_000,
    "directions": "\u202e\u2066" * 500_000,
}


def ends(agent, given):
    result = agent.invoke(given)
    assert result["status"] in ("ok", "stopped"), result
    assert not result["stop_reason"].startswith("guard_error"), (result["stop_reason"], result.get("details"))
    return result


class Said:
    """What a user, a model, a page and a tool say of one example; agents are built once, since that takes longest."""

    texts = cites = notes = ()
    critique = None


@cache
def make_rag():
    return PATTERNS["rag"].create_agent(
        planner=lambda view: {"kind": "retrieve", "query": Said.texts[4]},
        retriever=lambda request: [
            {**CANDIDATE, "title": Said.texts[3], "text": Said.texts[1]},
            {**CANDIDATE, "doc_id": "b", "text": "The fee is 5 euros."},
        ],
        answerer=lambda view: {"answer": Said.texts[2], "citations": Said.cites},
        policy=POLICY,
    )


def try_rag(texts):
    question, passage, _, title, _ = Said.texts = texts
    for Said.cites in (["a"], ["a", "b"], [title]):
        ends(make_rag(), {"question": question})
        ends(make_rag(), {"question": "What is the fee?"})
        ends(make_rag(), {"question": question, "history": [{"role": "user", "content": passage}]})


@cache
def make_research(check_quotes):

    def read(request):
        _, body, _, quote, title = Said.texts
        return {"title": title, "published_at": title, "body": f"{body} {quote} {PAGES[STATUS]['body']}"}

    return PATTERNS["research"].create_agent(
        planner=lambda view: PLAN,
        search=lambda request: [{"url": STATUS, "title": Said.texts[4]}, {"url": Said.texts[2]}],
        reader=read,
        extractor=lambda request: Said.notes,
        writer=lambda view: {"answer": Said.texts[2], "citations": ["n1"]},
        policy=ResearchPolicy(check_quotes=check_quotes),
    )


def try_research(texts):
    question, _, claim, quote, title = Said.texts = texts
    for quoted in (quote, PAGES[STATUS]["body"]):
        Said.notes = [{"claim": claim, "quote": quoted, "url": STATUS, "title": title, "published_at": quote}]
        ends(make_research(quoted != quote), asked(question))
        ends(make_research(quoted != quote), asked())


@cache
def make_self_critique():
    return PATTERNS["self_critique"].create_agent(
        drafter=lambda view: {"draft": Said.texts[1]},
        shortener=lambda view: {"draft": Said.texts[2]},
        critic=lambda view: Said.critique,
        reviser=lambda view: {"revised_answer": f"{Said.texts[1]} {Said.texts[3]}"},
        policy=SelfCritiquePolicy(),
    )


def try_self_critique(texts):
    goal, _, note, change, summary = Said.texts = texts
    context = {**CONTEXT, "incident": {**CONTEXT["incident"], "summary": summary}, "notes": [note, summary]}
    risky = {**REVISE, "risks": [{"type": "overconfidence", "note": note}], "required_changes": [f'ADD "{change}"']}
    for Said.critique in (APPROVE, risky, {**REVISE, "required_changes": [change]}, {**ESCALATE, "reason": note}):
        ends(make_self_critique(), {"goal": goal, "incident_context": CONTEXT})
        ends(make_self_critique(), {"goal": "Write an update.", "incident_context": context})


@cache
def make_tools(is_answering):

    def find(text: str) -> object:
        """Find."""
        return {"said": Said.texts[2], "list": [Said.texts[2], Said.texts[1]]}

    def send(to: str, message: str) -> str:
        """Send."""
        return Said.texts[2]

    def plan(view):
        _, argument, result, answer, _ = Said.texts
        if is_answering or len(view["results"]) > 1:
            return {"answer": answer}
        if not view["results"]:
            return {"calls": [{"tool": "find", "args": {"text": argument}}]}
        return {"calls": [{"tool": "send", "args": {"to": argument, "message": result}}]}

    policy = ToolPolicy(rules={"find": {"effect": "read"}, "send": {"effect": "write", "approve": "never"}})
    return PATTERNS["tools"].create_agent(planner=plan, tools=[find, send], policy=policy)


def try_tools(texts):
    task, argument, _, _, turn = Said.texts = texts
    ends(make_tools(is_answering=False), {"task": task})
    history = [{"role": "user", "content": turn}]
    ends(make_tools(is_answering=False), {"task": f"Send {argument} to {argument}.", "history": history})
    ends(make_tools(is_answering=True), {"task": "Say the fee."})


AGENTS = {"rag": try_rag, "research": try_research, "self_critique": try_self_critique, "tools": try_tools}


@pytest.mark.parametrize("name", AGENTS)
def test_any_text_ends_a_run_for_a_reason(name):
    """Question, passage, note, page, draft, task, result and answer may be any text; nothing is raised."""

    @SEEDED
    @settings(max_examples=EXAMPLES, derandomize=False, database=None)
    @given(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
    def tried(texts):
        AGENTS[name](texts)

    tried()


@pytest.mark.paired
@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("name", AGENTS)
def test_a_million_characters_end_a_run_in_time(name, large):
    """As every text at once: what is too long is refused, and what is read is read in linear time."""
    if EXAMPLES <= 100 and (large not in ("sentences", "punctuation") or name == "research"):
        pytest.skip("the nightly lane has the others")
    begun = time.thread_time()
    AGENTS[name]([LARGE[large]] * 5)
    assert time.thread_time() - begun < 120

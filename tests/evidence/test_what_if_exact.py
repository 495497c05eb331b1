"""A what-if is exact: whatever run is same or changed, a live run of the candidate has that very result."""

import json
import os
import random
from collections import Counter
from copy import deepcopy
from typing import Annotated

import fuzzed_office
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from random_patterns import PLANS, built
from ticket_pattern import TICKET, triage
from ticket_pattern import Policy as TicketPolicy
from timed_world import Timed

from guardgraph import ConfigurationError, RagBudget, RagPolicy, ToolBudget, ToolPolicy, create_tool_agent, reply_bytes
from guardgraph.grammar import Budget, Call, NamedTool, Tightens
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.shadows import REFUSED, judge_recording_again
from guardgraph.nodes.offline import rag, research, self_critique
from guardgraph.plain.hashing import digest
from guardgraph.state.research import ResearchBudget, ResearchPolicy
from guardgraph.state.self_critique import SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.testing import InMemoryRecorder
from guardgraph.testing.attack.proposals import POISON
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader

TIMES = int(os.environ.get("GUARDGRAPH_WHAT_IFS", "1"))
"""How many times as many what-ifs as usual are tried; `make soak` tries more."""
COUNTS: Counter[str] = Counter()
"""What-ifs that were held against live runs, by their kinds."""

DURATIONS = [0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0]
SECONDS = st.sampled_from([1000.0, 1000.0, 1000.0, 20.0, 8.0, 6.5, 4.0, 2.5, 1.0, 0.0])
SEEDS = st.integers(0, 99)
BY = st.sampled_from(["rules", "asked again", "asked again", "model"])
"""Who proposes: rules, which are asked once; functions that can be asked again; a chat model with our prompts."""


def taking(seed):
    return lambda request: DURATIONS[int(digest([seed, request])[:8], 16) % len(DURATIONS)]


def odd(rule, seed):
    """Return a proposer that says what a rule says, or something odd: always the same to the same request."""

    def proposer(view):
        does = int(digest([seed, view])[:8], 16) % 16
        if does == 0:
            raise ConnectionError("away")
        if does == 1:
            return "no JSON"
        said = rule(deepcopy(view))
        if does == 2 and isinstance(said, dict):
            return {name: value for name, value in said.items() if name != sorted(said)[0]}
        if does == 3 and isinstance(said, dict) and "answer" in said:
            return {**said, "answer": f"{said['answer']} It takes 77 days."}
        return said

    return proposer


def asking_a_model(proposer):
    proposer.asks_model = proposer.asked_again = True
    return proposer


def asked_again(proposer):
    proposer.asked_again = True
    return proposer


def losing(seed):
    """Return a reader for which some of the recorded pages are gone, so that others are read in their place."""
    read = make_recorded_reader()

    def reader(request):
        if int(digest([seed, request["url"]])[:8], 16) % 2:
            raise LookupError("gone")
        return read({"url": request["url"]})

    return reader


PROPOSERS = {
    "rag": {"planner": rag.plan_offline_retrieval, "answerer": rag.write_offline_answer},
    "research": {"planner": research.plan_offline_research, "writer": research.write_offline_brief},
    "self_critique": {
        "drafter": self_critique.write_offline_draft,
        "shortener": self_critique.shorten_offline_draft,
        "critic": self_critique.critique_offline_draft,
        "reviser": self_critique.revise_offline_draft,
    },
}
SOURCES = ("billing_policy", "security_policy", "support_policy")
HOSTS = ("official-status.example.com", "vendor.example.com")


def some(names):
    return st.lists(st.sampled_from(names), unique=True).map(tuple)


def drawn(field):
    """Return the strategy that a field is, or that of one of a list, or of a whole number between two."""
    if isinstance(field, tuple):
        return st.integers(*field)
    return st.sampled_from(field) if isinstance(field, list) else field


def overlay(kind, **fields):
    optional = {name: drawn(field) for name, field in fields.items()}
    return st.fixed_dictionaries({}, optional=optional).map(lambda given: kind(**given))


LIMITS = {
    "max_seconds": SECONDS,
    "max_reply_bytes": st.sampled_from([2**22, 2**22, 2**22, 4000, 1000, 200, 30]),
    "max_input_bytes": st.sampled_from([2**20, 2**20, 2**20, 40, 26, 10]),
    "max_attempts": st.integers(1, 4),
    "max_visits": st.sampled_from([1000, 1000, 1000, 16, 12, 9, 6, 3]),
}
ALL = st.just(SOURCES)
RAG = st.tuples(
    st.fixed_dictionaries(
        {"allowed_sources_policy": ALL | some(SOURCES), "allowed_sources_execution": ALL | ALL | some(SOURCES)},
        optional={"check_values": st.booleans(), "check_names": st.booleans()},
    ).map(lambda given: RagPolicy(**given)),
    overlay(
        RagBudget,
        **LIMITS,
        **{"min_chunk_score": [0.0, 0.2, 0.5, 0.9, 1.1], "max_context_chunks": (0, 6), "max_top_k": (1, 6)},
        **{"max_context_chars": [0, 200, 1000, 8000], "max_query_chars": [10, 40, 240]},
    ),
)
RESEARCH = st.tuples(
    overlay(
        ResearchPolicy,
        **dict.fromkeys(["allowed_domains_policy", "allowed_domains_execution"], some(HOSTS)),
        **dict.fromkeys(["check_values", "check_quotes", "check_names"], st.booleans()),
    ),
    overlay(
        ResearchBudget,
        **LIMITS,
        **{"max_steps": (5, 8), "max_urls": (1, 6), "max_read_pages": (1, 3), "max_notes": (1, 6)},
        max_answer_chars=[100, 300, 850],
    ),
)
SELF_CRITIQUE = st.tuples(
    overlay(
        SelfCritiquePolicy,
        allowed_decisions_policy=[("approve", "revise"), ("approve", "revise", "escalate")],
        allowed_decisions_execution=[("approve",), ("approve", "revise", "escalate")],
        check_facts=st.booleans(),
    ),
    overlay(
        SelfCritiqueBudget,
        **LIMITS,
        **{"max_draft_chars": [100, 400, 900], "max_risks": (0, 5), "max_required_changes": (0, 5)},
        **{"max_answer_chars": [200, 980], "max_length_increase_pct": [0.0, 5.0, 20.0]},
        min_patch_similarity=[0.4, 0.9],
    ),
)
CONTEXTS = st.none() | st.fixed_dictionaries({"budget": st.fixed_dictionaries({}, optional=LIMITS)})


def check_exact(then, now, given, context, seed, later=None):
    """Judge a run of the agent that `then` makes by that of `now`, and hold it against a live run of that one."""
    recorder = InMemoryRecorder()
    end_run(then(world=Timed(taking(seed)), recorder=recorder), given, context, later)
    [recording] = recorder.runs
    candidate = now(world=Timed(taking(seed)))
    again = judge_recording_again(candidate.frame, recording)
    COUNTS[again.kind] += 1
    event(again.kind if again.kind != "changed" else f"changed to {again.new}")
    if again.kind == "unknown":
        assert again.call.node in candidate.builder.nodes
        assert again.call.difference
        event(" ".join(word for word in again.call.difference.split() if word.isalpha()))
        return
    assert again.kind in ("same", "changed")
    if again.new.status == REFUSED:
        return
    live = end_run(candidate, given, context, later)
    assert without_own_names(again.result) == without_own_names(live)


def without_own_names(result):
    """Return a result without what each run names in its own way: itself, its questions and its writes."""
    own = {"run_id", "hash", "key"}
    return json.loads(json.dumps(result), object_hook=lambda item: {**item, **dict.fromkeys(own & item.keys())})


def end_run(graph, given, context, later):
    """Run an agent to its end; whoever it waits for answers by what is shown, always the same to the same."""
    if not graph.checkpointer:
        return graph.invoke(given, context=context)
    thread = {"configurable": {"thread_id": "1"}}
    result = graph.invoke(given, thread, context=context)
    for _ in range(50):
        if result["status"] != "waiting":
            return result
        answer = answer_question(result["waiting_for"])
        result = graph.invoke(Command(resume=answer), thread, context=later)
    raise AssertionError(f"it waits for ever: {result['waiting_for']}")


def answer_question(asked):
    said = digest(asked["shown"])
    if not isinstance(asked["shown"], dict) or asked["shown"].keys().isdisjoint({"call", "calls"}):
        return said[:4]
    return {"hash": asked["hash"], "decision": "approve" if int(said[:2], 16) % 4 else "reject"}


def shipped(name, seed, by, policy, budget):
    proposers = {slot: odd(rule, seed) for slot, rule in PROPOSERS[name].items()}
    if by != "rules":
        made = asking_a_model if by == "model" else asked_again
        proposers = {slot: made(proposer) for slot, proposer in proposers.items()}
    if name == "research" and seed % 2:
        proposers |= {"reader": losing(seed), "extractor": make_recorded_extractor()}
    return lambda **made: PATTERNS[name].create_agent(policy=policy, budget=budget, **proposers, **made)


SHIPPED = {"rag": RAG, "research": RESEARCH, "self_critique": SELF_CRITIQUE}
QUESTIONS = st.sampled_from(["What is the P1 target?", "Why?", 7])


@settings(max_examples=84 * TIMES)
@given(data=st.data(), name=st.sampled_from([*SHIPPED]), context=CONTEXTS, seed=SEEDS, by=BY)
def test_what_is_known_of_a_shipped_run_is_what_a_live_run_gives(data, name, context, seed, by):
    """Names switched off, checks, thresholds, sizes, times, asks and visits: known is what would have been."""
    given = {"question": data.draw(QUESTIONS)} if name == "rag" else PATTERNS[name].demo()
    agents = (shipped(name, seed, by, *data.draw(SHIPPED[name])) for _ in range(2))
    check_exact(*agents, given, context, seed)


@given(seed=st.just(1))
def test_a_call_that_a_what_if_cuts_off_used_up_what_it_would_live(seed):
    """A model that is asked again and has no time left for its answer wrote nothing that counts."""
    budgets = (SelfCritiqueBudget(), SelfCritiqueBudget(max_seconds=8.0))
    agents = (shipped("self_critique", seed, "model", SelfCritiquePolicy(), budget) for budget in budgets)
    check_exact(*agents, PATTERNS["self_critique"].demo(), None, seed)


RULES = st.fixed_dictionaries(
    {"effect": st.sampled_from(["read", "write", "write"])},
    optional={
        "sends": st.booleans(),
        "destructive": st.booleans(),
        "trusted": st.sampled_from([("*",), ("id", "contacts")]),
        "approve": st.sampled_from(["unsupported", "unsupported", "always", "never"]),
        "max_calls": st.integers(0, 3),
        "idempotent": st.booleans(),
    },
)
TOOLS = st.tuples(
    st.fixed_dictionaries(
        {"rules": st.dictionaries(st.sampled_from(fuzzed_office.NAMES), RULES)},
        optional={
            "tools_policy": some(fuzzed_office.NAMES),
            "tools_execution": some(fuzzed_office.NAMES),
            "denied_tools": st.lists(st.sampled_from(fuzzed_office.NAMES), max_size=1),
            "check_values": st.booleans(),
            "check_names": st.booleans(),
        },
    ).map(lambda given: ToolPolicy(**given)),
    overlay(
        ToolBudget,
        **LIMITS,
        **{"max_tool_calls": (1, 8), "max_same_call": (1, 2)},
        **{"max_result_chars": [20, 20_000], "max_answer_chars": [20, 4000]},
    ),
)


ARGUMENTS = ("id", "query", "to", "amount", "body", "path")
SAID = ("Ada Byron", "Mallory", "13", "b7", "ada@byron.org", "c-17", "2024-05-13", "", 30, 900, -1, True, None, ["Ada"])


def office(seed, again, policy, budget):
    """Return what makes a tool agent that proposes anything, or pays the bill; always the same to the same view."""

    def propose(view):
        chance = random.Random(digest([seed, view]))
        if not view["results"] and seed % 3:
            return {"calls": [{"tool": "read_bill", "args": {"id": "b7"}}]}
        if seed % 3 and chance.random() < 0.5:
            payees = chance.sample([("Ada Byron", 30), ("Mallory", 900), ("Ada", 30), ("Bob", 7)], 3)
            return {"calls": [{"tool": "send_money", "args": {"to": to, "amount": much}} for to, much in payees]}
        if chance.random() < 0.3:
            return {"answer": "Done."}
        args = {name: chance.choice(SAID) for name in chance.sample(ARGUMENTS, chance.randint(0, 3))}
        return {"calls": [{"tool": chance.choice(fuzzed_office.NAMES), "args": args}] * chance.randint(0, 2)}

    def tool(name):
        said = [*POISON, {"id": "c-17", "contacts": ["bob@byron.org"], "text": "900 to Bob, or 7"}, 900]
        return lambda args: said[int(digest([seed, name, args])[:8], 16) % len(said)]

    tools = {name: NamedTool(tool(name), name, {"type": "object"}) for name in fuzzed_office.NAMES}
    given = {"planner": asked_again(propose) if again else propose, "policy": policy, "budget": budget}
    return lambda **made: create_tool_agent(tools=tools, checkpointer=InMemorySaver(), **given, **made)


@settings(max_examples=24 * TIMES)
@given(then=TOOLS, now=TOOLS, seed=SEEDS, again=st.booleans(), task=st.sampled_from([*fuzzed_office.TASKS, 7]))
def test_what_is_known_of_a_tool_run_is_what_a_live_run_gives(then, now, seed, again, task):
    """Rules, lists, budgets, calls of several in a step, and people who are asked: known is what would have been."""
    agents = (office(seed, again, *settings) for settings in (then, now))
    check_exact(*agents, {"task": task}, None, seed)


@settings(max_examples=36 * TIMES)
@given(plan=PLANS, other=PLANS, seed=SEEDS)
def test_what_is_known_of_a_random_pattern_is_what_a_live_run_gives(plan, other, seed):
    """With other guards, endings and times, in cycles, with calls at once that fail: it is what would have been."""
    stages = [
        {**stage, "works": [does for does in stage["works"] if does != "interrupts"] or ["ok"]}
        for stage in plan["stages"]
    ]
    stages = [stage for stage in stages if stage["kind"] != "review"] or [{**stages[0], "kind": "act"}]
    plan = {**plan, "stages": stages}
    changed = [{**stage, "decides": new["decides"]} for stage, new in zip(stages, other["stages"], strict=False)]
    now = {**plan, "stages": [*changed, *stages[len(changed) :]], "ends": other["ends"], "seconds": other["seconds"]}

    def made(plan):
        return lambda **given: built(plan).compile(name="random", **given)

    check_exact(made(plan), made(now), {"asked": "it"}, None, seed)


def proposing(does):
    """Return a proposer of a label that replies with a value or a padded message, which may ask what is allowed."""

    def message(view):
        is_short = does == "asks" and reply_bytes() <= 20
        return AIMessage("{}" if is_short else '{"label": "bug"}', additional_kwargs={"padding": "y" * 2000})

    return (lambda view: {"label": "bug", "why": "x" * 50}) if does == "value" else RunnableLambda(message)


def calling(how):
    """Return the body of an act node that calls with scopes and refusals, or interrupts the run by itself."""

    def tool(request):
        most = reply_bytes() if how["reply"] == "shrinks" else 2
        said = {"shrinks": "x" * min(most - 2, 300), "long": "x" * 100, "no JSON": {"a": "x" * 60, "b": object()}}
        return said.get(how["reply"], digest(request)[:4])  # the scope is in the request

    def holds_alike(content):
        return None if how["reply"] == "long" else "a tool that reads its scope says something else"

    def lookup(state, run):
        settings = {"labels": sorted(run.policy.labels), "desks": sorted(run.policy.desks)}
        said = []
        for shows in how["asks"]:
            said.append(interrupt({**settings, "most": run.budget.max_reply_bytes} if shows == "settings" else shows))
        more = {}
        if how["scope"] is not None:
            more["scope"] = {name: settings[name] for name in how["scope"]}
        if how["refuse"]:
            more["refuse"] = lambda value: None if "spam" in run.policy.labels else {"why": len(str(value))}
        if how["holds"] and how["scope"] is not None and not how["refuse"]:
            more["holds"] = holds_alike
        calls = [Call("tool", tool, {"desk": "bug", "number": number, "said": said}, **more) for number in range(3)]
        outcomes = yield calls[: how["calls"]]
        return {"found_duty": outcomes[-1].packed() if outcomes else f'["value", "{said}", {{}}]'}

    return lookup


HOW = st.fixed_dictionaries(
    {
        "reply": st.sampled_from(["scope", "scope", "shrinks", "long", "no JSON"]),
        "proposes": st.sampled_from(["value", "message", "asks"]),
        "scope": st.none() | st.lists(st.sampled_from(["labels", "desks"]), unique=True, min_size=1),
        "refuse": st.booleans(),
        "holds": st.booleans(),
        "calls": st.integers(0, 3),
        "asks": st.just([]) | st.lists(st.sampled_from(["settings", "who?"]), max_size=2),
    }
)
LABELS = st.sampled_from([("bug",), ("bug", "spam"), ("billing", "bug", "spam")])
SEEN = st.tuples(
    st.builds(TicketPolicy, labels=LABELS, desks=st.sampled_from([("bug",), ("billing", "bug")])),
    st.builds(Budget, max_reply_bytes=st.sampled_from([2**22, 2**22, 4000, 200, 100, 60, 30]), max_seconds=SECONDS),
)
LATER = st.none() | st.fixed_dictionaries({"policy": st.fixed_dictionaries({"labels": LABELS.map(list)})})


@settings(max_examples=60 * TIMES)
@given(then=SEEN, now=SEEN, how=HOW, context=CONTEXTS, later=LATER, seed=SEEDS)
def test_what_is_known_of_what_a_setting_reaches_is_what_a_live_run_gives(then, now, how, context, later, seed):
    """Limits that are asked for, scopes, refusals and questions that show a setting: known is what would have been."""

    def made(policy, budget):
        parts = {"bodies": {"lookup": calling(how)}, "checkpointer": InMemorySaver() if how["asks"] else None}
        return lambda **given: triage(proposing(how["proposes"]), policy=policy, budget=budget, **parts, **given)

    check_exact(made(*then), made(*now), TICKET, context, seed, later)


def test_a_context_that_the_candidate_refuses_is_an_ending_of_its_own():
    """A live run would be a ConfigurationError; the what-if says so, and with which message."""

    class Fixed(TicketPolicy):
        currency: Annotated[str, Tightens.fixed] = "EUR"

    def made(currency):
        return lambda **given: triage(policy=Fixed(currency=currency), **given)

    recorder, context = InMemoryRecorder(), {"policy": {"currency": "EUR"}}
    made("EUR")(recorder=recorder).invoke(TICKET, context=context)
    again = judge_recording_again(made("USD")().frame, recorder.runs[0])
    assert (again.kind, str(again.new)) == ("changed", "refused:context")
    with pytest.raises(ConfigurationError) as raised:
        made("USD")().invoke(TICKET, context=context)
    assert again.evidence == {"message": str(raised.value)}

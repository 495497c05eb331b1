"""Putting a pattern together: what the grammar adds, what it keeps in the graph, and what it refuses."""

from __future__ import annotations

import functools
from typing import NotRequired

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Kept
from tables import each_row
from ticket_pattern import PHASES, REASONS, In, Out, Policy, State, check_request, triage
from typing_extensions import TypedDict

from guardgraph import ConfigurationError, GrammarError, GuardedGraph, LiveWorld, create_rag_agent, verify
from guardgraph.grammar import Budget, Catalogue, Pattern, Result, StopReason, common_reasons


class Shared(Out):
    task: NotRequired[str]


class NoResult(TypedDict):
    label: str


class Logged(TypedDict):
    log: str


def empty(**changed):
    """Return a pattern without nodes."""
    parts = {"state": State, "input": In, "output": Out, "policy": Policy(), "budget": Budget(), **changed}
    return Pattern(parts.pop("catalogue", REASONS), **parts)


def terminal(state, run):
    """End."""
    return {"outcome": "done"}


def direct(**changed):
    """Return the smallest pattern: a guard and an end."""
    p = empty(**changed)
    p.entry("request_guard", check_request, writes=["task"], to="done")
    p.terminal("done", terminal, phase="lookup", reads=["task"], writes=["outcome"])
    return p


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"output": Shared}, r"channels: each name once .*; given twice: task"),
        ({"state": Logged}, r"given twice: log"),
        ({"input": State}, r"given twice: accepted_duty, "),
        (
            {"output": NoResult},
            r"a TypedDict derived from Result is required; missing: asked_question, attempts, audit, details, ",
        ),
    ],
)
def test_channels_are_named_once_and_the_output_is_a_result(changed, message):
    """A caller must not be able to write what nodes write, and every result says how the run went."""
    with pytest.raises(GrammarError, match=message):
        empty(**changed)


async def coroutine(state, run):
    """Stand in for a body that LangGraph would take."""


async def stream(state, run):
    """Stand in for another one."""
    yield


REFUSED = [
    (
        lambda p: p.entry("request_guard", check_request, writes=[], to="done"),
        r"node 'request_guard': a name of its own",
    ),
    (lambda p: p.guard("stop_it", check_request, phase="label", reads=[], to=[]), r"not beginning with 'stop_'"),
    (lambda p: p.guard("g", coroutine, phase="label", reads=[], to=[]), r"node 'g': a body is a plain function"),
    (lambda p: p.propose("g", stream, phase="label", reads=[], writes=[], to="done"), r"a body is a plain function"),
    (
        lambda p: p.guard("g", check_request, phase="label", reads=["tasks"], to=[]),
        r"'g', reads: given tasks; allowed: ",
    ),
    (lambda p: p.guard("g", check_request, phase="label", reads=["ticket"], to=[]), r"'g', reads: given ticket"),
    (lambda p: p.guard("g", check_request, phase="label", reads=["label"], to=[]), r"'g', reads: given label"),
    (lambda p: p.guard("g", check_request, phase="label", reads=[], writes=["label"], to=[]), r"writes: given label"),
    (lambda p: p.guard("g", check_request, phase="label", reads=[], writes=["log"], to=[]), r"writes: given log"),
    (
        lambda p: p.guard("g", check_request, phase="label", reads=[], to="nowhere"),
        r"'g', to: given nowhere; allowed: ",
    ),
    (lambda p: p.guard("g", check_request, phase="label", reads=[], to=[], stops=["x"]), r"'g', stops: given x"),
    (lambda p: p.guard("g", check_request, phase="plan", reads=[], to=[]), r"'g', phase: given plan; allowed: label, "),
    (lambda p: p.terminal("t", terminal, phase="label", reads=[], writes=["status"]), r"'t', writes: given status"),
    (lambda p: p.terminal("t", terminal, phase="label", reads=[], writes=["task"]), r"'t', writes: given task"),
    (lambda p: p.entry("again", check_request, writes=[], to="done"), r"entry: a pattern has one guard that every run"),
    (
        lambda p: p.propose("ask", terminal, phase="label", reads=[], writes=["proposed_label"], to="done"),
        r"guarded: ask is followed by done, which is no guard \[ask -> done\]\nbypass: ",
    ),
    (
        lambda p: p.guard("orphan", check_request, phase="label", reads=["task"], to="done"),
        r"reachable: no run can reach orphan",
    ),
]


@each_row(("declare", "message"), REFUSED)
def test_what_cannot_work_is_refused_while_building(declare, message):
    """An unknown name, a name taken twice, a body that cannot run, or a broken rule never becomes a graph."""

    def build():
        p = direct()
        declare(p)
        p.compile(name="refused")

    with pytest.raises(GrammarError, match=message) as raised:
        build()
    assert isinstance(raised.value, ConfigurationError)


LACKING = {
    "no guard_error": ([], r"'request_guard', stops: given invalid_request, guard_error; allowed: nothing"),
    "guard_error in one phase": (
        [
            StopReason("guard_error:<guard>", "guard_error", ("label",), "m", "a"),
            StopReason("invalid_request:<field>", "invalid_request", ("label",), "m", "a"),
        ],
        r"node 'done', phase of guard_error:done: given lookup; allowed: label",
    ),
    "guard_error without the node's name": (
        [
            StopReason("guard_error", "guard_error", PHASES, "m", "a"),
            StopReason("invalid_request:<field>", "invalid_request", PHASES, "m", "a"),
        ],
        r"phase of guard_error:request_guard: given label; allowed: nothing",
    ),
    "no audit_unavailable": (
        [item for item in common_reasons(phases=PHASES) if item.family != "audit_unavailable"],
        r"^catalogue 'lacking': a run that had to be recorded .* \(`common_reasons` has it\); missing: label, lookup$",
    ),
    "audit_unavailable in one phase": (
        [
            *(item for item in common_reasons(phases=PHASES) if item.family != "audit_unavailable"),
            StopReason("audit_unavailable", "audit_unavailable", ("label",), "m", "a"),
        ],
        r"missing: lookup$",
    ),
    "audit_unavailable of another family": (
        [
            *(item for item in common_reasons(phases=PHASES) if item.family != "audit_unavailable"),
            StopReason("audit_unavailable", "guard_error", PHASES, "m", "a"),
        ],
        r"missing: label, lookup$",
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_catalogue_must_have_what_the_grammar_itself_stops_for(name):
    """Every node must be able to close the run, in its own phase."""
    reasons, message = LACKING[name]
    with pytest.raises(GrammarError, match=message):
        direct(catalogue=Catalogue("lacking", PHASES, reasons)).compile(name="lacking")


def test_declarations_live_in_the_metadata_and_survive_a_recompile():
    """Kind, phase, writes and stop families are in the graph, and in its picture."""
    graph = triage().builder.compile(checkpointer=InMemorySaver(), name="again")
    assert isinstance(graph, GuardedGraph)
    assert verify(graph) == []
    assert graph.nodes["label"].metadata == {"kind": "propose", "phase": "label", "writes": ["proposed_label"]}
    assert graph.nodes["stop_llm"].metadata["family"] == "llm"
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {("label_guard", "stop_invalid_label"), ("stop_llm", "__end__"), ("label", "label_guard")} <= drawn
    assert "kind = propose" in graph.get_graph().draw_mermaid()


def test_schemas_are_those_of_the_contract():
    """What LangGraph tells of input and output are the pattern's own dictionaries, and no channel of the run."""
    graph = triage()
    assert graph.get_input_jsonschema()["properties"].keys() == {"ticket"}
    assert (
        graph.get_output_jsonschema()["properties"].keys() == Out.__annotations__.keys() | Result.__annotations__.keys()
    )
    assert set(graph.get_context_jsonschema()["properties"]) == {"policy", "budget", "caller"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"world": 3}, "world: an object with clock, calendar, new_run, perform, aperform is required; given: 3"),
        ({"recorder": "x"}, "recorder: an object with record is required; given: 'x'"),
        ({"checkpointer": "x"}, "checkpointer: a LangGraph checkpointer; given: str"),
        ({"name": 7}, "name: a text that is not blank; given: 7"),
        ({"name": " "}, "name: a text that is not blank; given: ' '"),
    ],
)
def test_a_factory_names_the_argument_that_is_wrong(given, message):
    """Nothing waits for the first run to fail."""
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        create_rag_agent(**given)


class Async:
    """A recorder that would have to be awaited."""

    async def record(self, run):
        """Keep nothing."""


class Calling:
    """A function that would have to be awaited, as an object."""

    async def __call__(self, run):
        """Keep nothing."""


class Holding:
    """A recorder with a record of somebody else's."""

    def __init__(self, record):
        self.record = record


class Wrapper:
    """A world that hands on to the live one."""

    def __init__(self, **own):
        self.inner = LiveWorld()
        vars(self).update(own)

    def __getattr__(self, name):
        return getattr(self.inner, name)


async def awaited(asked, seconds):
    """Bring nothing."""
    return []


def waited_for(asked, seconds):
    """Bring nothing."""
    return []


PLAIN = "a plain function is required; given: "
WRONG = {
    "an async recorder": ({"recorder": Async()}, f"recorder.record: {PLAIN}Async.record is async"),
    "an async callable": ({"recorder": Holding(Calling())}, f"recorder.record: {PLAIN}Holding.record is async"),
    "an async partial": (
        {"recorder": Holding(functools.partial(Async.record, None))},
        f"recorder.record: {PLAIN}Holding.record is async",
    ),
    "the class of a recorder": ({"recorder": Kept}, "recorder: an object is required, not its class; given: Kept"),
    "the class of a world": ({"world": LiveWorld}, "world: an object is required, not its class; given: LiveWorld"),
    "an async perform": ({"world": Wrapper(perform=awaited)}, f"world.perform: {PLAIN}Wrapper.perform is async"),
    "an async clock": ({"world": Wrapper(clock=awaited)}, f"world.clock: {PLAIN}Wrapper.clock is async"),
    "a plain aperform": (
        {"world": Wrapper(aperform=waited_for)},
        "world.aperform: a coroutine function is required; given: Wrapper.aperform is not async",
    ),
}


@pytest.mark.paired
@pytest.mark.parametrize("make", [triage, create_rag_agent])
@pytest.mark.parametrize("name", WRONG)
def test_what_could_not_work_is_refused_when_the_graph_is_made(name, make):
    """The error names the argument, the method, what is required and what was given."""
    given, message = WRONG[name]
    with pytest.raises(ConfigurationError) as raised:
        make(**given)
    assert str(raised.value) == message


@pytest.mark.parametrize("recorder", [None, Kept()], ids=["", "recorded"])
def test_settings_that_no_recording_could_hold_are_refused(recorder):
    """A policy that nobody validated is no reason to lose a recording at the end of a run without a word."""
    policy = Policy.model_construct(labels=("bug",), desks=("bug", object()))
    with pytest.raises(ConfigurationError, match=r"^policy: values that can be written as JSON are required; given: "):
        triage(policy=policy, recorder=recorder)

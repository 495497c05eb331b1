"""Putting a pattern together: channels, declarations and who is called; what the graph keeps, and what is refused."""

import operator
import re
from math import inf
from typing import Annotated, NotRequired

import pytest
from langgraph.channels import BinaryOperatorAggregate, EphemeralValue, LastValue, Topic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START
from recorded_runs import Kept
from runs import BOTH, THREAD, run
from tables import each_row
from ticket_pattern import PHASES, REASONS, TICKET, In, Out, Policy, State, check_request, pattern, triage
from typing_extensions import TypedDict, get_type_hints

import guardgraph.grammar as gg
from guardgraph import ConfigurationError, GrammarError, GuardedGraph, LiveWorld, create_rag_agent, verify
from guardgraph.testing import InMemoryRecorder

NoResult, Logged = TypedDict("NoResult", {"label": str}), TypedDict("Logged", {"log": str})
NAMES = {"guard_error": "guard_error", "invalid_request:<field>": "invalid_request"}
UNNAMED = [gg.StopReason(name, family, PHASES, "m", "a") for name, family in NAMES.items()]
UNRECORDED = [item for item in gg.common_reasons(phases=PHASES) if item.family != "audit_unavailable"]
UNKEPT = Policy.model_construct(labels=("bug",), desks=("bug", object()))
"""A policy that nobody validated, and that no recording could hold."""
SCHEMAS = {"state": State, "input": In, "output": Out}
NAMED = [
    *((name, "a name without ':'") for name in ("branch:to:done", "__start__", "a:b")),
    *((name, "a name that is not blank and has no control characters") for name in ("", " ", "a\x00b", "a\ud800")),
]
GUARD = {"phase": "label", "reads": ["proposed_label"], "writes": ["accepted_label"], "stops": ["llm", "invalid_label"]}


def terminal(state, run):
    return {"outcome": "done"}


def empty(**changed):
    parts = {"state": State, "input": In, "output": Out, "policy": Policy(), "budget": gg.Budget(), **changed}
    return gg.Pattern(parts.pop("catalogue", REASONS), **parts)


def direct(**changed):
    p = empty(**changed)
    p.entry("request_guard", check_request, writes=["task"], to="done")
    p.terminal("done", terminal, phase="lookup", reads=["task"], writes=["outcome"])
    return p


def test_a_node_of_your_own_uses_what_the_state_declares():
    """A compiled pattern keeps only the channels that its nodes use; to its builder anybody may add one."""
    own, seen = direct(state=TypedDict("Own", {"task": dict, "extra": str})), []
    assert "extra" not in own.compile().channels
    builder = own.builder()
    builder.add_node("mine", lambda state: {"extra": "kept"})
    builder.add_node("reader", lambda state: seen.append(state["extra"]))
    builder.add_edge(START, "mine").add_edge("mine", "reader")
    builder.compile().invoke(TICKET)
    assert seen == ["kept"]


class Shared(Out):
    task: NotRequired[str]


@each_row(
    ("changed", "message"),
    ({"output": Shared}, r"channels: each name once .*; given twice: task"),
    ({"state": Logged}, r"given twice: log"),
    ({"input": State}, r"given twice: accepted_duty, "),
    ({"so_far": {"task": "task", "no": "nowhere.to"}}, r"^so_far: channels of the state are required; given: nowhere$"),
    ({"output": NoResult}, r"derived from Result is required; missing: asked_question, attempts, audit, details, "),
    *(
        ({"output": output}, r"output: a TypedDict derived from Result is required")
        for output in (gg.Ok | NoResult, gg.Waiting | None, gg.Waiting)
    ),
)
def test_channels_are_named_once_and_the_output_is_a_result(changed, message):
    """A caller must not be able to write what nodes write, and every result says how the run went."""
    with pytest.raises(GrammarError, match=message):
        empty(**changed)


async def coroutine(state, run):
    """Stand in for a body that LangGraph would take."""


@each_row(
    ("add", "name", "body", "given", "message"),
    ("entry", "request_guard", check_request, {}, r"node 'request_guard': a name of its own"),
    ("guard", "stop_it", check_request, {}, r"not beginning with 'stop_'"),
    ("guard", "g", coroutine, {}, r"node 'g': a body is a plain function"),
    ("guard", "g", check_request, {"reads": ["ticket"]}, r"'g', reads: given ticket"),
    ("guard", "g", check_request, {"writes": ["log"]}, r"writes: given log"),
    ("guard", "g", check_request, {"phase": "plan"}, r"'g', phase: given plan; allowed: label, "),
    ("guard", "g", check_request, {"again": "done"}, r"'g', again: given done; allowed: nothing"),
    ("guard", "g", check_request, {"stops": ["llm_timeout"]}, r"'g', stops: given llm_timeout; allowed: .*, llm, "),
    ("entry", "again", check_request, {}, r"entry: a pattern has one guard that every run"),
    ("propose", "ask", terminal, {}, r"guarded: ask is followed by done, which is no guard \[ask -> done\]\nbyp"),
    ("guard", "orphan", check_request, {"reads": ["task"]}, r"reachable: no run can reach orphan"),
)
def test_what_cannot_work_is_refused_while_building(add, name, body, given, message):
    """An unknown name, a name taken twice, a body that cannot run, or a broken rule never becomes a graph."""
    said = {"entry": {}, "guard": {"phase": "label", "reads": []}, "propose": {"phase": "label", "reads": []}}[add]
    writes = ["proposed_label"] if add == "propose" else []

    def build():
        p = direct()
        getattr(p, add)(name, body, to="done", **{"writes": writes, **said, **given})
        p.compile(name="refused")

    with pytest.raises(GrammarError, match=message) as raised:
        build()
    assert isinstance(raised.value, ConfigurationError)


@each_row(
    ("reasons", "message"),
    ([], r"'request_guard', stops: given invalid_request, guard_error; allowed: nothing"),
    (UNNAMED, r"phase of guard_error:request_guard: given label; allowed: nothing"),
    (UNRECORDED, r"^catalogue 'lacking': a run that had to be recorded .* has it\); missing: label, lookup$"),
)
def test_a_catalogue_must_have_what_the_grammar_itself_stops_for(reasons, message):
    with pytest.raises(GrammarError, match=message):
        direct(catalogue=gg.Catalogue("lacking", PHASES, reasons)).compile(name="lacking")


def test_declarations_live_in_the_metadata_and_survive_a_recompile():
    """What LangGraph tells of input and output are the pattern's own dictionaries, and no channel of the run."""
    graph = triage().builder.compile(checkpointer=InMemorySaver(), name="again")
    assert isinstance(graph, GuardedGraph)
    assert verify(graph) == []
    assert graph.nodes["label"].metadata == {"kind": "propose", "phase": "label", "writes": ["proposed_label"]}
    assert graph.nodes["stop_llm"].metadata["family"] == "llm"
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {("label_guard", "stop_invalid_label"), ("stop_llm", "__end__"), ("label", "label_guard")} <= drawn
    assert "kind = propose" in graph.get_graph().draw_mermaid()
    assert graph.get_input_jsonschema()["properties"].keys() == {"ticket"}
    written = Out.__annotations__.keys() | gg.Result.__annotations__.keys()
    assert graph.get_output_jsonschema()["properties"].keys() == written
    first = ["run_id", "pattern", "status", "stop_reason", "outcome", "label", "on_duty"]
    assert [*graph.invoke(TICKET, THREAD)][:7] == first  # what came of the run stands before how it went
    assert set(graph.get_context_jsonschema()["properties"]) == {"policy", "budget", "caller"}


def odd(kind, **parts):
    """Return one of a kind that has other parts."""
    return type("Odd", (kind,), parts)()


@each_row(
    ("given", "message"),
    ({"recorder": odd(Kept, record=coroutine)}, r"recorder\.record: a plain function is required; .* is async$"),
    ({"recorder": Kept}, "recorder: an object is required, not its class; given: Kept$"),
    ({"recorder": Policy()}, "recorder: an object with record is required; given: Policy"),
    *(
        ({"recorder": odd(Kept, timeout=seconds)}, f"recorder.timeout: seconds above 0, or None; given: {seconds!r}$")
        for seconds in (0, True, inf, "1")
    ),
    ({"world": odd(LiveWorld, aperform=print)}, r"world\.aperform: a coroutine function is required; .* is not async$"),
    ({"checkpointer": 5}, "checkpointer: a LangGraph checkpointer; given: int$"),
    *(({"name": name}, f"name: a text that is not blank; given: {name!r}$") for name in (" ", 7)),
    ({"forks": 1}, "forks: True or False is required; given: 1$"),
    ({"policy": UNKEPT}, "policy: values that can be written as JSON are required; given: "),
    ({"policy": UNKEPT, "recorder": Kept()}, "policy: values that can be written as JSON are required; given: "),
)
def test_what_could_not_work_is_refused_when_the_graph_is_made(given, message):
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        pattern(policy=given.get("policy")).compile(**{key: part for key, part in given.items() if key != "policy"})
    assert pattern().compile(recorder=odd(Kept, timeout=0.5), checkpointer=True, forks=True).name == "triage"


def with_channel(field, name, hint):
    return {field: TypedDict("Wider", {**get_type_hints(SCHEMAS[field], include_extras=True), name: hint})}


@each_row(("name", "required"), *NAMED)
def test_a_name_can_be_written_and_is_none_of_langgraphs(name, required):
    """What is written to `branch:to:<node>` starts that node, and a recording, a log and a page show every name."""
    for field in SCHEMAS:
        with pytest.raises(GrammarError, match=f"^{field}: {required}.* a channel; given: {re.escape(repr(name))}$"):
            empty(**with_channel(field, name, NotRequired[str]))
    for given in (name, 7):
        with pytest.raises(GrammarError, match=rf"^node {re.escape(repr(given))}: a name "):
            empty().terminal(given, terminal, phase="lookup", reads=[], writes=["outcome"])


REDUCERS = [
    (Annotated[list, operator.add], "add"),
    (NotRequired[Annotated[list, operator.add]], "add"),
    (Annotated[NotRequired[Annotated[list, operator.add]], "with a comment"], "add"),
    (Annotated[list, Topic(str)], "Topic"),
    (Annotated[int, BinaryOperatorAggregate(int, operator.add)], "BinaryOperatorAggregate"),
]


@each_row(("hint", "shown"), *REDUCERS)
def test_a_reducer_is_refused_wherever_it_is_declared(hint, shown):
    """A reducer never vanishes silently, not even on a raw channel, an input or an output: the channel is named."""
    for field in SCHEMAS:
        with pytest.raises(GrammarError, match=rf"channel seen has a reducer.+; {field}: a plain type .+: {shown}$"):
            empty(**with_channel(field, "seen", hint))
        empty(**with_channel(field, "seen", NotRequired[Annotated[list, LastValue, EphemeralValue(list), "a comment"]]))


def saying(**fields):
    @gg.declares(**fields)
    def declared(state, run):
        return gg.Pass()

    return declared


def add(kind, own=terminal, **given):
    ways = {} if kind == "terminal" else {"to": "spam"}
    getattr(empty(), kind)("n", own, **ways, **given)


@pytest.mark.parametrize("field", GUARD)
def test_a_field_is_said_once(field):
    """What a body and the pattern both say is refused, even where they agree; the message names node and field."""
    with pytest.raises(GrammarError, match=rf"^node 'n', {field}: said twice, beside its body \(.+\) and in the "):
        add("guard", saying(**GUARD), **{field: GUARD[field]})
    with pytest.raises(GrammarError, match=r"^declares: once for a body; .*declared has Declares\(phase='label', "):
        gg.declares(phase="lookup")(saying(phase="label"))
    with pytest.raises(GrammarError, match=r"^declares: a function is required; given: print$"):
        gg.declares(phase="label")(print)


@pytest.mark.parametrize("kind", ["propose", "act", "review", "guard", "terminal"])
def test_what_nobody_says_is_refused(kind):
    missing = "phase, reads" if kind == "guard" else "phase, reads, writes"
    with pytest.raises(GrammarError, match=rf"^node 'n', {missing}: required, beside its body or in the pattern$"):
        add(kind)
    with pytest.raises(GrammarError, match=r"^node 'n', phase: required, "):
        add(kind, saying(reads=[], writes=[]))


def test_a_node_says_only_what_its_kind_may():
    """Stop families beside any body but a guard's would be drawn nowhere; effects are an act node's alone."""
    said = {"phase": "label", "reads": ["task"], "writes": ["proposed_label"]}
    for kind in ("propose", "act", "review", "terminal"):
        with pytest.raises(GrammarError, match=r"^node 'n', stops: given llm; allowed: nothing, only a guard stops$"):
            add(kind, saying(**said, stops=["llm"]))
    for field, given in {"effects": ["pay"], "rounds": 1, "behind": ["label_guard"]}.items():
        for kind in ("propose", "guard"):
            with pytest.raises(GrammarError, match=rf"^node 'n', {field}: given; allowed: nothing, only an act node "):
                add(kind, saying(**said, **{field: given}))
    for attempts, again in ((0, "label"), (True, "label"), (2, None)):
        with pytest.raises(GrammarError, match=r"^node 'n', attempts: a whole number from 1 on, beside again"):
            add("guard", saying(**said), attempts=attempts, again=again)
    add("guard", saying(**said), attempts=1, again="label")
    with pytest.raises(GrammarError, match=r"^node 'n': a policy with on_limit and a ReservingBudget are required$"):
        add("limit", saying(**said))


@each_row(
    ("kind", "field", "given", "required"),
    *(("guard", *item, "a list of names") for item in (("reads", "task"), ("writes", 3), ("stops", True))),
    *(("act", "calls", given, "a list of proposers, or of names of tools,") for given in ("pay", ["pay", 3])),
    *(("act", "rounds", given, "a whole number from 1 on, or 'any',") for given in (0, True, "all")),
)
def test_names_and_calls_are_lists_and_rounds_are_counted(kind, field, given, required):
    """A text is not taken for its letters, neither beside a body nor in a pattern."""
    message = re.escape(f"{field}: {required} is required; given: {given!r}")
    with pytest.raises(GrammarError, match=f"^declares, {message}$"):
        gg.declares(**{field: given})
    with pytest.raises(GrammarError, match=f"^node 'n', {message}$"):
        add(kind, **{field: given})


def named():
    return gg.choose_proposer(
        "labeller",
        None,
        "openai:test-model",
        prompt=gg.Prompt("label", "Label the ticket as JSON.", {"type": "object"}),
        offline=lambda view: {"label": "bug"},
    )


def asking(proposer, calls):
    @gg.declares(calls=calls)
    def body(state, run):
        outcome = yield proposer.call({"ticket": state["task"]})
        return {"proposed_label": outcome.packed()}

    return body


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("calls", [lambda proposer: proposer, lambda proposer: proposer.target], ids=["it", "target"])
def test_a_declared_model_is_opened_before_the_run(calls, mode, monkeypatch):
    """Without a key there is an error before anything runs, and no run that ends at the node that asks."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    proposer, recorder = named(), InMemoryRecorder()
    graph = triage(bodies={"label": asking(proposer, [calls(proposer)])}, recorder=recorder)
    with pytest.raises(ConfigurationError, match=r"^OPENAI_API_KEY: "):
        run(graph, TICKET, mode)
    assert recorder.begun == []


def test_a_body_asks_nobody_whom_it_does_not_declare():
    """A node that says whom it calls and asks another one closes the run."""
    result = triage(bodies={"label": asking(named(), [lambda view: {"label": "bug"}])}).invoke(TICKET)
    assert result["stop_reason"] == "guard_error:label"
    assert "not among the 1 calls of its node: 'test-model'" in result["details"]["message"]


@each_row(
    ("node", "calls", "message"),
    ("label", ["openai"], "node 'label', calls: given 'openai'; allowed: proposers"),
    ("lookup", [named], "allowed: names of the pattern's tools"),
    ("label_guard", ["pay"], "node 'label_guard', calls: given 'pay'; allowed: nothing"),
)
def test_only_what_a_kind_of_node_may_call_is_declared(node, calls, message):
    with pytest.raises(GrammarError, match=message):
        triage(bodies={node: gg.declares(calls=calls)(lambda state, run: {})})


def test_a_keyword_that_nothing_takes_is_refused_with_those_that_there_are():
    with pytest.raises(TypeError, match=r"'recoder'; allowed: world, recorder"):
        create_rag_agent(recoder=None)
    for given in ({"entry": True}, {"read": []}):
        with pytest.raises(TypeError, match=r"'(entry|read)'; allowed: phase, reads, writes"):
            empty().propose("triage", triage, to="check", **given)

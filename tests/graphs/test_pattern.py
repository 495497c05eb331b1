"""Putting a pattern together: channels, declarations and who is called; what the graph keeps, and what is refused."""

import operator
import re
from typing import Annotated, NotRequired

import pytest
from langgraph.channels import BinaryOperatorAggregate, Topic
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Kept
from runs import BOTH, run
from tables import each_row
from ticket_pattern import PHASES, REASONS, TICKET, In, Out, Policy, State, check_request, triage
from typing_extensions import TypedDict, get_type_hints

import guardgraph.grammar as gg
from guardgraph import ConfigurationError, GrammarError, GuardedGraph, create_rag_agent, verify


class Shared(Out):
    task: NotRequired[str]


class NoResult(TypedDict):
    label: str


class Logged(TypedDict):
    log: str


def empty(**changed):
    parts = {"state": State, "input": In, "output": Out, "policy": Policy(), "budget": gg.Budget(), **changed}
    return gg.Pattern(parts.pop("catalogue", REASONS), **parts)


def terminal(state, run):
    return {"outcome": "done"}


def direct(**changed):
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
        *(
            ({"output": output}, r"output: a TypedDict derived from Result is required")
            for output in (gg.Ok | NoResult, gg.Waiting | None, gg.Waiting)
        ),
    ],
)
def test_channels_are_named_once_and_the_output_is_a_result(changed, message):
    """A caller must not be able to write what nodes write, and every result says how the run went."""
    with pytest.raises(GrammarError, match=message):
        empty(**changed)


async def coroutine(state, run):
    """Stand in for a body that LangGraph would take."""


REFUSED = [
    (
        lambda p: p.entry("request_guard", check_request, writes=[], to="done"),
        r"node 'request_guard': a name of its own",
    ),
    (lambda p: p.guard("stop_it", check_request, phase="label", reads=[], to=[]), r"not beginning with 'stop_'"),
    (lambda p: p.guard("g", coroutine, phase="label", reads=[], to=[]), r"node 'g': a body is a plain function"),
    (lambda p: p.guard("g", check_request, phase="label", reads=["ticket"], to=[]), r"'g', reads: given ticket"),
    (lambda p: p.guard("g", check_request, phase="label", reads=[], writes=["log"], to=[]), r"writes: given log"),
    (lambda p: p.guard("g", check_request, phase="plan", reads=[], to=[]), r"'g', phase: given plan; allowed: label, "),
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
    "guard_error without the node's name": (
        [
            gg.StopReason("guard_error", "guard_error", PHASES, "m", "a"),
            gg.StopReason("invalid_request:<field>", "invalid_request", PHASES, "m", "a"),
        ],
        r"phase of guard_error:request_guard: given label; allowed: nothing",
    ),
    "no audit_unavailable": (
        [item for item in gg.common_reasons(phases=PHASES) if item.family != "audit_unavailable"],
        r"^catalogue 'lacking': a run that had to be recorded .* \(`common_reasons` has it\); missing: label, lookup$",
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_catalogue_must_have_what_the_grammar_itself_stops_for(name):
    reasons, message = LACKING[name]
    with pytest.raises(GrammarError, match=message):
        direct(catalogue=gg.Catalogue("lacking", PHASES, reasons)).compile(name="lacking")


def test_declarations_live_in_the_metadata_and_survive_a_recompile():
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
        graph.get_output_jsonschema()["properties"].keys()
        == Out.__annotations__.keys() | gg.Result.__annotations__.keys()
    )
    assert set(graph.get_context_jsonschema()["properties"]) == {"policy", "budget", "caller"}


class Async:
    """A recorder that would have to be awaited."""

    async def record(self, run):
        """Keep nothing."""


PLAIN = "a plain function is required; given: "
WRONG = {
    "an async recorder": ({"recorder": Async()}, f"recorder.record: {PLAIN}Async.record is async"),
    "the class of a recorder": ({"recorder": Kept}, "recorder: an object is required, not its class; given: Kept"),
}


@pytest.mark.paired
@pytest.mark.parametrize("make", [triage, create_rag_agent])
@pytest.mark.parametrize("name", WRONG)
def test_what_could_not_work_is_refused_when_the_graph_is_made(name, make):
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


SCHEMAS = {"state": State, "input": In, "output": Out}


def with_channel(field, name, hint):
    return {field: TypedDict("Wider", {**get_type_hints(SCHEMAS[field], include_extras=True), name: hint})}


NAMES = ["branch:to:done", "__start__", "a:b"]
UNWRITABLE = ["", " ", "a\x00b", "a\nb", "\x1b[31m", "a\ud800"]


@pytest.mark.paired
@pytest.mark.parametrize("name", [*NAMES, *UNWRITABLE])
@pytest.mark.parametrize("field", ["state", "input", "output"])
def test_a_channel_has_a_name_that_can_be_written_and_is_none_of_langgraphs(field, name):
    """What is written to `branch:to:<node>` starts that node, and a recording, a log and a page show every name."""
    with pytest.raises(GrammarError) as raised:
        empty(**with_channel(field, name, NotRequired[str]))
    required = "a name without ':'" if name in NAMES else "a name that is not blank and has no control characters"
    assert str(raised.value).startswith(f"{field}: {required}")
    assert str(raised.value).endswith(f"for a channel; given: {name!r}")


@pytest.mark.parametrize("name", [*NAMES, *UNWRITABLE, 7])
def test_a_node_has_a_name_that_can_be_written_and_is_none_of_langgraphs(name):
    with pytest.raises(GrammarError, match=rf"^node {re.escape(repr(name))}: a name "):
        empty().terminal(name, terminal, phase="lookup", reads=[], writes=["outcome"])


REDUCERS = [
    (Annotated[list, operator.add], "add"),
    (NotRequired[Annotated[list, operator.add]], "add"),
    (Annotated[NotRequired[Annotated[list, operator.add]], "with a comment"], "add"),
    (Annotated[list, Topic(str)], "Topic"),
    (Annotated[int, BinaryOperatorAggregate(int, operator.add)], "BinaryOperatorAggregate"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("hint", "shown"), REDUCERS)
@pytest.mark.parametrize("field", ["state", "input", "output"])
def test_a_reducer_is_refused_wherever_it_is_declared(field, hint, shown):
    """A reducer never vanishes silently, not even on a raw channel, an input or an output: the channel is named."""
    with pytest.raises(GrammarError, match=rf"the channel seen has a reducer.+; {field}: a plain type .+: {shown}$"):
        empty(**with_channel(field, "seen", hint))


GUARD = {"phase": "label", "reads": ["proposed_label"], "writes": ["accepted_label"], "stops": ["llm", "invalid_label"]}
KINDS = ["propose", "act", "review", "guard", "terminal"]


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
    with pytest.raises(
        GrammarError, match=rf"^node 'n', {field}: said twice, beside its body \(.+\) and in the pattern"
    ):
        add("guard", saying(**GUARD), **{field: GUARD[field]})


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_says_is_refused(kind):
    missing = "phase, reads" if kind == "guard" else "phase, reads, writes"
    with pytest.raises(GrammarError, match=rf"^node 'n', {missing}: required, beside its body or in the pattern$"):
        add(kind)
    with pytest.raises(GrammarError, match=r"^node 'n', phase: required, "):
        add(kind, saying(reads=[], writes=[]))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "guard"])
def test_only_a_guard_stops(kind):
    """Stop families beside any other body would be drawn nowhere, so they are refused."""
    with pytest.raises(GrammarError, match=r"^node 'n', stops: given llm; allowed: nothing, only a guard stops$"):
        add(kind, saying(**{"phase": "label", "reads": ["task"], "writes": ["proposed_label"]}, stops=["llm"]))


@pytest.mark.parametrize("kind", ["propose", "guard"])
def test_only_an_act_has_effects_rounds_and_what_stands_before_it(kind):
    said = {"phase": "label", "reads": [], "writes": []}
    for field, given in {"effects": ["pay"], "rounds": 2, "behind": ["label_guard"]}.items():
        with pytest.raises(GrammarError, match=rf"^node 'n', {field}: given; allowed: nothing, only an act node "):
            add(kind, saying(**said, **{field: given}))
    for attempts, again in ((0, "label"), (True, "label"), (2, None)):
        with pytest.raises(GrammarError, match=r"^node 'n', attempts: a whole number from 1 on, beside again"):
            add("guard", saying(**said), attempts=attempts, again=again)


@pytest.mark.paired
@pytest.mark.parametrize("given", ["task", 3, True])
@pytest.mark.parametrize("field", ["reads", "writes", "stops"])
def test_names_are_a_list(field, given):
    """A text is not taken for its letters, neither beside a body nor in a pattern."""
    with pytest.raises(GrammarError, match=rf"^declares, {field}: a list of names is required; given: {given!r}$"):
        gg.declares(**{field: given})
    with pytest.raises(GrammarError, match=rf"^node 'n', {field}: a list of names is required; given: {given!r}$"):
        add("guard", **{**GUARD, field: given})


def test_a_body_is_declared_once():
    with pytest.raises(GrammarError, match=r"^declares: once for a body; .*declared has Declares\(phase='label', "):
        gg.declares(phase="lookup")(saying(phase="label"))


def named():
    return gg.choose_proposer(
        "labeller",
        None,
        "openai:test-model",
        prompt=gg.Prompt("label", "Label the ticket as JSON.", {"type": "object"}),
        offline=lambda view: {"label": "bug"},
    )


def asking(proposer, calls=None):
    def body(state, run):
        outcome = yield proposer.call({"ticket": state["task"]})
        return {"proposed_label": outcome.packed()}

    return body if calls is None else gg.declares(calls=calls)(body)


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("calls", [lambda proposer: proposer, lambda proposer: proposer.target], ids=["it", "target"])
def test_a_declared_model_is_opened_before_the_run(calls, mode, monkeypatch):
    """Without a key there is an error before anything runs, and no run that ends at the node that asks."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    begun, proposer = [], named()

    def first(state, run):
        begun.append(state)

    graph = triage(bodies={"label": asking(proposer, [calls(proposer)]), "request_guard": first})
    with pytest.raises(ConfigurationError, match=r"^OPENAI_API_KEY: "):
        run(graph, TICKET, mode)
    assert begun == []


def test_a_body_asks_nobody_whom_it_does_not_declare():
    """A node that says whom it calls and asks another one closes the run."""
    graph = triage(bodies={"label": asking(named(), [lambda view: {"label": "bug"}])})
    result = graph.invoke(TICKET)
    assert result["stop_reason"] == "guard_error:label"
    assert "not among the 1 calls of its node: 'test-model'" in result["details"]["message"]


WRONG_CALLS = {
    "a text of a propose node": ("label", ["openai"], "node 'label', calls: given 'openai'; allowed: proposers"),
    "a function of an act node": ("lookup", [named], "allowed: names of the pattern's tools"),
    "a guard": ("label_guard", ["pay"], "node 'label_guard', calls: given 'pay'; allowed: nothing"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_only_what_a_kind_of_node_may_call_is_declared(name):
    node, calls, message = WRONG_CALLS[name]
    with pytest.raises(GrammarError, match=message):
        triage(bodies={node: gg.declares(calls=calls)(lambda state, run: {})})


def test_a_keyword_that_nothing_takes_is_refused_with_those_that_there_are():
    with pytest.raises(TypeError, match=r"'recoder'; allowed: world, recorder"):
        create_rag_agent(recoder=None)
    for given in ({"entry": True}, {"read": []}):
        with pytest.raises(TypeError, match=r"'(entry|read)'; allowed: phase, reads, writes"):
            empty().propose("triage", triage, to="check", **given)

"""The grammar at run time: whatever a body does, the run ends closed with a stop reason; nothing escapes."""

from contextlib import suppress

import pytest
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.types import Command, Send, interrupt
from runs import MODES, check_result, content, run
from tables import each_row
from ticket_pattern import REASONS, TICKET, triage

from guardgraph.grammar import Call, Outcome, Pass, Step, Stop

CALLED = []
ASK, USE = Call("proposer", CALLED.append, {"ticket": "x"}), Call("tool", CALLED.append, {})


def closed(node, body, mode="invoke"):
    """Run with a body that misbehaves; the run must end closed on account of that node. Returns the details."""
    result = check_result(REASONS, run(triage(bodies={node: body}), TICKET, mode))
    assert (result["status"], result["stop_reason"]) == ("stopped", f"guard_error:{node}")
    assert (result["path"][-1], content(result).keys()) == ("stop_guard_error", {"details"})
    return result["details"]


def raising(error):
    def body(state, run):
        raise error

    return body


class Mute(Exception):
    """An error that cannot even say what it is."""

    def __str__(self):
        raise RuntimeError


WORKING = ["label", "lookup"]
GUARDS = ["request_guard", "label_guard", "duty_guard"]
RAISED = [KeyError("key"), RecursionError(), MemoryError(), StopIteration(), TimeoutError(), Mute(), GraphInterrupt(())]
PARENT = ParentCommand(Command(goto="routed", graph=Command.PARENT))


@pytest.mark.paired
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("node", "error"),
    [*((node, RAISED[0]) for node in [*GUARDS, *WORKING]), *(("label_guard", each) for each in [*RAISED[1:], PARENT])],
)
def test_no_exception_of_a_body_escapes(node, error, mode):
    """Whatever a body raises, even a full stack or memory or control flow of LangGraph's, the run ends closed."""
    details = closed(node, raising(error), mode)
    assert (details["type"], details["at"]["file"]) == (type(error).__name__, "test_grammar.py")
    assert error is not RAISED[0] or details["message"] == "'key'"


@pytest.mark.paired
@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (Command(goto="routed"), "returned a Command; a body returns a dictionary of channels"),
        (Send("routed", {}), "returned a Send"),
        (None, "returned a NoneType"),
        ({"accepted_label": "bug"}, "wrote accepted_label; declared: "),
        ({"stop_reason": "success", "route": "routed"}, "wrote route, stop_reason; declared: "),
        ({1: 2}, "wrote 1; declared: "),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("node", WORKING)
def test_a_node_writes_only_what_it_declared(node, returned, message):
    """A Command, a foreign channel or nothing at all closes the run; nothing of it is written."""
    details = closed(node, lambda state, run: returned)
    assert details["type"] == "GrammarBreach"
    assert details["message"].startswith(message)


@each_row(
    ("returned", "message"),
    ({"accepted_label": "bug"}, "returned a dict; a guard returns a Pass or raises a Stop"),
    (Command(goto="routed"), "returned a Command; a guard returns a Pass or raises a Stop"),
    (Pass({"accepted_label": "bug"}), "passed to None; declared: lookup, spam"),
    (Pass({"accepted_label": "bug"}, "routed"), "passed to 'routed'; declared: lookup, spam"),
    (Pass({"accepted_label": "bug"}, ["lookup"]), "passed to ['lookup']"),
    (Pass({"accepted_duty": "Ada"}, "lookup"), "wrote accepted_duty; declared: accepted_label"),
    (Pass({"accepted_label": 10**30}, "lookup"), "wrote a whole number of more than 64 bits to accepted_label"),
    (Pass({"accepted_label": "\ud800"}, "lookup"), "wrote a text with lone surrogates or U+0000"),
    (Pass({"accepted_label": {"bug"}}, "lookup"), "wrote a set to accepted_label; a state is plain JSON"),
    (Pass({}, "lookup", (Step({"phase": "label"}, {}), "step")), "'str' object has no attribute 'trace'"),
    (Pass({}, "lookup", (Step({"phase": "label"}, "told"),)), "completed a step whose trace or history is no "),
)
def test_a_guard_leaves_only_by_a_pass_or_a_stop(returned, message):
    """A guard that returns anything but a Pass to a way that it declared closes the run."""
    assert closed("label_guard", lambda state, run: returned)["message"].startswith(message)


@pytest.mark.parametrize(
    "stop",
    [
        *(Stop(reason) for reason in ("invalid_lable", "desk_denied:bug", None, ["invalid_label"], "success")),
        *(Stop("max_seconds", phase="nowhere"), Stop("llm_timeout", phase="lookup")),
        *(Stop("invalid_label", unknown_key=1), Stop("invalid_label", run_id="forged")),
    ],
    ids=repr,
)
def test_a_stop_must_be_in_the_catalogue_and_in_the_declaration(stop):
    """A reason, family, phase or evidence key that was not declared closes the run; evidence forges no ok result."""
    details = closed("label_guard", raising(stop))
    assert details["type"] == "GrammarBreach"
    assert details["message"].startswith("raised Stop(")


@pytest.mark.parametrize("node", WORKING)
def test_a_working_node_can_refuse(node):
    """A Stop raised before a call is carried out by the guard behind, and nothing is called."""
    reason, guard = {"label": ("invalid_label", "label_guard"), "lookup": ("desk_denied:bug", "duty_guard")}[node]
    result = check_result(REASONS, triage(bodies={node: raising(Stop(reason))}).invoke(TICKET))
    assert (result["stop_reason"], result["path"][-2]) == (reason, guard)


def test_a_stop_that_its_node_does_not_declare_closes_the_run():
    result = triage(bodies={"lookup": raising(Stop("invalid_label", phase="lookup"))}).invoke(TICKET)
    assert result["stop_reason"] == "guard_error:duty_guard"
    assert "raised Stop('invalid_label'" in result["details"]["message"]


def yielding(*yielded):
    """Return a body that yields one after another."""

    def body(state, run):
        for each in yielded:
            last = yield each
        return last

    return body


@pytest.mark.paired
@pytest.mark.parametrize(
    ("node", "yielded", "message"),
    [
        ("label", ["ask"], "yielded a str; this node may yield Calls of a proposer"),
        ("label", [USE], "yielded a Call of a tool; this node may yield Calls of a proposer"),
        ("label", [ASK, ASK], "asked twice; a propose node makes one call at most"),
        ("lookup", [Command(goto="routed")], "yielded a Command; this node may yield Calls of a tool"),
        ("lookup", [ASK], "yielded a Call of a proposer; this node may yield Calls of a tool"),
        ("lookup", [[USE] * 1001], "yielded 1001 Calls at once; at most 1000"),
        ("lookup", [Call("tool", "x", {})], "called 'x' by its name; only act nodes of a pattern with a table may"),
        *((node, [USE], "returned a generator; a guard returns a Pass or raises a Stop") for node in GUARDS),
    ],
)
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_body_yields_calls_of_its_own_kind_only(node, yielded, message, mode):
    """A propose node asks a proposer once, act nodes use tools, guards decide on what they have."""
    CALLED.clear()
    assert closed(node, yielding(*yielded), mode)["message"] == message
    assert len(CALLED) == (len(yielded) > 1)


@pytest.mark.parametrize("written", [{"label": "bug"}, None, "", '["value", 1, {}, 4]', "null", "\ud800"])
def test_a_proposal_is_kept_as_the_text_of_an_outcome(written):
    result = triage(bodies={"label": lambda state, run: {"proposed_label": written}}).invoke(TICKET)
    assert result["stop_reason"].startswith("guard_error:label")
    wrote = f"wrote a {type(written).__name__} to proposed_label; a proposal is kept as JSON text"
    assert isinstance(written, str) or result["details"]["message"] == wrote


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_an_interrupt_that_nobody_could_resume_closes_the_run(mode):
    details = closed("label", lambda state, run: interrupt("who?"), mode)
    assert details["message"] == "interrupted the run, which nobody can resume without a checkpointer"


def test_what_a_body_does_to_its_view_stays_in_its_view():
    """Changing a validated value in place is a write that was not declared; it reaches nobody."""

    def ask(state, run):
        state["task"]["text"] = "forged"
        state.clear()
        return {"proposed_label": Outcome("value", {"label": "spam"}).packed()}

    graph = triage(bodies={"request_guard": lambda state, run: Pass({"task": {"text": "?"}}), "label": ask})
    last = list(graph.stream(TICKET, stream_mode="values"))[-1]
    assert last["task"] == {"text": "?"}
    assert last["path"] == ["request_guard", "label", "label_guard", "spam"]


@pytest.mark.parametrize(("node", "name"), [("label_guard", "task"), ("lookup", "task"), ("routed", "proposed_label")])
def test_a_channel_that_a_body_reads_undeclared_closes_the_run(node, name):
    """Whatever the kind of the node, the details name the channel, and say that the node does not declare it."""
    details = closed(node, lambda state, run: state[name])
    assert details["message"] == f"'{name}', a channel that {node} does not declare"


def test_what_a_body_handles_itself_closes_no_run():
    """A channel that is not declared is not there, which a body may find out; a stop that it catches is none."""

    def careful(state, run):
        with suppress(Stop):
            raise Stop("caught")
        return Pass({"accepted_label": "bug"}, "spam" if "task" in state or state.get("task") else "lookup")

    assert triage(bodies={"label_guard": careful}).invoke(TICKET)["outcome"] == "routed"

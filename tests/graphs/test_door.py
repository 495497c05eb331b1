"""What a caller can send and what it can change: input, state, context, configuration, and how large they may be."""

import asyncio
import json
import time
from types import MappingProxyType

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command, StateUpdate
from recorded_runs import Kept
from research_cases import asked
from runs import BOTH, MODES, THREAD, check_result, masked, run
from self_critique_cases import GIVEN
from ticket_pattern import REASONS, TICKET, TIGHT, Policy, triage

from guardgraph import ConfigurationError, InputError, NotRecorded, RagContext, replay
from guardgraph.grammar import Budget, Context
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.running.langgraph import CHECKPOINTER, NODE_FINISHED, RUNTIME, STREAM
from guardgraph.guards.stop import LONGEST_QUESTION

FORGED = {"stop_reason": "success", "status": "ok", "outcome": "routed", "label": "bug", "trace": [{"step": 1}]} | {
    **{"log": [{"node": "x", "elapsed_ms": -1e9}], "accepted_label": "bug", "accepted_duty": "me"},
    **{"route": "routed", "verdict": {}, "refusal": {}, "run": "mine"},
}
SENT = [
    *((key, value) for key in (CHECKPOINTER, NODE_FINISHED, RUNTIME, STREAM) for value in ("x", {"a": 1})),
    *(("checkpoint_id", ["y"]), ("checkpoint_id", 7), ("checkpoint_map", "x"), ("checkpoint_map", ["y"])),
]
LONG = "word " * (LONGEST_QUESTION // 5 + 1)
HUGE = "x" * 10_000_000


@pytest.mark.paired
@pytest.mark.parametrize("given", ["x", 7, ["x"], (), {"x"}, object(), b"{}", TICKET.items()], ids=range(8))
@pytest.mark.parametrize("mode", MODES)
def test_input_that_is_no_dictionary_is_a_clear_error(given, mode):
    """What LangGraph could not start a run from, or go on with, is an InputError that names the fields."""
    with pytest.raises(InputError, match=r"^input: a dictionary with 'ticket' is required; given: \w+$"):
        run(triage(), given, mode)
    for graph in (triage(), triage(checkpointer=InMemorySaver())):
        with pytest.raises(InputError, match=r"^input: None resumes a run, but there is none to resume; give 'ticket'"):
            run(graph, None, mode, config=THREAD)


@pytest.mark.paired
@pytest.mark.parametrize(
    "command",
    [
        *(Command(goto="routed"), Command(update={"accepted_label": "bug"}), Command(update={})),
        *(Command(resume="x", goto="routed"), Command(resume="x", update={"accepted_label": "bug"})),
    ],
    ids=repr,
)
@pytest.mark.parametrize("mode", MODES)
def test_a_command_from_outside_only_resumes(command, mode):
    """A caller can neither choose a node nor write a channel, on a running thread as little as on a fresh one."""
    graph = triage(checkpointer=InMemorySaver())
    graph.invoke(TICKET, THREAD, interrupt_before=["label_guard"])
    with pytest.raises(InputError, match=r"^input: a Command may resume a run, but neither write channels nor "):
        run(graph, command, mode, config=THREAD)
    assert graph.invoke(None, THREAD)["label"] == "bug"


UPDATE = StateUpdate({"accepted_label": "bug", "accepted_duty": "me", "route": "routed"}, "duty_guard")
UPDATES = {
    "update_state": lambda graph, config: graph.update_state(config, *UPDATE),
    "aupdate_state": lambda graph, config: asyncio.run(graph.aupdate_state(config, *UPDATE)),
    "bulk_update_state": lambda graph, config: graph.bulk_update_state(config, [[UPDATE]]),
    "abulk_update_state": lambda graph, config: asyncio.run(graph.abulk_update_state(config, [[UPDATE]])),
}


@pytest.mark.paired
@pytest.mark.parametrize("name", UPDATES)
def test_only_nodes_write_the_state(name):
    """Nobody writes an accepted value into a thread, fresh, interrupted or ended; LangGraph's server answers 400."""
    graph = triage(checkpointer=InMemorySaver())
    goes_on = [lambda: None, lambda: graph.invoke(TICKET, THREAD, interrupt_before=["label_guard"])]
    for go_on in [*goes_on, lambda: graph.invoke(None, THREAD)]:
        came = go_on()
        for each in (graph, triage()):
            with pytest.raises(InputError, match=r"^state: only the nodes of a guarded graph write it; ") as refused:
                UPDATES[name](each, THREAD)
            assert isinstance(refused.value, InvalidUpdateError)
    assert came["on_duty"] == "Ada (bug)"


@pytest.mark.parametrize("value", [10**30, "\ud800", {1: 2}, {"x"}, object()])
def test_a_run_is_resumed_with_plain_json(value):
    """A resume value that no checkpoint can hold is an InputError, not a TypeError out of LangGraph."""
    graph = triage(checkpointer=InMemorySaver())
    graph.invoke(TICKET, THREAD, interrupt_before=["label"])
    with pytest.raises(InputError, match=r"^input: a run is resumed with plain JSON; given: a"):
        graph.invoke(Command(resume=value), THREAD)
    for command in (Command(), Command(resume=None), Command(resume={})):
        with pytest.raises(InputError, match=r"^input: a Command resumes a run with an answer, .*; None alone resumes"):
            graph.invoke(command, THREAD)
    assert graph.invoke(Command(resume="x"), THREAD)["label"] == "bug"


@pytest.mark.paired
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (10**1000, "a whole number of more than 64 bits"),
        ({"a": ["\udfff", "b\x00"]}, "a text with lone surrogates or U+0000"),
        (object(), "a object"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_value_that_no_state_can_hold_is_an_invalid_request(given, shown, mode):
    """With and without a checkpointer, such input ends as invalid_request with nothing run."""
    for checkpointer in (None, InMemorySaver()):
        graph = triage(checkpointer=checkpointer)
        result = check_result(REASONS, run(graph, {"ticket": given}, mode, config=THREAD))
        assert result["stop_reason"] == "invalid_request:ticket"
        assert result["details"] == {"field": "ticket", "given": shown, "allowed": "plain JSON"}
        assert result["path"] == ["request_guard", "stop_invalid_request"]


@pytest.mark.parametrize("mode", MODES)
def test_a_caller_cannot_write_what_nodes_write(mode):
    graph = triage(lambda view: {"label": "?"})
    forged = run(graph, {**TICKET, **FORGED}, mode)
    assert masked(forged) == masked(run(graph, TICKET, mode))
    assert forged["stop_reason"] == "invalid_label"


def test_a_key_that_is_no_field_is_named_in_the_log(caplog):
    """One that may be misspelt is logged once, with the fields that there are; the run is what it is without it."""
    graph = triage(lambda view: {"label": "?"})
    for _ in range(2):
        assert graph.invoke({**TICKET, "tiket": "a secret"})["stop_reason"] == "invalid_label"
    [entry] = [item.getMessage() for item in caplog.records if "no such field" in item.getMessage()]
    assert "'tiket'" in entry
    assert all(name in entry for name in TICKET)
    assert "a secret" not in entry


BILLING = Context[Policy, Budget](policy=Policy(labels=("billing",)))
CONTEXTS = [
    ("x", r"^context: a dictionary or a Context\[Policy, Budget\]; given: str$"),
    (RagContext(), r"given: Context\[RagPolicy, RagBudget\]$"),
    ({"polcy": {}}, r"^context\.polcy: no such setting; given: dict$"),
    ({"policy": {"label": []}}, r"^context\.policy\.label: no such setting; given: list$"),
    ({"budget": {"max_seconds": "3"}}, r"^context\.budget\.max_seconds: Input should be a valid number; given: '3'$"),
    ({"budget": {"seconds": 1, "steps": 2}}, r"^context\.budget\.seconds: .+\ncontext\.budget\.steps: no such "),
    ({1: 2}, r"^context: a dictionary whose keys are strings$"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("context", "message"), CONTEXTS, ids=range(len(CONTEXTS)))
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_context_is_an_error_before_the_run(context, message, mode):
    called = []
    graph = triage(called.append)
    with pytest.raises(ConfigurationError, match=message):
        run(graph, TICKET, mode, context=context)
    assert called == []


@pytest.mark.paired
@pytest.mark.parametrize("context", [TIGHT, BILLING, MappingProxyType(TIGHT)])
@pytest.mark.parametrize("mode", MODES)
def test_a_context_tightens_the_run_and_only_that_run(context, mode):
    graph = triage()
    assert run(graph, TICKET, mode, context=context)["stop_reason"] == "invalid_label"
    assert run(graph, TICKET, mode)["stop_reason"] == "success"
    assert run(graph, TICKET, mode, context={})["stop_reason"] == "success"


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize(("key", "value"), SENT)
def test_what_langgraph_says_itself_cannot_be_sent(key, value, mode):
    """A client that names LangGraph's own keys gets one clear error, before anything runs."""
    for saver in (None, InMemorySaver()):
        config = {"configurable": {"thread_id": "1", key: value}}
        with pytest.raises(ConfigurationError, match=f"config.configurable.{key}: "):
            run(triage(checkpointer=saver), TICKET, mode, config=config)


@pytest.mark.parametrize("part", ["configurable", "metadata", "tags"])
def test_a_configuration_of_very_many_keys_is_refused_by_their_number(part):
    """LangGraph copies them for every node: a million and a half took a minute."""
    many = dict.fromkeys(map(str, range(100_000)), 1)
    began = time.process_time()
    with pytest.raises(ConfigurationError, match=f"^config.{part}: at most 1000 are allowed; given: 10000[01]$"):
        triage().invoke(TICKET, {part: [*many] if part == "tags" else many})
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("mode", MODES)
def test_a_configuration_of_a_wrong_type_is_named(mode):
    """The error names the part, what was given and what is required; LangGraph would raise an AttributeError."""
    for config, said in (
        ("thread 1", "config: a dictionary is required; given: str"),
        ({"metadata": ["x"]}, "config.metadata: a dictionary is required; given: list"),
        ({"tags": "nightly"}, "config.tags: a list is required; given: str"),
    ):
        with pytest.raises(ConfigurationError, match=f"^{said}$"):
            run(triage(), TICKET, mode, config=config)


def incident(**context):
    return {**GIVEN, "incident_context": {**GIVEN["incident_context"], **context}}


MANY = [f"h{at}.example.com" for at in range(1001)]
BEYOND = {
    "question": ("rag", {"question": LONG}),
    "request.question": ("research", asked(LONG)),
    "policy_hints.allowed_domains_policy": ("research", asked(allowed_domains_policy=MANY)),
    "request ": ("research", asked(x=json.loads('{"a":' * 60 + "1" + "}" * 60))),
    "incident_context": ("self_critique", incident(notes=HUGE)),
    "incident_context   ": ("self_critique", incident(policy_hints={str(at): at for at in range(10**5)})),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("field", BEYOND)
def test_what_is_too_large_or_too_deep_is_refused_by_name(field, mode):
    pattern, given = BEYOND[field]
    kept = Kept()
    result = run(PATTERNS[pattern].create_agent(recorder=kept), given, mode)
    assert result["stop_reason"] == f"invalid_request:{field.strip()}"
    assert len(json.dumps(result)) < 2000
    assert len(kept.texts[0]) < (len(json.dumps(given)) + 20_000 if len(str(given)) < 10**6 else 20_000)


@pytest.mark.parametrize("mode", BOTH)
def test_a_budget_bounds_what_a_run_is_given(mode):
    """`max_input_bytes` is for each field; a context tightens it, and a field of just this size is let in."""
    size = len(json.dumps(TICKET["ticket"]))
    made = triage(budget=Budget(max_input_bytes=size), recorder=(kept := Kept()))
    result = run(made, TICKET, mode)
    assert (result["stop_reason"], replay(triage(), kept.only)) == ("success", result)
    with pytest.raises(InputError, match=r"^recording\.nameless: places in the input with the name of a number"):
        replay(triage(), {**kept.only, "nameless": [["x"]]})
    with pytest.raises(InputError, match=f"^input: a run is resumed with at most {size} bytes of JSON"):
        run(made, Command(resume=TICKET["ticket"] + "!"), mode)
    tight = {"budget": {"max_input_bytes": size - 1}}
    for budget, context in ((Budget(), tight), (Budget(max_input_bytes=size - 1), None)):
        result = run(triage(budget=budget, recorder=(kept := Kept())), TICKET, mode, context=context)
        assert result["stop_reason"] == "invalid_request:ticket"
    assert result["details"]["given"] == f"more than {size - 1} bytes (max_input_bytes)"
    with pytest.raises(NotRecorded, match=f"ticket was refused and not kept, and max_input_bytes was {size - 1}"):
        replay(triage(), kept.only)

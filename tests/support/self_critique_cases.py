"""What the tests of the Self-critique agent share: the demo's input, a draft, critiques, scripted agents."""

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from runs import THREAD, check_result

from guardgraph import SelfCritiqueBudget, SelfCritiquePolicy, create_self_critique_agent
from guardgraph.state.self_critique import SELF_CRITIQUE_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool
from guardgraph.tools.demo import load_self_critique_demo

GIVEN = load_self_critique_demo()
CONTEXT = GIVEN["incident_context"]
DRAFT = (
    "We are looking into a P1 payment incident in the US. About 27% of checkouts are affected. "
    "We estimate recovery in 45 minutes. Next, we will post on the status page every 15 minutes."
)
NOTE = "Timing may change"
REVISED = f"{DRAFT} {NOTE}."
THANKS = [f"{DRAFT} {thanks}" for thanks in ("Thank you.", "Thanks.", "Many thanks.")]
"""Revisions that lack the change that REVISE requires, the last one different from the first two."""

APPROVE = {"decision": "approve", "severity": "low", "risks": [], "required_changes": [], "reason": ""}
UNSURE = {"type": "missing_uncertainty", "note": " The estimate sounds certain. "}
REVISE = {"decision": "revise", "severity": "Medium", "risks": [UNSURE], "required_changes": [f'ADD "{NOTE}"']}
REVISE |= {"reason": "one small change"}
PROMISE = {"type": "legal_risk", "note": "It promises a date."}
ESCALATE = {"decision": "escalate", "severity": "high", "risks": [PROMISE], "required_changes": []}
ESCALATE |= {"reason": "Legal has to read this. " * 10}


def revise(*changes):
    return {**REVISE, "required_changes": list(changes)}


def given(**hints):
    request = load_self_critique_demo()
    request["incident_context"]["policy_hints"].update(hints)
    return request


def agent(draft=DRAFT, critique=APPROVE, revised=(REVISED,), *, shorter=DRAFT, policy=None, budget=None, **more):
    """Return an agent whose proposers are functions that return these values; `revised` one a call."""
    said = {"drafter": [{"draft": draft}], "shortener": [{"draft": shorter}], "critic": [critique]}
    said["reviser"] = [{"revised_answer": text} for text in revised]
    proposers = {name: scripted_tool(*script, loop=True) for name, script in said.items()}
    policy = None if policy is None else SelfCritiquePolicy(**policy)
    budget = None if budget is None else SelfCritiqueBudget(**budget)
    return create_self_critique_agent(**{**proposers, "policy": policy, "budget": budget, **more})


def failing(view):
    raise AssertionError("a defect")


def model_run(*script, world=None, **budget):
    graph = create_self_critique_agent(ScriptedChatModel(*script), world=world)
    return checked(graph.invoke(GIVEN, context={"budget": {"max_attempts": 1, **budget}}))


def checked(result):
    return check_result(SELF_CRITIQUE_REASONS, result)


def result_of(*args, input=GIVEN, context=None, **settings):
    return checked(agent(*args, **settings).invoke(input, context=context))


WAIT = {"escalation": "wait"}
"""The policy of an agent whose escalations wait for a person."""


def escalated(*, policy=None, draft=DRAFT, critique=ESCALATE, **more):
    graph = agent(draft, critique, **{"policy": {**WAIT, **(policy or {})}, "checkpointer": InMemorySaver(), **more})
    return graph, graph.invoke(GIVEN, THREAD)


def decided(shown, decision, **more):
    return Command(resume={"hash": shown["waiting_for"]["hash"], "decision": decision, **more})


def resumed(before, *args, context=None, **settings):
    """Run an agent until it stands before a node, resume it under a context, and return the result, checked."""
    graph = agent(*args, checkpointer=InMemorySaver(), **settings)
    graph.invoke(GIVEN, THREAD, interrupt_before=[before])
    assert graph.get_state(THREAD).next == (before,)
    return checked(graph.invoke(None, THREAD, context=context))

"""The tool agent's nodes, in the order of its diagram: request, plan, action, calls, approval, results, answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from guardgraph.guards.answers import check_text_is_said
from guardgraph.guards.proposals import found, proposed_object, read_reviewer, reviewed
from guardgraph.guards.stop import Stop, evidence, read_request_text
from guardgraph.guards.support import Claim
from guardgraph.guards.tools import actions, claims, values
from guardgraph.guards.tools import answer as answer_guards
from guardgraph.guards.tools import licence as licence_guards
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps, ask_for_edit, declares, make_asking_node
from guardgraph.nodes.own_guards import GuardedAnswer
from guardgraph.plain.json import JsonObject, JsonValue, format_json_text, parse_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.review import hash_licence, name_reviewer
from guardgraph.state.tools import (
    AcceptedAnswer,
    AcceptedCall,
    Delegation,
    Given,
    Licence,
    PlannedCall,
    ToolBudget,
    ToolCall,
    ToolCard,
    ToolPolicy,
    ToolState,
    ToolStep,
)
from guardgraph.world.call import Call, ask_person
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer
from guardgraph.world.reviews import EDIT, EDITED

ToolRun = Run[ToolPolicy, ToolBudget]

GIVEN = ("accepted_task", "accepted_history")  # channels with what whoever runs the agent gave
PLANNER_READS = (*GIVEN, "accepted_step", "accepted_calls")  # channels from which a planner is shown something


@declares(writes=GIVEN)
def run_task_guard_node(state: JsonObject, run: ToolRun) -> Pass:
    """Parse the input."""
    task = read_request_text("task", state.get("task"))
    return Pass({"accepted_task": task, "accepted_history": actions.parse_task_history(state.get("given_history"))})


def read_given(state: ToolState, run: ToolRun) -> Given:
    """Return what whoever runs the agent gave."""
    given = Given(task=state["accepted_task"], history=state["accepted_history"])
    if run.caller is not None:
        given["caller"] = run.caller.model_dump(mode="json")
    if delegated := state.get("accepted_delegations"):
        given["delegated"] = delegated
    return given


def make_plan_node(planner: Proposer, cards: Mapping[str, ToolCard]) -> Body:
    """Ask for the next step: calls, or the answer."""
    show_step = partial(make_planner_view, cards=cards)
    return make_asking_node(planner, show_step, phase="plan", reads=PLANNER_READS, writes="proposed_action")


def make_planner_view(state: ToolState, run: ToolRun, cards: Mapping[str, ToolCard]) -> JsonObject:
    """Return what a planner is shown."""
    view: JsonObject = {"task": state["accepted_task"]}
    if state["accepted_history"]:
        view["history"] = state["accepted_history"]
    view["tools"] = licence_guards.list_shown_tools(cards, run.policy)
    made = state.get("accepted_calls") or []
    view["results"] = answer_guards.show_results(made, run.policy, run.budget.max_result_chars)
    if plan := (state.get("accepted_step") or {}).get("plan"):
        view["plan"] = plan
    return view


def make_action_guard_node(cards: Mapping[str, ToolCard]) -> Body:
    """Judge what is proposed for a step, and after each part of it what is left."""

    @declares(
        phase="plan",
        reads=[*GIVEN, "proposed_action", "accepted_step", "accepted_calls", "accepted_delegations"],
        writes=["accepted_step", "drafted_answer"],
        stops=["llm", "invalid_action", "licence"],
    )
    def run_action_guard_node(state: ToolState, run: ToolRun) -> Pass:
        if (packed := state.get("proposed_action")) is None:  # a part of the last step was done
            left = state["accepted_step"]["later"]
            with evidence(raw_action={"calls": left}):
                licences = judge_calls(left, state, run)
            return _let_next_calls_through(licences, state, run, state["accepted_step"]["plan"])
        given = proposed_object(packed)
        with evidence(raw_action=given.raw):
            proposed = actions.parse_step(given.value)
            licences = judge_calls(proposed.calls, state, run)
        trace = {"phase": "plan", "calls": len(licences)}
        if proposed.answer is not None:
            step = Step(trace, {"action": "propose_answer", **given.about})
            return Pass({"drafted_answer": proposed.answer}, "answer_guard", (step,))
        shown = [{"tool": licence.tool, "args": licence.args} for licence in licences]
        step = Step(trace, {"action": "propose_calls", "calls": shown, "plan": proposed.plan, **given.about})
        return _let_next_calls_through(licences, state, run, proposed.plan, step)

    def judge_calls(raw: Sequence[JsonValue], state: ToolState, run: ToolRun) -> list[Licence]:
        made, given = state.get("accepted_calls") or [], read_given(state, run)
        return licence_guards.judge_calls(
            raw, cards=cards, policy=run.policy, budget=run.budget, given=given, made=made
        )

    def _let_next_calls_through(
        licences: Sequence[Licence], state: ToolState, run: ToolRun, plan: str, *steps: Step
    ) -> Pass:
        made, given = state.get("accepted_calls") or [], read_given(state, run)
        offer = licence_guards.offer_delegation(licences, cards=cards, policy=run.policy, given=given, made=made)
        effects = [(licence.effect, licence.needs_approval) for licence in licences]
        count, way = actions.cut_step(effects, max_asked=run.budget.max_asked_calls if offer is None else 1)
        now = [
            PlannedCall(
                tool=licence.tool,
                args=licence.args,
                effect=licence.effect,
                supported_by=dict(licence.supported_by),
                unsupported=[*licence.unsupported],
            )
            for licence in licences[:count]
        ]
        later = [ToolCall(tool=licence.tool, args=licence.args) for licence in licences[count:]]
        accepted = ToolStep(now=now, later=later, plan=plan)
        if offer is not None:
            accepted["offer"] = offer
        return Pass({"accepted_step": accepted}, way, steps)

    return run_action_guard_node


def make_call_node(tools: Sequence[str], effects: Sequence[str] = ()) -> Body:
    """Make the calls that were let through: reads at once, writes one after another."""

    @declares(phase="act", reads=["accepted_step"], writes=["found_results"], calls=tools, effects=effects or None)
    def run_call_node(state: ToolState, run: ToolRun) -> Steps:
        outcomes = yield [Call("tool", call["tool"], call["args"]) for call in state["accepted_step"]["now"]]
        brought = {"began": run.spent_seconds, "outcomes": [outcome.packed() for outcome in outcomes]}
        return {"found_results": format_json_text(brought)}

    return run_call_node


def make_approve_node(cards: Mapping[str, ToolCard]) -> Body:
    """Show a person the calls, each value that nothing supports, where it was seen, and what else it might be."""

    @declares(
        phase="approve",
        reads=[*GIVEN, "accepted_step", "accepted_calls", "accepted_delegations"],
        writes=["raw_review"],
    )
    def run_approve_node(state: ToolState, run: ToolRun) -> Steps:
        def check_edit(edited: JsonValue) -> None:
            made, given = state.get("accepted_calls") or [], read_given(state, run)
            asked = {"tool": call["tool"], "args": edited}
            licence = licence_guards.judge_call(
                asked, cards=cards, policy=run.policy, budget=run.budget, given=given, made=made
            )
            if licence.hash != hash_licence(call["tool"], edited):  # true is no 1
                raise Stop(f"argument_denied:{call['tool']}", details={"allowed": licence.args, "given": edited})

        call, *others = state["accepted_step"]["now"]
        shown: JsonObject = {"task": state["accepted_task"]}
        if not others:
            shown |= {"call": {"tool": call["tool"], "args": call["args"]}, "effect": call["effect"]}
            shown |= {"unsupported": call["unsupported"], "supported_by": call["supported_by"]}
        else:
            shown["calls"] = [{**each} for each in (call, *others)]
        if (offer := state["accepted_step"].get("offer")) is not None:
            shown["delegation"] = offer
        # of several calls a person edits none
        outcome = yield ask_person(shown) if others else ask_for_edit(shown, EDITED_ARGUMENTS, check_edit)
        return {"raw_review": outcome.packed()}

    return run_approve_node


EDITED_ARGUMENTS = ("call", "args")  # the way to the arguments in what a person is shown of a call


@declares(
    phase="approve",
    reads=["accepted_step", "raw_review", "accepted_delegations"],
    writes=["accepted_review", "accepted_delegations", "accepted_step"],
    stops=["review"],
)
def run_review_guard_node(state: ToolState, run: ToolRun) -> Pass:
    """Let the calls through that a person approved, or made of one, and keep what they let a document license."""
    answer = reviewed(state["raw_review"])
    who = read_reviewer(state["raw_review"])
    shown = [
        {"tool": call["tool"], "args": call["args"], "unsupported": call["unsupported"]}
        for call in state["accepted_step"]["now"]
    ]
    approved_by = name_reviewer(who)
    if answer["decision"] == EDIT:
        [call] = state["accepted_step"]["now"]
        return _let_edited_call_through(call, answer[EDITED], approved_by, state)
    approved = (
        {"action": "approve_call", **shown[0]} if len(shown) == 1 else {"action": "approve_calls", "calls": shown}
    )
    history: JsonObject = {**approved, "approved_by": approved_by}
    writes: JsonObject = {"accepted_review": {"approved_by": approved_by}}
    if (offer := state["accepted_step"].get("offer")) is not None:
        delegation = Delegation(document=offer["document"], calls=offer["calls"])
        writes["accepted_delegations"] = [*(state.get("accepted_delegations") or []), delegation]
        history["delegation"] = offer
    step = Step({"phase": "approve", "unsupported": sum(len(call["unsupported"]) for call in shown)}, history)
    return Pass(writes, steps=(step,))


def _let_edited_call_through(call: PlannedCall, edited: JsonObject, edited_by: str, state: ToolState) -> Pass:
    supported = dict.fromkeys(edited, EDITOR)
    made = PlannedCall(tool=call["tool"], args=edited, effect=call["effect"], supported_by=supported, unsupported=[])
    step = ToolStep(now=[made], later=state["accepted_step"]["later"], plan=state["accepted_step"]["plan"])
    told = {"action": "edit_call", "tool": call["tool"], "args": edited, "instead_of": call["args"]}
    writes = {"accepted_review": {"approved_by": edited_by}, "accepted_step": step}
    return Pass(writes, steps=(Step({"phase": "approve", "unsupported": 0}, {**told, "approved_by": edited_by}),))


EDITOR = "the person who edited the call"  # what supports the arguments of an edited call


@declares(
    phase="act",
    reads=["accepted_step", "accepted_calls", "accepted_review", "found_results"],
    writes=["accepted_calls", "accepted_review"],
    stops=["tool"],
)
def run_result_guard_node(state: ToolState, run: ToolRun) -> Pass:
    """Read what the tools brought; what is left of the step is judged once more in its light."""
    brought: Any = parse_json(state["found_results"])
    calls: list[AcceptedCall] = [*(state.get("accepted_calls") or [])]
    before = len(calls)
    approved = state.get("accepted_review") or {}
    seconds = round(max(run.spent_seconds - brought["began"], 0.0), 3)
    for call, packed in zip(state["accepted_step"]["now"], brought["outcomes"], strict=True):
        value, failed = values.read_outcome(Outcome.unpacked(packed))
        made = AcceptedCall(
            id=f"r{len(calls) + 1}",
            tool=call["tool"],
            args=call["args"],
            effect=call["effect"],
            value=value if failed or value is not None else found(packed, call["tool"]),
            supported_by=call["supported_by"],
            seconds=seconds,
        )
        if failed:
            made["failed"] = True
        calls.append({**made, **approved})  # type: ignore[typeddict-item]
    shown = [{key: value for key, value in call.items() if key != "value"} for call in calls[before:]]
    step = Step({"phase": "act", "calls": len(shown)}, {"action": "call_tools", "calls": shown})
    writes = {"accepted_calls": calls, "accepted_review": {}}
    return Pass(writes, "action_guard" if state["accepted_step"]["later"] else "plan", (step,))


@declares(phase="answer", reads=["accepted_calls"])
def run_limit_guard_node(state: ToolState, run: ToolRun) -> Pass:
    """Have a last answer written from what the tools brought; where that is nothing, the limit ends the run."""
    if all(call.get("failed") for call in state.get("accepted_calls") or []):
        raise Stop(str(run.ended_by))
    return Pass()


def make_last_answer_node(planner: Proposer, cards: Mapping[str, ToolCard]) -> Body:
    """Ask for the last answer of a run that a limit ends: no tool is shown, and none can be called."""

    def show_no_tool(state: ToolState, run: ToolRun) -> JsonObject:
        return {**make_planner_view(state, run, cards), "tools": [], "last": run.ended_by}

    return make_asking_node(planner, show_no_tool, phase="answer", reads=PLANNER_READS, writes="proposed_action")


@declares(phase="answer", reads=["proposed_action"], writes=["drafted_answer"], stops=["llm", "invalid_action"])
def run_last_answer_guard_node(state: ToolState, run: ToolRun) -> Pass:
    """Let an answer through, and no call."""
    given = proposed_object(state["proposed_action"])
    with evidence(raw_action=given.raw):
        if (answer := actions.parse_step(given.value).answer) is None:
            raise Stop("max_tool_calls", details={"allowed": "an answer; no call can be made any more"})
    step = Step({"phase": "answer", "ended_by": run.ended_by}, {"action": "propose_answer", **given.about})
    return Pass({"drafted_answer": answer}, steps=(step,))


def make_answer_guard_node(cards: Mapping[str, ToolCard]) -> Body:
    """Hold the answer against what was given, and what was called and found."""

    @declares(
        phase="answer",
        reads=[*GIVEN, "drafted_answer", "accepted_calls"],
        writes=["accepted_answer"],
        stops=["invalid_answer"],
    )
    def run_answer_guard_node(state: ToolState, run: ToolRun) -> Pass:
        drafted, made, given = state["drafted_answer"], state.get("accepted_calls") or [], read_given(state, run)
        policy = run.policy
        answer = answer_guards.parse_answer(drafted["answer"], max_chars=run.budget.max_answer_chars)
        told, results = list_prompt_texts(), answer_guards.list_result_texts(made)
        check_text_is_said(answer, "invalid_answer:empty", echoes=[given["task"]], told=told, results=results)
        settled, untrusted = answer_guards.settle_answer_links(
            answer, given=given, made=made, policy=policy, cards=cards
        )
        claims.check_claimed_actions(answer, made=made, cards=cards, policy=policy)
        answer_guards.check_answer_values(
            answer, given=given, made=made, policy=policy, workings=drafted.get("workings", [])
        )
        declined = drafted["declined"] or answer_guards.is_declining(answer)
        outcome: Any = "grounded_partial" if run.ended_by else "declined" if declined else "answered"
        accepted = AcceptedAnswer(answer=settled, declined=declined, untrusted_links=untrusted, outcome=outcome)
        trace = {"phase": "answer", "chars": len(settled), "calls": len(made), "declined": declined}
        return Pass({"accepted_answer": accepted}, steps=(Step(trace, {"action": "answer", "answer": settled}),))

    return run_answer_guard_node


def make_guarded_answer(cards: Mapping[str, ToolCard]) -> GuardedAnswer:
    """Return what an application adds guards and a verifier to."""

    def show_answer(state: ToolState, run: ToolRun) -> tuple[JsonObject, JsonObject]:
        return {**state["accepted_answer"]}, make_planner_view(state, run, cards)

    def list_claims(state: ToolState, run: ToolRun) -> list[Claim]:
        made, given = state.get("accepted_calls") or [], read_given(state, run)
        shown = answer_guards.show_results(made, run.policy, run.budget.max_result_chars)
        return answer_guards.list_answer_claims(state["accepted_answer"]["answer"], given=given, results=shown)

    return GuardedAnswer(
        phase="answer",
        proposer="plan",
        reads=(*PLANNER_READS, "accepted_answer"),
        show=show_answer,
        ends=("answered",),
        list_claims=list_claims,
    )


@declares(
    phase="answer",
    reads=["accepted_answer", "accepted_calls"],
    writes=["outcome", "answer", "tool_calls", "untrusted_links", "ended_by"],
)
def run_answered_node(state: ToolState, run: ToolRun) -> dict[str, Any]:
    """End with the answer, and every call that was made."""
    accepted = state["accepted_answer"]
    calls = state.get("accepted_calls") or []
    shown = [{key: value for key, value in call.items() if key != "value"} for call in calls]
    more: JsonObject = {"untrusted_links": accepted["untrusted_links"], "ended_by": run.ended_by}
    told = {key: value for key, value in more.items() if value}
    return {"outcome": accepted["outcome"], "answer": accepted["answer"], "tool_calls": shown, **told}

"""The Research agent's first nodes: the request and the plan, whose query is the first one."""

from __future__ import annotations

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.research.trust import choose_reference_day
from guardgraph.guards.stop import evidence
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.scope import ResearchRun, narrow_domain_lists
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import ResearchState
from guardgraph.world.proposers import Proposer


@declares(writes=["task"])
def run_request_guard_node(state: JsonObject, run: ResearchRun) -> Pass:
    """Parse the input; its hints must be readable before anything is run."""
    task = guards.parse_research_request(state.get("goal"), state.get("request"))
    narrow_domain_lists(task, run)
    if run.policy.trust:
        task["as_of"] = choose_reference_day(task.get("report_date"), run.started_at)
    return Pass({"task": task})


def make_plan_node(planner: Proposer) -> Body:
    """Ask for a research plan."""

    @declares(phase="plan", reads=["task"], writes=["proposed_plan"], calls=[planner])
    def run_plan_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        outcome = yield planner.call({"goal": task["goal"], "request": request})
        return {"proposed_plan": outcome.packed()}

    return run_plan_node


@declares(phase="plan", reads=["proposed_plan"], writes=["accepted_plan"], stops=["llm", "invalid_plan"])
def run_plan_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the plan against the five steps of every run."""
    given = proposed_object(state["proposed_plan"])
    with evidence(raw_plan=given.raw):
        raw = guards.read_plan_steps(given.value)
        steps = guards.parse_research_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


@declares(phase="search", reads=["accepted_plan"], writes=["accepted_query"], stops=["invalid_search"])
def run_query_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": guards.read_plan_query(state["accepted_plan"])})

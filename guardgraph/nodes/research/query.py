"""The query: somebody proposes a plan of the five steps, and what to search for is taken out of it."""

from __future__ import annotations

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.stop import evidence
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.request import ResearchRun
from guardgraph.state.research import ResearchState
from guardgraph.world.proposers import Proposer

__all__ = ["check_plan", "check_query", "plan"]


def plan(planner: Proposer) -> Body:
    """Ask for a research plan."""

    @declares(phase="plan", reads=["task"], writes=["proposed_plan"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        outcome = yield planner.call({"goal": task["goal"], "request": request})
        return {"proposed_plan": outcome.packed()}

    return body


@declares(phase="plan", reads=["proposed_plan"], writes=["accepted_plan"], stops=["llm", "invalid_plan"])
def check_plan(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the plan against the five steps of every run."""
    given = proposed_object(state["proposed_plan"])
    with evidence(raw_plan=given.raw):
        raw = given.value.get("steps") if isinstance(given.value, dict) else None
        steps = guards.parse_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


@declares(phase="search", reads=["accepted_plan"], writes=["accepted_query"], stops=["invalid_search"])
def check_query(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": guards.plan_query(state["accepted_plan"])})
